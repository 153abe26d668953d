// What is asked: a corpus of bad inputs, every suffix with every kind of number, all bounds, and chance.

package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var suffixes = []string{
	"", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E3", "e-3", "e+5", "e0",
}

// inputs lists everything that is asked, always in the same order.
func inputs() []string {
	all := append([]string{}, corpus...)
	mantissas := []string{
		"0", "1", "2", "5", "7", "10", "100", "123", "999", "1000", "1023", "1024", "1025", "1500", "0.1", "0.5", "1.5", "2.25",
		"0.001", "1.0001", "1023.5", "1024.5", "0.9999999999", "12345.678901234", ".5", "5.", "007", "1.500", "0.000000001",
		"0.0000000001",
	}
	for _, suffix := range suffixes {
		for _, mantissa := range mantissas {
			all = append(all, mantissa+suffix)
		}
		for _, mantissa := range []string{"-1", "-1.5", "-0.0001", "-1024", "+3", "-0", "+0.25", "-1500.25", ""} {
			all = append(all, mantissa+suffix)
		}
		for _, bound := range bounds {
			all = append(all, bound+suffix)
		}
	}
	for _, digits := range repeat("9", "1", "50") {
		for _, suffix := range []string{"", "n", "m", "Ki", "Ei", "e-20", "e-60"} {
			all = append(all, digits+suffix, "0."+digits+suffix, "7."+digits+suffix, "0."+strings.Repeat("0", len(digits))+"1"+suffix)
		}
	}
	for exponent := -40; exponent <= 40; exponent++ {
		all = append(all, fmt.Sprintf("1e%d", exponent), fmt.Sprintf("123456789E%d", exponent), fmt.Sprintf("-7.5e%d", exponent))
	}
	return append(all, random()...)
}

// Around the largest and the smallest of everything: int64, a thousandth of it, a nano.
var bounds = []string{
	"9223372036854775806", "9223372036854775807", "9223372036854775808", "-9223372036854775807", "-9223372036854775808",
	"-9223372036854775809", "9223372036854775", "9223372036854776", "9223372036854775.807", "9223372036854775.808",
	"9223372036854775806.999999999", "9223372036854775806.9999999991", "9223372036854775807.000000001", "9007199254740993",
	"9007199254740992", "9007199254740991", "9223372036854775807.0000000001", "8", "7.9999999999", "8191", "8192",
}

// The bad-input corpus, as far as Kubernetes answers at all.
var corpus = []string{
	"", "0", "-", "+", ".", "-.", "+.", "--5", "+-5", "-+5", "5-", "5+", "5-3", "5+3", "NaN", "nan", "inf", "Inf", "-inf", "0x10",
	"1_000", "1,5", "1K", "1KI", "1ki", "1MI", "1mi", "1mI", "5m5", "1.2.3", "..5", "5..", ".5.", " 5", "5 ", "5\n", "\t5", "5 Gi",
	"5\u0000", "\u00005", "5Mi\u0000", "\u0665", "5\u0665", "\uff15", "\ufeff5", "5\ufeff", "5\u200f", "\u202e5", "5\u00a0", "1 e3",
	"0.0001m", "1n", "0.1n", "1e-30", "1e-100000", "-5", "-1", "1e28", "1e100", "1e100000", "1e-20", "2000E", "10E", "9E", "10P",
	"9.3E", "1E", "1Ei", "7Ei", "8Ei", "16Ei", "9007199254740993", "23e18", "99999999999999999999999", "Mi", "m", "n", "k", "E", "e",
	"Ki", "Ti", "Pi", "Ei", "+Ki", "-Ki", "+Pi", "-Ei", ".Ki", ".Pi", "-.Ei", "e5", "E5", "e-5", "e-9", "e-10", ".e-9", ".e-10", "-e-10",
	"e4294967296", "e4294967286", "e-4294967306", "e2147483648", "0Pi", "-0Ei", "00Ei", "0.Pi", ".0Pi", "0e-10", "1e", "1e+", "1e-",
	"1E+", "1E-", "1ee5", "1e5e", "1e5m", "1m3", "1Ki3", "1i", "1in", "1iK", "KiKi", "1KiKi", "1kk", "1mm", "1Mm", "1e 5", "1e5 ",
	"1e1.5", "1e0x5", "1e_5", "1e++5", "1e+-5", "1e05", "1e+005", "1e-0005", "1e9223372036854775808", "1e-9223372036854775809",
	"1e99999999999999999999", "0e9223372036854775808", "1e4294967297", "1e-4294967297", "1e4294967296", "0e4294967297",
	"123e8589934592", "100m", "0.5", "1.1", "000", "0000.0000", "00001", "0001m", "+00.50", "1000000000000000000000e-12", "1.0",
	"1.000", "1.5000", "1000m", "1000000u", "1000000000n", "1024Mi", "1048576Ki", "1000Ki", "1536Mi", "0.5Gi", "0.0001Ki",
	"0.0009765625Ki", "0.00097656250000000001Ki", "1.1Ki", "1.0009765625Ki", "0.000000000931322574615478515625Gi",
	"0.0000000000000000008673617379884035472059622406959533691406251Ei", "128974848", "129e6", "129M", "128974848000m", "123Mi",
	"kg", "GB", "1GB", "1Gib", "1gi", "1g", "1t", "1e3Ki", "1Kie3", "½", "1/2", "1%", "$1", "0b1", "0o7", "1'000", "１", "Ⅷ", "١", "true",
	"null", "\"5\"", "{}", "5;", "5#", "5//", "5\\", "5é", "é",
}

// random mixes well and badly formed ones. The seed is fixed, so that every run prints the same.
func random() []string {
	rng := rand.New(rand.NewPCG(20261116, 37))
	alphabet := "0123456789eEinumkKMGTP.+- "
	var all []string
	for range 400 {
		digits := ""
		for range 1 + rng.IntN(22) {
			digits += string(rune('0' + rng.IntN(10)))
		}
		if rng.IntN(2) == 0 {
			point := rng.IntN(len(digits) + 1)
			digits = digits[:point] + "." + digits[point:]
		}
		sign := []string{"", "", "", "-", "+"}[rng.IntN(5)]
		suffix := suffixes[rng.IntN(len(suffixes))]
		if rng.IntN(4) == 0 {
			suffix = fmt.Sprintf("e%d", rng.IntN(60)-30)
		}
		all = append(all, sign+digits+suffix)
	}
	for range 300 {
		text := ""
		for range 1 + rng.IntN(5) {
			text += string(alphabet[rng.IntN(len(alphabet))])
		}
		all = append(all, text)
	}
	return all
}
