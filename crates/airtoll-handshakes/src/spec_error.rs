//! The error of a policy that cannot be carried out.

/// An error in a policy or its options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not the JSON of a policy.
    #[error("policy: {0}")]
    Json(String),
    /// A name that is not known.
    #[error("policy: {key} is {value:?}; {allowed}")]
    Unknown {
        /// Which key.
        key: &'static str,
        /// The value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
}
