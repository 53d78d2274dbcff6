//! The frames of a session, side by side: takes one mark a frame, gives columns of times, frame
//! numbers, senders, phases and names.
//!
//! A mark has 24 octets for a name of any length: names are made when columns are written.

use std::hash::Hasher;

use airtoll_security::EapMethod;
use airtoll_wire::ieee80211::{Frame, FrameControl, reason};
use airtoll_wire::openvpn::opcode;
use airtoll_wire::wps;
use rustc_hash::FxHasher;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// Seconds after `origin_ns`.
pub(crate) fn since(time_ns: u64, origin_ns: u64) -> f64 {
    time_ns.saturating_sub(origin_ns) as f64 / 1e9
}

/// Where a frame stands: the place of its file among those given, and its number there, from 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FrameNumber {
    /// Place of the file, from 0.
    pub file: u16,
    /// Number of the frame in the file, as other readers count.
    pub number: u32,
}

/// Phases of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Probe,
    Authentication,
    Association,
    Eap,
    KeyHandshake,
    Tunnel,
    Rekey,
    End,
}

impl Phase {
    /// Phases of a join, in the order of `Join::phases`.
    pub(super) const JOIN: [Self; 6] = [
        Self::Probe,
        Self::Authentication,
        Self::Association,
        Self::Eap,
        Self::KeyHandshake,
        Self::Tunnel,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Authentication => "authentication",
            Self::Association => "association",
            Self::Eap => "eap",
            Self::KeyHandshake => "key_handshake",
            Self::Tunnel => "tunnel",
            Self::Rekey => "rekey",
            Self::End => "end",
        }
    }
}

/// Protocols whose frames are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Probe request or response.
    Probe,
    /// Open-system authentication, or LEAP.
    Authentication,
    /// Shared-key authentication.
    SharedKey,
    /// SAE.
    Sae,
    /// Fast transition.
    Ft,
    /// FILS.
    Fils,
    /// PASN.
    Pasn,
    /// (Re)association.
    Association,
    /// EAPOL-Start.
    EapolStart,
    /// EAPOL-Logoff.
    EapolLogoff,
    /// EAP in EAPOL.
    Eap,
    /// 4-way handshake.
    FourWay,
    /// Group key handshake.
    Group,
    /// Keys of dynamic WEP.
    Rc4Key,
    /// Key request of a station.
    KeyRequest,
    /// EAPOL of another type.
    EapolOther,
    /// EAPOL for another AP.
    PreAuthentication,
    /// Deauthentication.
    Deauthentication,
    /// Disassociation.
    Disassociation,
    /// ISAKMP (IKEv1).
    IkeV1,
    /// IKEv2.
    IkeV2,
    /// Handshake of WireGuard.
    WireGuard,
    /// Control channel of OpenVPN.
    OpenVpn,
    /// Mobile IP registration and agent discovery.
    MobileIp,
}

impl Protocol {
    pub(super) const COUNT: usize = 24;
    pub(super) const ALL: [Self; Self::COUNT] = [
        Self::Probe,
        Self::Authentication,
        Self::SharedKey,
        Self::Sae,
        Self::Ft,
        Self::Fils,
        Self::Pasn,
        Self::Association,
        Self::EapolStart,
        Self::EapolLogoff,
        Self::Eap,
        Self::FourWay,
        Self::Group,
        Self::Rc4Key,
        Self::KeyRequest,
        Self::EapolOther,
        Self::PreAuthentication,
        Self::Deauthentication,
        Self::Disassociation,
        Self::IkeV1,
        Self::IkeV2,
        Self::WireGuard,
        Self::OpenVpn,
        Self::MobileIp,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Authentication => "authentication",
            Self::SharedKey => "shared-key",
            Self::Sae => "sae",
            Self::Ft => "ft",
            Self::Fils => "fils",
            Self::Pasn => "pasn",
            Self::Association => "association",
            Self::EapolStart => "eapol-start",
            Self::EapolLogoff => "eapol-logoff",
            Self::Eap => "eap",
            Self::FourWay => "4-way",
            Self::Group => "group",
            Self::Rc4Key => "rc4-key",
            Self::KeyRequest => "key-request",
            Self::EapolOther => "eapol-other",
            Self::PreAuthentication => "pre-authentication",
            Self::Deauthentication => "deauthentication",
            Self::Disassociation => "disassociation",
            Self::IkeV1 => "ikev1",
            Self::IkeV2 => "ikev2",
            Self::WireGuard => "wireguard",
            Self::OpenVpn => "openvpn",
            Self::MobileIp => "mobile-ip",
        }
    }

    /// Whether its messages negotiate: open-system authentication and association do not.
    pub(super) const fn negotiates(self) -> bool {
        matches!(
            self,
            Self::SharedKey
                | Self::Sae
                | Self::Ft
                | Self::Fils
                | Self::EapolStart
                | Self::Eap
                | Self::FourWay
                | Self::Group
                | Self::Rc4Key
                | Self::IkeV1
                | Self::IkeV2
                | Self::WireGuard
                | Self::OpenVpn
                | Self::MobileIp
        )
    }
}

