// Prints the golden vectors of quantities: one line of JSON for each input, with what Kubernetes makes of it.
//
// It refuses to print a vector that it cannot explain: where Kubernetes' answer is not the exact one, the reason
// must be one of those that common/src/model/quantity names.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

type vector struct {
	Input string `json:"input"`
	// What Kubernetes refuses it for: format, suffix or numeric.
	Error string `json:"error,omitempty"`
	// The exponent does not fit 32 bits, so that Kubernetes reads another number. Nothing else is recorded.
	Wraps bool `json:"wraps,omitempty"`

	Canonical string `json:"canonical,omitempty"`
	Sign      int    `json:"sign"`
	Value     int64  `json:"value"`
	Milli     int64  `json:"milli"`
	// The exact magnitude is above MaxInt64, or a thousandfold of it is.
	OverMax   bool `json:"over_max,omitempty"`
	MilliOver bool `json:"milli_over,omitempty"`
	// The values rounded away from zero, where Kubernetes' rounding of a negative fraction is another one.
	ValueExact *int64 `json:"value_exact,omitempty"`
	MilliExact *int64 `json:"milli_exact,omitempty"`
}

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	seen := map[string]bool{}
	for _, input := range inputs() {
		if seen[input] {
			continue
		}
		seen[input] = true
		if err := encoder.Encode(judge(input)); err != nil {
			panic(err)
		}
	}
}

func judge(input string) vector {
	line := vector{Input: input}
	quantity, err := resource.ParseQuantity(input)
	switch {
	case errors.Is(err, resource.ErrFormatWrong):
		line.Error = "format"
		return line
	case errors.Is(err, resource.ErrSuffix):
		line.Error = "suffix"
		return line
	case errors.Is(err, resource.ErrNumeric):
		line.Error = "numeric"
		return line
	case err != nil:
		panic(err)
	}
	exact, wraps := exactNano(input)
	if wraps {
		line.Wraps = true
		return line
	}
	number, suffix := quantity.CanonicalizeBytes(nil)
	line.Canonical = string(number) + string(suffix)
	line.Sign = quantity.Sign()
	line.Value, line.ValueExact, line.OverMax = compare(input, quantity.Value(), exact, 9)
	line.Milli, line.MilliExact, line.MilliOver = compare(input, quantity.MilliValue(), exact, 6)
	return line
}

// compare rounds the exact value to 10^digits nano and says how Kubernetes' answer relates to that.
func compare(input string, answer int64, exact *big.Int, digits int64) (int64, *int64, bool) {
	rounded := divideAway(exact, power(10, digits))
	if new(big.Int).Abs(rounded).Cmp(big.NewInt(1<<63-1)) > 0 {
		return answer, nil, true
	}
	right := rounded.Int64()
	if right == answer {
		return answer, nil, false
	}
	if exact.Sign() >= 0 {
		panic(fmt.Sprintf("%q: got %d, exact is %d", input, answer, right))
	}
	return answer, &right, false
}

var shape = regexp.MustCompile(`^([+-]?)([0-9]*)(?:\.([0-9]*))?([a-zA-Z]*)([+-]?[0-9]+)?$`)

var decimalSuffixes = map[string]int64{
	"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}

var binarySuffixes = map[string]int64{"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}

// exactNano is the value in nano, rounded away from zero, computed without Kubernetes.
func exactNano(input string) (nano *big.Int, wraps bool) {
	parts := shape.FindStringSubmatch(input)
	if parts == nil {
		panic("accepted, but not understood here: " + input)
	}
	sign, whole, fraction, suffix, exponent := parts[1], parts[2], parts[3], parts[4], parts[5]
	number, ok := new(big.Int).SetString("0"+whole+fraction, 10)
	if !ok {
		panic(input)
	}
	if sign == "-" {
		number.Neg(number)
	}
	tens, twos := int64(9-len(fraction)), int64(0)
	switch {
	case exponent != "":
		parsed, err := strconv.ParseInt(exponent, 10, 64)
		if err != nil {
			panic(err)
		}
		if parsed != int64(int32(parsed)) {
			return nil, true
		}
		if parsed > 200_000 || parsed < -200_000 {
			panic("would take for ever: " + input)
		}
		tens += parsed
	case binarySuffixes[suffix] != 0:
		twos = binarySuffixes[suffix]
	default:
		tens += decimalSuffixes[suffix]
	}
	number.Lsh(number, uint(twos))
	if tens >= 0 {
		return number.Mul(number, power(10, tens)), false
	}
	return divideAway(number, power(10, -tens)), false
}

func divideAway(number, by *big.Int) *big.Int {
	quotient, remainder := new(big.Int).QuoRem(number, by, new(big.Int))
	if remainder.Sign() != 0 {
		quotient.Add(quotient, big.NewInt(int64(number.Sign())))
	}
	return quotient
}

func power(base, exponent int64) *big.Int {
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
}

func repeat(parts ...string) []string {
	var all []string
	for _, part := range parts {
		for _, times := range []int{18, 19, 28, 29, 70} {
			all = append(all, strings.Repeat(part, times))
		}
	}
	return all
}
