//! Costs of processing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A cost that grows with the length: `fixed_ns + octets * per_octet_ns`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cost {
    /// Per frame or packet, ns.
    pub fixed_ns: f64,
    /// Per octet, ns.
    pub per_octet_ns: f64,
}
