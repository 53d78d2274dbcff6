//! NIST's vectors of ML-KEM and ML-DSA for the tests: the first cases of each parameter set in `gen-val/json-files`
//! of ACVP-Server, as they are published.

use std::collections::BTreeMap;

use serde_json::Value;

/// Values of a case by name, in hexadecimal.
pub type Case = BTreeMap<String, Value>;

/// Cases of a function and a parameter set in the text of a file.
pub fn cases(text: &str, function: &str, parameters: &str) -> Vec<Case> {
    let all: Value = serde_json::from_str(text).unwrap();
    let found: Vec<Case> = serde_json::from_value(all[function][parameters].clone()).unwrap();
    assert!(!found.is_empty());
    found
}

/// A value's octets.
pub fn octets(case: &Case, name: &str) -> Vec<u8> {
    let text = case[name].as_str().unwrap();
    (0..text.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
        .collect()
}
