//! Subjects of the measurements of ciphers and public-key operations.
//!
//! Takes the tables of `airtoll-security` and `airtoll-handshakes`; gives one row per entry, in their
//! order. Measures nothing.

use airtoll_handshakes::workload;
use airtoll_security::vectors;
use airtoll_security::workload::Subject;
use schemars::JsonSchema;
use serde::Serialize;

/// A published test vector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VectorRow {
    /// Its name.
    pub vector: &'static str,
    /// Where it is published.
    pub source: &'static str,
    /// Whether the result is the published one.
    pub passed: bool,
}

/// A cipher that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CipherSubjectRow {
    /// Its name.
    pub name: &'static str,
    /// `link` or `tunnel`.
    pub kind: &'static str,
    /// Ways in which it can run here.
    pub modes: Vec<&'static str>,
}

/// A public-key operation of the handshakes that can be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OperationSubjectRow {
    /// Its name.
    pub name: String,
    /// The library that carries it out.
    pub implementation: &'static str,
    /// Units in a call.
    pub units: u64,
    /// The unit.
    pub unit: &'static str,
}

/// Runs every published vector.
#[must_use]
pub fn vector_rows() -> Vec<VectorRow> {
    let outcomes = vectors::run().into_iter();
    let rows = outcomes.map(|outcome| VectorRow {
        vector: outcome.name,
        source: outcome.source,
        passed: outcome.passed,
    });
    rows.collect()
}

/// Every cipher and the ways in which it can run here.
#[must_use]
pub fn cipher_subject_rows() -> Vec<CipherSubjectRow> {
    let rows = Subject::all().map(|subject| CipherSubjectRow {
        name: subject.name(),
        kind: match subject {
            Subject::Link(_) => "link",
            Subject::Tunnel(_) => "tunnel",
        },
        modes: subject.modes().iter().map(|mode| mode.name()).collect(),
    });
    rows.collect()
}

/// Every public-key operation of the handshakes.
#[must_use]
pub fn operation_subject_rows() -> Vec<OperationSubjectRow> {
    let rows = workload::Subject::all().map(|subject| {
        let (units, unit) = subject.units();
        OperationSubjectRow {
            name: subject.name(),
            implementation: subject.implementation(),
            units,
            unit,
        }
    });
    rows.collect()
}
