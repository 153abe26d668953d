//! The output of templates. `tests/tests/citizen` compares it with kubectl's own.

use super::Template;
use serde_json::{Value, json};

fn document() -> Value {
    json!({
        "kind": "List",
        "items": [
            {"metadata": {"name": "n1", "labels": {"kubernetes.io/hostname": "h1"}}, "cpu": 4, "ready": true,
             "status": {"addresses": [{"type": "A", "address": "10.0.0.1"}, {"type": "B", "address": "x)y"}]}},
            {"metadata": {"name": "n2", "labels": {"zone": "<a&b>"}}, "cpu": 16, "ready": false,
             "status": {"addresses": []}, "note": null},
            {"metadata": {"name": "n3"}, "cpu": 8, "load": 8.5},
        ],
    })
}

#[track_caller]
fn prints(template: &str, expected: &str) {
    let text = Template::new(template).and_then(|template| template.text(&document()));
    assert_eq!(text.as_deref(), Ok(expected), "{template}");
}

#[track_caller]
fn fails(template: &str, expected: &str) {
    let outcome = Template::new(template).and_then(|template| template.text(&document()));
    let error = outcome.expect_err(template);
    assert!(error.contains(expected), "{template}: {error}");
}

#[test]
fn paths_lead_to_values() {
    prints("{.kind}", "List");
    prints("kind: {.kind}!", "kind: List!");
    prints("{.items[*].metadata.name}", "n1 n2 n3");
    prints("{$.items[0].metadata.name}{@.kind}", "n1List");
    prints("{.items[*]['metadata'].name}", "n1 n2 n3");
    prints("{.items[*]['metadata.name', 'cpu']}", "n1 n2 n3 4 16 8");
    prints(r"{.items[0].metadata.labels.kubernetes\.io/hostname}", "h1");
    prints(r"{.items[0].metadata.labels['kubernetes\.io/hostname']}", "h1");
    prints("{.missing.field}", "");
    prints("{.items[*].note}", "null");
    prints("{.items[1].metadata}", r#"{"labels":{"zone":"\u003ca\u0026b\u003e"},"name":"n2"}"#);
    prints("{.items[0].status.addresses[*].type}", "A B");
    prints("{..name}", "n1 n2 n3");
    prints("{.items[0]..type}", "A B");
    prints("{.items[0].metadata.labels.*}", "h1");
    prints("no braces", "no braces");
}

#[test]
fn slices_count_from_both_ends() {
    prints("{.items[0].cpu}", "4");
    prints("{.items[-1].cpu}", "8");
    prints("{.items[-2:].metadata.name}", "n2 n3");
    prints("{.items[0:2].metadata.name}", "n1 n2");
    prints("{.items[:2].metadata.name}", "n1 n2");
    prints("{.items[1:].metadata.name}", "n2 n3");
    prints("{.items[::2].metadata.name}", "n1 n3");
    prints("{.items[0,2].metadata.name}", "n1 n3");
    prints("{.items[1:1].metadata.name}", "");
    fails("{.items[5]}", "array index out of bounds: index 5, length 3");
    fails("{.items[-4]}", "out of bounds");
    fails("{.items[2:1]}", "starting index 2 is greater than ending index 1");
    fails("{.items[::0]}", "step must be > 0");
    fails("{.kind[0]}", "is not array or slice");
}

#[test]
fn filters_keep_what_fits() {
    prints("{.items[?(@.cpu==4)].metadata.name}", "n1");
    prints("{.items[?(@.metadata.name == \"n2\")].cpu}", "16");
    prints("{.items[?(@.metadata.name != 'n2')].metadata.name}", "n1 n3");
    prints("{.items[?(@.note)].metadata.name}", "n2");
    prints("{.items[?(@.ready==true)].metadata.name}", "n1");
    prints("{.items[?(@.load>8.25)].load}", "8.5");
    prints("{.items[0].status.addresses[?(@.address==\"x)y\")].type}", "B");
    prints("{.items[*].status.addresses[?(@.type=='A')].address}", "10.0.0.1");
    fails("{.items[?(@.cpu>\"a\")]}", "incompatible types");
    fails("{.items[?(@.load>1)]}", "incompatible types");
    fails("{.items[?(@.cpu===4)]}", "unrecognized filter operator");
    fails("{.kind[?(@.x)]}", "cannot be filtered");
    fails("{.items[?(@.ready<true)]}", "invalid type for comparison");
    fails("{.items[?(@.cpu==n)]}", "unrecognized identifier n");
}

#[test]
fn ranges_repeat_what_they_hold() {
    prints("{range .items[*]}{.metadata.name}={.cpu}{\"\\n\"}{end}", "n1=4\nn2=16\nn3=8\n");
    prints(
        "{range .items[*]}{.metadata.name}:{range .status.addresses[*]}{.type},{end};{end}.",
        "n1:A,B,;n2:;n3:;.",
    );
    prints("{range .missing[*]}x{end}y", "y");
    fails("{end}", "not in range");
    fails("{range .items[*]}x", "unclosed range");
}

#[test]
fn quotes_have_escapes() {
    prints(r#"{"a\tb\"c\u00e4\x41\101"}"#, "a\tb\"cäAA");
    prints(r"{'it\'s'}", "it's");
    fails(r#"{"\q"}"#, "invalid syntax");
    fails(r#"{"\'"}"#, "invalid syntax");
    fails("{\"a}", "unterminated quoted string");
    prints("{.items[*].cpu}{1}", "4 16 81");
}

#[test]
fn what_makes_no_sense_is_told() {
    fails("{.a", "unclosed action");
    fails("{.items[0}", "unterminated array");
    fails("{.items[\"x\"]}", "invalid array index");
    fails("{.items[0:1:2:3]}", "invalid array index");
    fails("{foo}", "unrecognized identifier foo");
    fails("{!}", "unrecognized character in action");
    fails("{....a}", "invalid multiple recursive descent");
    fails("{.items[?(@.x]}", "unterminated filter");
    fails(&"{range .items[*]}".repeat(100), "nested too deeply");
}

#[test]
fn a_bare_path_is_a_path() {
    let find = |path: &str| Template::path(path).unwrap().find(&document()).unwrap().len();
    for path in ["kind", ".kind", "{kind}", "{.kind}"] {
        assert_eq!(find(path), 1, "{path}");
    }
    for odd in ["", ".", "{}", "{.a}{.b}", "{.a"] {
        assert!(Template::path(odd).is_err(), "{odd:?}");
    }
}
