//! The scenario and its node numbers, as all parts of the builder read them.

use std::collections::HashMap;

use airtoll_engine::Streams;
use airtoll_security::CipherSuite;

use super::radios::Radios;
use crate::id::NodeId;
use crate::scenario::Scenario;

/// The scenario, its node numbers and its random streams.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub scenario: &'a Scenario,
    pub index: &'a HashMap<&'a str, NodeId>,
    pub radios: &'a Radios<'a>,
    pub streams: &'a Streams,
    /// Of `join::common_ciphers`.
    pub group_ciphers: &'a HashMap<&'a str, CipherSuite>,
}
