//! the only crate that knows PyO3.
