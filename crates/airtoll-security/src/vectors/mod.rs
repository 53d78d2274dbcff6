//! Published test vectors, and a run over all of them.
//!
//! Takes nothing; gives one [`Outcome`] for each vector, with its source. `airtoll ciphers verify`
//! prints them and the crate's tests demand that all pass. Never compares this code with itself:
//! every expected octet comes from a standard or an RFC.

mod keys;
mod link;
mod primitives;
mod tunnels;

/// One published vector.
#[derive(Clone, Copy)]
pub struct Vector {
    /// Name of the computation.
    pub name: &'static str,
    /// Where the expected octets are printed.
    pub source: &'static str,
    check: fn() -> bool,
}

/// A vector after its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Name of the computation.
    pub name: &'static str,
    /// Where the expected octets are printed.
    pub source: &'static str,
    /// Whether every octet was the expected one.
    pub passed: bool,
}

/// Runs every vector.
#[must_use]
pub fn run() -> Vec<Outcome> {
    [
        primitives::VECTORS,
        keys::VECTORS,
        link::VECTORS,
        tunnels::VECTORS,
    ]
    .concat()
    .into_iter()
    .map(|vector| Outcome {
        name: vector.name,
        source: vector.source,
        passed: (vector.check)(),
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vector_passes() {
        let outcomes = run();
        let failed: Vec<&str> = outcomes
            .iter()
            .filter(|outcome| !outcome.passed)
            .map(|outcome| outcome.name)
            .collect();
        assert!(failed.is_empty(), "{failed:?}");
        assert!(outcomes.len() > 20);
    }
}
