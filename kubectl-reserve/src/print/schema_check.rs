//! Checks documents against `docs/schema/<Kind>.json`, in tests only. It implements the part of JSON Schema (draft 2020-12) that
//! our schemas use; an unknown keyword is an error, so that no rule is ignored silently.

use serde_json::{Map, Value};
use std::path::Path;

/// Keywords that only describe.
const WORDS: [&str; 8] =
    ["$schema", "$id", "$defs", "$comment", "title", "description", "examples", "format"];

pub(crate) fn schema(kind: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/schema/{kind}.json"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Panics unless `document` has `apiVersion` and `kind`, and is valid for the schema of its kind.
#[track_caller]
pub(crate) fn assert_valid(document: &Value) {
    let kind = document["kind"].as_str().unwrap_or_else(|| panic!("no kind: {document:#}"));
    assert_eq!(document["apiVersion"], "kubectl-reserve/v1alpha1");
    let problems = problems(document, &schema(kind));
    assert!(problems.is_empty(), "{problems:#?}\n{document:#}");
}

/// Where `document` violates `schema`, as text.
pub(crate) fn problems(document: &Value, schema: &Value) -> Vec<String> {
    let mut validator = Validator { root: schema, problems: Vec::new() };
    validator.value(document, schema, "$");
    validator.problems
}

struct Validator<'s> {
    root: &'s Value,
    problems: Vec<String>,
}

impl Validator<'_> {
    fn bad(&mut self, at: &str, what: impl std::fmt::Display) {
        self.problems.push(format!("{at}: {what}"));
    }

    fn value(&mut self, value: &Value, schema: &Value, at: &str) {
        let schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(true) => return,
            _ => return self.bad(at, "nothing is allowed here"),
        };
        for (keyword, rule) in schema {
            match keyword.as_str() {
                "$ref" => {
                    let target = rule.as_str().and_then(|path| path.strip_prefix('#'));
                    match target.and_then(|path| self.root.pointer(path)).cloned() {
                        Some(target) => self.value(value, &target, at),
                        None => self.bad(at, format!("the schema has no {rule}")),
                    }
                }
                "type" if !has_type(value, rule) => self.bad(at, format!("{value} is not of type {rule}")),
                "const" if value != rule => self.bad(at, format!("{value} is not {rule}")),
                "enum" if !rule.as_array().is_some_and(|all| all.contains(value)) => {
                    self.bad(at, format!("{value} is none of {rule}"));
                }
                "minimum" if value.as_f64() < rule.as_f64() && value.is_number() => {
                    self.bad(at, format!("{value} is below {rule}"));
                }
                "type" | "const" | "enum" | "minimum" => {}
                "anyOf" | "oneOf" => self.any(value, rule, at),
                "required" | "properties" | "additionalProperties" => {}
                "items" | "minItems" => {}
                word if WORDS.contains(&word) => {}
                other => self.bad(at, format!("the check does not know the keyword {other}")),
            }
        }
        match value {
            Value::Object(fields) => self.object(fields, schema, at),
            Value::Array(elements) => self.array(elements, schema, at),
            _ => {}
        }
    }

    fn any(&mut self, value: &Value, rules: &Value, at: &str) {
        let fits = |rule: &Value| {
            let mut validator = Validator { root: self.root, problems: Vec::new() };
            validator.value(value, rule, at);
            validator.problems.is_empty()
        };
        if !rules.as_array().is_some_and(|rules| rules.iter().any(fits)) {
            self.bad(at, format!("{value} fits none of the alternatives"));
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, schema: &Map<String, Value>, at: &str) {
        for name in schema.get("required").and_then(Value::as_array).into_iter().flatten() {
            if !name.as_str().is_some_and(|name| fields.contains_key(name)) {
                self.bad(at, format!("{name} is missing"));
            }
        }
        let known = schema.get("properties").and_then(Value::as_object);
        for (name, value) in fields {
            let at = format!("{at}.{name}");
            let rule = known.and_then(|known| known.get(name)).or_else(|| schema.get("additionalProperties"));
            match rule {
                Some(Value::Bool(false)) => self.bad(&at, "the schema does not have it"),
                Some(rule) => self.value(value, &rule.clone(), &at),
                None => {}
            }
        }
    }

    fn array(&mut self, elements: &[Value], schema: &Map<String, Value>, at: &str) {
        if let Some(least) = schema.get("minItems").and_then(Value::as_u64)
            && (elements.len() as u64) < least
        {
            self.bad(at, format!("fewer than {least} elements"));
        }
        if let Some(rule) = schema.get("items") {
            for (index, element) in elements.iter().enumerate() {
                self.value(element, rule, &format!("{at}[{index}]"));
            }
        }
    }
}

fn has_type(value: &Value, rule: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    match rule {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

#[test]
fn the_check_can_fail() {
    use serde_json::json;
    let schema = json!({
        "$defs": {"name": {"type": "string"}},
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": {
            "name": {"$ref": "#/$defs/name"}, "count": {"type": ["integer", "null"], "minimum": 0},
            "state": {"enum": ["held"]}, "list": {"type": "array", "minItems": 1, "items": {"type": "number"}},
            "either": {"anyOf": [{"const": 1}, {"type": "string"}]},
        },
    });
    let good = json!({"name": "a", "count": 1, "state": "held", "list": [1.5], "either": "x"});
    assert_eq!(problems(&good, &schema), Vec::<String>::new());
    for bad in [
        json!([]),
        json!({}),
        json!({"name": 1}),
        json!({"name": "a", "more": 1}),
        json!({"name": "a", "count": -1}),
        json!({"name": "a", "count": "1"}),
        json!({"name": "a", "state": "taken"}),
        json!({"name": "a", "list": []}),
        json!({"name": "a", "list": ["x"]}),
        json!({"name": "a", "either": 2}),
    ] {
        assert!(!problems(&bad, &schema).is_empty(), "{bad}");
    }
    assert!(!problems(&json!(1), &json!({"multipleOf": 1})).is_empty(), "an unknown keyword");
}
