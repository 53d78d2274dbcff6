//! Unknown fields are refused in every object of a request.

use airtoll_handshakes::mobility::mobile_ip::{
    ForeignAgentSettings, HomeAgentSettings, MobileNodeSettings,
};
use airtoll_handshakes::roles::RoleSettings;
use airtoll_handshakes::roles::air::LinkSettings;
use airtoll_handshakes::{Options, PolicySpec};
use airtoll_medium::control::Request as MediumRequest;
use airtoll_wlan::Scenario;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::CaptureOptions;
use crate::schema::requests;

/// Values of a schema: the first has every property, and each alternative of each property is in
/// one of them.
fn examples(schema: &Value, definitions: &Map<String, Value>) -> Vec<Value> {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        let own = object_part(schema);
        let referred = examples(&definitions[name], definitions);
        return match own {
            None => referred,
            Some(own) => joined(&referred, &examples(&own, definitions)),
        };
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(choices) = schema[key].as_array() {
            return choices
                .iter()
                .filter(|choice| choice["type"] != "null")
                .flat_map(|choice| examples(choice, definitions))
                .collect();
        }
    }
    if let Some(value) = schema.get("const") {
        return vec![value.clone()];
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").unwrap().as_str(),
        kind => kind.as_str(),
    };
    match kind.unwrap_or_else(|| panic!("no type in {schema}")) {
        "object" => objects(schema, definitions),
        "array" => arrays(schema, definitions),
        "string" => vec![match schema["format"].as_str() {
            Some("ip" | "ipv4") => json!("10.0.0.1"),
            Some("mac-address") => json!("42:00:00:00:00:00"),
            _ => json!("x"),
        }],
        "integer" => vec![json!(1)],
        "number" => vec![json!(1.5)],
        "boolean" => vec![json!(true)],
        other => panic!("type {other}"),
    }
}

/// The properties next to a `$ref`.
fn object_part(schema: &Value) -> Option<Value> {
    let properties = schema.get("properties")?;
    Some(json!({"type": "object", "properties": properties}))
}

fn joined(some: &[Value], others: &[Value]) -> Vec<Value> {
    let both = |a: &Value, b: &Value| {
        let (a, b) = (a.as_object().unwrap(), b.as_object().unwrap());
        Value::Object(a.clone().into_iter().chain(b.clone()).collect())
    };
    some.iter()
        .flat_map(|a| others.iter().map(move |b| both(a, b)))
        .collect()
}

fn objects(schema: &Value, definitions: &Map<String, Value>) -> Vec<Value> {
    let Some(properties) = schema["properties"].as_object() else {
        let values = examples(&schema["additionalProperties"], definitions);
        return vec![json!({"key": values[0]})];
    };
    let each: Vec<(&String, Vec<Value>)> = properties
        .iter()
        .map(|(name, property)| (name, examples(property, definitions)))
        .collect();
    let full: Map<String, Value> = each
        .iter()
        .map(|(name, values)| ((*name).clone(), values[0].clone()))
        .collect();
    let mut found = vec![Value::Object(full.clone())];
    for (name, values) in each {
        for value in &values[1..] {
            let mut other = full.clone();
            other.insert(name.clone(), value.clone());
            found.push(Value::Object(other));
        }
    }
    found
}

fn arrays(schema: &Value, definitions: &Map<String, Value>) -> Vec<Value> {
    if let Some(items) = schema["prefixItems"].as_array() {
        let first = |item| examples(item, definitions)[0].clone();
        return vec![Value::Array(items.iter().map(first).collect())];
    }
    let count = schema["minItems"].as_u64().unwrap_or(1).max(1) as usize;
    examples(&schema["items"], definitions)
        .into_iter()
        .map(|item| Value::Array(vec![item; count]))
        .collect()
}

/// Places of the objects with fixed fields in a value.
fn places(value: &Value, schema_maps: &[&str], at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            let name = at.rsplit('/').next().unwrap_or_default();
            if !schema_maps.contains(&name) {
                found.push(at.clone());
            }
            for (name, field) in fields {
                places(field, schema_maps, format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                places(item, schema_maps, format!("{at}/{i}"), found);
            }
        }
        _ => {}
    }
}

/// Objects whose keys are data.
const MAPS: [&str; 1] = ["operations_ns"];

fn unknown_fields_are_refused<T: DeserializeOwned>(root: &str) {
    let definitions = requests();
    let mut tried = 0;
    for example in examples(&definitions[root], &definitions) {
        if let Err(error) = serde_json::from_value::<T>(example.clone()) {
            panic!("{root}: {error} in {example}");
        }
        let mut found = Vec::new();
        places(&example, &MAPS, String::new(), &mut found);
        for place in found {
            let mut wrong = example.clone();
            let object = wrong.pointer_mut(&place).unwrap().as_object_mut().unwrap();
            object.insert("not_a_field".to_owned(), json!(1));
            let Err(error) = serde_json::from_value::<T>(wrong) else {
                panic!("{root}: an unknown field is ignored at {place:?} of {example}");
            };
            // An externally tagged value has exactly one key, so that a second one is refused
            // without a name.
            let text = error.to_string();
            assert!(
                text.contains("not_a_field") || text.contains("with a single key"),
                "{root}{place}: {text}"
            );
            tried += 1;
        }
    }
    assert!(tried > 0);
}

#[test]
fn a_scenario_refuses_unknown_fields_at_every_place() {
    unknown_fields_are_refused::<Scenario>("Scenario");
}

#[test]
fn a_policy_and_its_options_refuse_unknown_fields_at_every_place() {
    unknown_fields_are_refused::<PolicySpec>("PolicySpec");
    unknown_fields_are_refused::<Options>("Options");
}

#[test]
fn the_settings_of_a_handshake_refuse_unknown_fields_at_every_place() {
    unknown_fields_are_refused::<RoleSettings>("RoleSettings");
    unknown_fields_are_refused::<LinkSettings>("LinkSettings");
}

#[test]
fn the_settings_of_mobile_ip_refuse_unknown_fields_at_every_place() {
    unknown_fields_are_refused::<HomeAgentSettings>("HomeAgentSettings");
    unknown_fields_are_refused::<ForeignAgentSettings>("ForeignAgentSettings");
    unknown_fields_are_refused::<MobileNodeSettings>("MobileNodeSettings");
}

#[test]
fn the_options_of_a_capture_report_refuse_unknown_fields() {
    unknown_fields_are_refused::<CaptureOptions>("CaptureOptions");
}

#[test]
fn a_request_to_the_medium_refuses_unknown_fields_at_every_place() {
    unknown_fields_are_refused::<MediumRequest>("MediumRequest");
}

#[test]
fn the_schema_says_that_unknown_fields_are_refused() {
    fn walk(value: &Value, at: &str) {
        if let Some(object) = value.as_object() {
            if object.get("type") == Some(&json!("object")) && object.contains_key("properties") {
                assert_eq!(
                    object.get("additionalProperties"),
                    Some(&json!(false)),
                    "{at}"
                );
            }
            for (name, inner) in object {
                walk(inner, &format!("{at}/{name}"));
            }
        }
        for (i, inner) in value.as_array().into_iter().flatten().enumerate() {
            walk(inner, &format!("{at}/{i}"));
        }
    }
    for (name, definition) in requests() {
        walk(&definition, &name);
    }
}
