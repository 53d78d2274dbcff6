//! The border between Rust and Python: the types that cross, and their JSON Schema.
//!
//! A request is built in Python and read here; its types are those of the crate that reads them
//! (`Scenario` of airtoll-wlan, `PolicySpec` of airtoll-handshakes, `Settings` of airtoll-medium). An
//! answer is written in Rust and
//! read in Python. [`schema`] describes both, and `tools/border.py` writes the Python classes of
//! `airtoll.border` from that description.
//!
//! ```
//! let rows = airtoll_border::cipher_rows();
//! let ccmp = rows.iter().find(|row| row.name == "ccmp-128");
//! assert_eq!(ccmp.and_then(|row| row.selector.as_deref()), Some("00-0f-ac-4"));
//! ```

mod capture;
mod columns;
mod findings;
mod measured;
mod negotiated;
#[cfg(feature = "schema")]
mod schema;
mod tables;

pub use capture::CaptureOptions;
pub use columns::{AnalyticColumns, Columns, PublishedMaximum, Sketches, published_maxima};
pub use findings::{
    BlackHoleRow, FragmentedFlowRow, ProbeResponseRow, ProbeTrafficRow, WeakLinkRow,
    black_hole_rows, fragmented_flow_rows, probe_traffic_row, weak_link_rows,
};
pub use measured::{
    CipherSubjectRow, OperationSubjectRow, VectorRow, cipher_subject_rows, operation_subject_rows,
    vector_rows,
};
pub use negotiated::{
    Negotiated, NegotiatedMessage, NegotiatedOutcome, NegotiatedSecret, NegotiatedTotals,
    PartyTotals, ProtocolTotals, negotiate,
};
#[cfg(feature = "schema")]
pub use schema::schema;
pub use tables::{
    AkmRow, CipherRow, EapRow, GenerationRow, SpacesRow, TunnelRow, akm_rows, cipher_rows,
    eap_rows, generation_rows, tunnel_rows,
};

#[cfg(all(test, feature = "schema"))]
mod tests;