/// A time of a capture, ns since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SpanNs {
    pub first: u64,
    pub last: u64,
}

/// Kind of a frame, in four octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Label {
    Probe,
    /// Algorithm (255: another) and transaction.
    Authentication(u8, u8),
    AssociationRequest,
    AssociationResponse(u16),
    Start,
    Logoff,
    EapRequest(u8),
    EapResponse(u8),
    EapSuccess,
    EapFailure,
    EapOther,
    /// Message of Wi-Fi Protected Setup, in a request (true) or a response.
    Wps(bool, u8),
    FourWay(u8),
    Group(u8),
    DynamicWep,
    KeyRequest,
    OtherEapol,
    PreAuthentication,
    FtAction,
    Deauthenticated(u16),
    Disassociated(u16),
    Ike,
    WireGuard,
    /// Opcode.
    OpenVpn(u8),
    MobileIp,
}

/// Name of an authentication algorithm (IEEE 802.11-2020, 9.4.1.1; 128 is Cisco's).
const fn algorithm_name(algorithm: u8) -> &'static str {
    match algorithm {
        0 => "open",
        1 => "shared key",
        2 => "FT",
        3 => "SAE",
        4..=6 => "FILS",
        7 => "PASN",
        128 => "LEAP",
        _ => "other",
    }
}

fn eap_name(kind: u8) -> String {
    match kind {
        1 => "identity".to_owned(),
        2 => "notification".to_owned(),
        3 => "NAK".to_owned(),
        _ => EapMethod::title_of(kind),
    }
}

/// The meaning of a reason code.
pub(crate) fn reason_words(code: u16) -> &'static str {
    reason::reason(code).unwrap_or("reserved reason")
}

impl Label {
    pub(super) fn words(self) -> String {
        match self {
            Self::Probe => "probe".to_owned(),
            Self::Authentication(algorithm, transaction) => {
                format!("authentication {} {transaction}", algorithm_name(algorithm))
            }
            Self::AssociationRequest => "association request".to_owned(),
            Self::AssociationResponse(status) => {
                let words = reason::status(status).unwrap_or("reserved code");
                format!("association response: {words} ({status})")
            }
            Self::Start => "EAPOL-Start".to_owned(),
            Self::Logoff => "EAPOL-Logoff".to_owned(),
            Self::EapRequest(kind) => format!("EAP request {}", eap_name(kind)),
            Self::EapResponse(kind) => format!("EAP response {}", eap_name(kind)),
            Self::EapSuccess => "EAP success".to_owned(),
            Self::EapFailure => "EAP failure".to_owned(),
            Self::EapOther => "EAP".to_owned(),
            Self::Wps(true, kind) => format!("EAP request WPS {}", wps::name(kind)),
            Self::Wps(false, kind) => format!("EAP response WPS {}", wps::name(kind)),
            Self::FourWay(number) => format!("4-way {number}"),
            Self::Group(number) => format!("group key {number}"),
            Self::DynamicWep => "dynamic WEP key".to_owned(),
            Self::KeyRequest => "key request".to_owned(),
            Self::OtherEapol => "EAPOL".to_owned(),
            Self::PreAuthentication => "pre-authentication".to_owned(),
            Self::FtAction => "FT action".to_owned(),
            Self::Deauthenticated(code) => {
                format!("deauthenticated: {} ({code})", reason_words(code))
            }
            Self::Disassociated(code) => {
                format!("disassociated: {} ({code})", reason_words(code))
            }
            Self::Ike => "IKE".to_owned(),
            Self::WireGuard => "WireGuard".to_owned(),
            Self::OpenVpn(opcode) => {
                format!("OpenVPN {}", opcode::control_name(opcode).unwrap_or("data"))
            }
            Self::MobileIp => "Mobile IP".to_owned(),
        }
    }
}

