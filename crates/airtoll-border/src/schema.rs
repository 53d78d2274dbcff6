//! The JSON Schema of every type that crosses.

use airtoll_capture::AnnouncedBss;
use airtoll_capture::networks::NetworksReport;
use airtoll_capture::report::Report;
use airtoll_handshakes::mobility::mobile_ip::{
    Binding, ForeignAgentSettings, HeardAgent, HomeAgentSettings, MobileNodeSettings,
    RegistrationAnswer, Visit,
};
use airtoll_handshakes::published::Comparison;
use airtoll_handshakes::roles::RoleSettings;
use airtoll_handshakes::roles::air::LinkSettings;
use airtoll_handshakes::{Options, PolicySpec};
use airtoll_medium::control::{Request as MediumRequest, Statistics as MediumStatistics};
use airtoll_wlan::Scenario;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::{
    AkmRow, AnalyticColumns, BlackHoleRow, CaptureOptions, CipherRow, CipherSubjectRow, Columns,
    EapRow, FragmentedFlowRow, GenerationRow, Negotiated, OperationSubjectRow, ProbeTrafficRow,
    PublishedMaximum, TunnelRow, VectorRow, WeakLinkRow,
};

/// Two sets of JSON Schema (draft 2020-12) definitions by the name of their type: `requests`, as
/// serde reads them, and `answers`, as serde writes them.
#[must_use]
pub fn schema() -> Value {
    json!({"requests": requests(), "answers": answers()})
}

/// Definitions of what Python sends.
pub(crate) fn requests() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<Scenario>();
    generator.subschema_for::<PolicySpec>();
    generator.subschema_for::<Options>();
    generator.subschema_for::<RoleSettings>();
    generator.subschema_for::<LinkSettings>();
    generator.subschema_for::<HomeAgentSettings>();
    generator.subschema_for::<ForeignAgentSettings>();
    generator.subschema_for::<MobileNodeSettings>();
    generator.subschema_for::<CaptureOptions>();
    generator.subschema_for::<MediumRequest>();
    generator.take_definitions(true)
}

fn answers() -> Map<String, Value> {
    let mut generator = SchemaSettings::draft2020_12()
        .for_serialize()
        .into_generator();
    generator.subschema_for::<Columns>();
    generator.subschema_for::<AnalyticColumns>();
    generator.subschema_for::<PublishedMaximum>();
    generator.subschema_for::<Negotiated>();
    generator.subschema_for::<Comparison>();
    generator.subschema_for::<Binding>();
    generator.subschema_for::<Visit>();
    generator.subschema_for::<HeardAgent>();
    generator.subschema_for::<RegistrationAnswer>();
    generator.subschema_for::<Report>();
    generator.subschema_for::<AnnouncedBss>();
    generator.subschema_for::<NetworksReport>();
    generator.subschema_for::<AkmRow>();
    generator.subschema_for::<CipherRow>();
    generator.subschema_for::<EapRow>();
    generator.subschema_for::<TunnelRow>();
    generator.subschema_for::<GenerationRow>();
    generator.subschema_for::<WeakLinkRow>();
    generator.subschema_for::<BlackHoleRow>();
    generator.subschema_for::<FragmentedFlowRow>();
    generator.subschema_for::<ProbeTrafficRow>();
    generator.subschema_for::<VectorRow>();
    generator.subschema_for::<CipherSubjectRow>();
    generator.subschema_for::<OperationSubjectRow>();
    generator.subschema_for::<MediumStatistics>();
    generator.take_definitions(true)
}