/// One frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) time_ns: u64,
    pub(super) frame: FrameNumber,
    pub(super) label: Label,
    pub(super) phase: Phase,
    pub(super) from_station: bool,
    /// A retransmission of a frame that was heard.
    pub(super) again: bool,
}

/// The frames of a session in order, for the waterfall.
#[derive(Debug, Clone, Default)]
pub struct Steps {
    pub(super) marks: Vec<Mark>,
    pub(super) first_ns: u64,
}

impl Steps {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.marks.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.marks.is_empty()
    }

    /// Name of the last one.
    pub(crate) fn last_name(&self) -> Option<String> {
        self.marks.last().map(|mark| mark.label.words())
    }

    /// Leaves the frames out.
    pub(crate) fn clear(&mut self) {
        self.marks = Vec::new();
    }

    /// Names in order.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.marks.iter().map(|mark| mark.label.words())
    }

    /// Frame numbers in order.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.marks.iter().map(|mark| mark.frame.number)
    }
}

/// The shape of [`Steps`] in a report: one entry of every list for each frame.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub struct StepColumns {
    /// Seconds after the session's first frame.
    pub at_s: Vec<f64>,
    /// Place of the file, from 0.
    pub file: Vec<u16>,
    /// Number in the file, from 1.
    pub frame: Vec<u32>,
    /// station or ap.
    pub from: Vec<&'static str>,
    /// Phase that the frame belongs to; `rekey` and `end` follow the join.
    pub phase: Vec<&'static str>,
    /// A retransmission.
    pub again: Vec<bool>,
    /// Name of the frame.
    pub what: Vec<String>,
}

struct Column<'a, F>(&'a [Mark], F);

impl<T: Serialize, F: Fn(&Mark) -> T> Serialize for Column<'_, F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(&self.1))
    }
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let marks = &self.marks[..];
        let from = |mark: &Mark| if mark.from_station { "station" } else { "ap" };
        let mut columns = serializer.serialize_struct("Steps", 7)?;
        columns.serialize_field(
            "at_s",
            &Column(marks, |m: &Mark| since(m.time_ns, self.first_ns)),
        )?;
        columns.serialize_field("file", &Column(marks, |mark: &Mark| mark.frame.file))?;
        columns.serialize_field("frame", &Column(marks, |mark: &Mark| mark.frame.number))?;
        columns.serialize_field("from", &Column(marks, from))?;
        columns.serialize_field("phase", &Column(marks, |mark: &Mark| mark.phase.name()))?;
        columns.serialize_field("again", &Column(marks, |mark: &Mark| mark.again))?;
        columns.serialize_field("what", &Column(marks, |mark: &Mark| mark.label.words()))?;
        columns.end()
    }
}

/// Place of a frame among those of its sender, and what tells it from another one with the same place.
///
/// Counters of their own have frames of QoS data for each TID (IEEE 802.11-2020, table 10-5), and on some
/// devices management and data frames; a station that begins anew also begins to count anew. A
/// retransmission carries the retry bit (clause 10.3.2.14), and is a frame of the same subtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sequence {
    /// Type and subtype, in the bits of Frame Control.
    kind: u16,
    /// TID of QoS data.
    tid: Option<u8>,
    /// Sequence and fragment number.
    number: u16,
    /// The retry bit.
    retry: bool,
    /// Digest of the frame behind Frame Control and Duration.
    digest: u64,
}

impl Sequence {
    /// That of a frame; `None` where its header has none.
    pub(crate) fn of(frame: &Frame<'_>) -> Option<Self> {
        let FrameControl(control) = frame.control();
        let mut hasher = FxHasher::default();
        hasher.write(frame.octets().get(4..).unwrap_or(&[]));
        Some(Self {
            kind: control & 0xfc,
            tid: frame.qos_control().map(|control| (control & 15) as u8),
            number: frame.sequence_control()?,
            retry: frame.control().retry(),
            digest: hasher.finish(),
        })
    }

    /// Whether a later frame has the same place.
    fn has_place_of(&self, later: &Self) -> bool {
        (self.kind, self.tid, self.number) == (later.kind, later.tid, later.number)
    }
}

/// The frames heard last from either side, to tell retransmissions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard {
    ring: [Option<HeardFrame>; 8],
    next: usize,
}

#[derive(Debug, Clone, Copy)]
struct HeardFrame {
    from_station: bool,
    sequence: Sequence,
    time_ns: u64,
    file: u16,
}

/// Frames further apart than this are not one frame and its retransmission, nor its copies in two
/// captures.
const RETRY_WINDOW_NS: u64 = 1_000_000_000;
/// Copies of one frame in one capture are no further apart than this: a driver or a second radio hands
/// them on.
const COPY_WINDOW_NS: u64 = 20_000_000;

impl Heard {
    /// Enters a frame; `true` if it was heard before: a retransmission, or the copy of another sniffer.
    pub(super) fn enter(
        &mut self,
        from_station: bool,
        sequence: Sequence,
        time_ns: u64,
        file: u16,
    ) -> bool {
        let known = self.ring.iter().flatten().any(|heard| {
            let apart = time_ns.abs_diff(heard.time_ns);
            let window = if sequence.retry || heard.file != file {
                RETRY_WINDOW_NS
            } else {
                COPY_WINDOW_NS
            };
            heard.from_station == from_station
                && heard.sequence.has_place_of(&sequence)
                && (sequence.retry || heard.sequence.digest == sequence.digest)
                && apart < window
        });
        if !known {
            self.ring[self.next] = Some(HeardFrame {
                from_station,
                sequence,
                time_ns,
                file,
            });
            self.next = (self.next + 1) % self.ring.len();
        }
        known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_has_24_octets() {
        assert_eq!(size_of::<Mark>(), 24);
    }

    #[test]
    fn columns_have_one_entry_a_frame() {
        let mark = Mark {
            time_ns: 1_500_000_000,
            frame: FrameNumber { file: 0, number: 7 },
            label: Label::EapRequest(13),
            phase: Phase::Eap,
            from_station: false,
            again: false,
        };
        let steps = Steps {
            marks: vec![
                mark,
                Mark {
                    from_station: true,
                    label: Label::FourWay(2),
                    ..mark
                },
            ],
            first_ns: 1_000_000_000,
        };
        let text = serde_json::to_string(&steps).unwrap();
        assert_eq!(
            text,
            r#"{"at_s":[0.5,0.5],"file":[0,0],"frame":[7,7],"from":["ap","station"],"phase":["eap","eap"],"again":[false,false],"what":["EAP request TLS","4-way 2"]}"#
        );
    }

    const AUTHENTICATION: u16 = 0xb0;
    const QOS_DATA: u16 = 0x88;

    fn frame(kind: u16, number: u16, retry: bool) -> Sequence {
        Sequence {
            kind,
            tid: (kind == QOS_DATA).then_some(0),
            number: number << 4,
            retry,
            digest: 7,
        }
    }

    #[test]
    fn a_retransmission_carries_the_retry_bit() {
        let mut heard = Heard::default();
        let ms = |number: u64| number * 1_000_000;
        assert!(!heard.enter(true, frame(AUTHENTICATION, 5, false), 0, 0));
        assert!(heard.enter(true, frame(AUTHENTICATION, 5, true), ms(1), 0));
        assert!(!heard.enter(false, frame(AUTHENTICATION, 5, true), ms(1), 0));
        assert!(!heard.enter(true, frame(AUTHENTICATION, 5, true), ms(2_000), 0));
        // A station that begins to count anew sends the same octets once more.
        let mut heard = Heard::default();
        assert!(!heard.enter(true, frame(AUTHENTICATION, 0, false), 0, 0));
        assert!(!heard.enter(true, frame(AUTHENTICATION, 0, false), ms(197), 0));
    }

    #[test]
    fn copies_of_a_frame_come_at_once_or_from_another_capture() {
        let mut heard = Heard::default();
        let first = frame(AUTHENTICATION, 5, false);
        let other = Sequence { digest: 8, ..first };
        assert!(!heard.enter(true, first, 0, 0));
        assert!(heard.enter(true, first, 360_000, 0));
        assert!(heard.enter(true, first, 500_000_000, 1));
        assert!(!heard.enter(true, other, 720_000, 0));
    }

    #[test]
    fn each_type_and_each_tid_have_sequence_numbers_of_their_own() {
        let mut heard = Heard::default();
        assert!(!heard.enter(true, frame(AUTHENTICATION, 1, false), 0, 0));
        let data = frame(QOS_DATA, 1, true);
        assert!(!heard.enter(true, data, 10, 0));
        assert!(!heard.enter(
            true,
            Sequence {
                tid: Some(6),
                ..data
            },
            20,
            0
        ));
        assert!(heard.enter(true, data, 30, 0));
    }
}
