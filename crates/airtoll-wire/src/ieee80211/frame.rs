//! The 802.11 MAC header: takes an MPDU without its FCS, gives its fields and its body.
//!
//! Source: IEEE 802.11-2020 clause 9.2.4 (fields), 9.3.1 to 9.3.3 (layout by type and subtype).
//! Never looks into the body and never changes octets.

use crate::{Error, MacAddress, Result};

const FORMAT: &str = "802.11 header";

/// Frame Control field (clause 9.2.4.1), as the 16-bit integer of its two octets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FrameControl(pub u16);

/// Frame type (clause 9.2.4.1.3, table 9-1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Beacons, probes, authentication, association, action.
    Management,
    /// RTS, CTS, acknowledgements, polls.
    Control,
    /// Data, with or without QoS.
    Data,
    /// DMG and S1G beacons.
    Extension,
}

/// Subtypes of management frames (table 9-1).
pub mod management_subtype {
    /// Association request.
    pub const ASSOCIATION_REQUEST: u8 = 0;
    /// Association response.
    pub const ASSOCIATION_RESPONSE: u8 = 1;
    /// Reassociation request.
    pub const REASSOCIATION_REQUEST: u8 = 2;
    /// Reassociation response.
    pub const REASSOCIATION_RESPONSE: u8 = 3;
    /// Probe request.
    pub const PROBE_REQUEST: u8 = 4;
    /// Probe response.
    pub const PROBE_RESPONSE: u8 = 5;
    /// Beacon.
    pub const BEACON: u8 = 8;
    /// Announcement traffic indication message.
    pub const ATIM: u8 = 9;
    /// Disassociation.
    pub const DISASSOCIATION: u8 = 10;
    /// Authentication.
    pub const AUTHENTICATION: u8 = 11;
    /// Deauthentication.
    pub const DEAUTHENTICATION: u8 = 12;
    /// Action.
    pub const ACTION: u8 = 13;
    /// Action without acknowledgement.
    pub const ACTION_NO_ACK: u8 = 14;
}

/// Subtypes of control frames (table 9-1).
pub mod control_subtype {
    /// Trigger (802.11ax).
    pub const TRIGGER: u8 = 2;
    /// VHT/HE NDP announcement.
    pub const NDP_ANNOUNCEMENT: u8 = 5;
    /// Control frame extension: bits 8 to 11 of Frame Control hold a further subtype.
    pub const EXTENSION: u8 = 6;
    /// Control wrapper, which carries another control frame.
    pub const WRAPPER: u8 = 7;
    /// Block acknowledgement request.
    pub const BLOCK_ACK_REQUEST: u8 = 8;
    /// Block acknowledgement.
    pub const BLOCK_ACK: u8 = 9;
    /// Power-save poll.
    pub const PS_POLL: u8 = 10;
    /// Request to send.
    pub const RTS: u8 = 11;
    /// Clear to send.
    pub const CTS: u8 = 12;
    /// Acknowledgement.
    pub const ACK: u8 = 13;
    /// End of the contention-free period.
    pub const CF_END: u8 = 14;
    /// The same with an acknowledgement.
    pub const CF_END_ACK: u8 = 15;
}

impl FrameControl {
    const TO_DS: u16 = 1 << 8;
    const FROM_DS: u16 = 1 << 9;
    const MORE_FRAGMENTS: u16 = 1 << 10;
    const RETRY: u16 = 1 << 11;
    const POWER_MANAGEMENT: u16 = 1 << 12;
    const MORE_DATA: u16 = 1 << 13;
    const PROTECTED: u16 = 1 << 14;
    const ORDER: u16 = 1 << 15;

    /// Type and subtype with all flags clear; `subtype` is below 16.
    pub const fn new(kind: Kind, subtype: u8) -> Self {
        let kind = match kind {
            Kind::Management => 0,
            Kind::Control => 1,
            Kind::Data => 2,
            Kind::Extension => 3,
        };
        Self(kind << 2 | ((subtype & 15) as u16) << 4)
    }

    const fn with(self, bit: u16, on: bool) -> Self {
        Self(if on { self.0 | bit } else { self.0 & !bit })
    }

    /// Protocol version; 0 but for PV1 (S1G) frames.
    pub const fn version(self) -> u8 {
        (self.0 & 3) as u8
    }
    /// Type.
    pub const fn kind(self) -> Kind {
        match self.0 >> 2 & 3 {
            0 => Kind::Management,
            1 => Kind::Control,
            2 => Kind::Data,
            _ => Kind::Extension,
        }
    }
    /// Subtype, below 16.
    pub const fn subtype(self) -> u8 {
        (self.0 >> 4 & 15) as u8
    }
    /// To the distribution system.
    pub const fn to_ds(self) -> bool {
        self.0 & Self::TO_DS != 0
    }
    /// From the distribution system.
    pub const fn from_ds(self) -> bool {
        self.0 & Self::FROM_DS != 0
    }
    /// More fragments of this MSDU or MMPDU follow.
    pub const fn more_fragments(self) -> bool {
        self.0 & Self::MORE_FRAGMENTS != 0
    }
    /// Sent again.
    pub const fn retry(self) -> bool {
        self.0 & Self::RETRY != 0
    }
    /// The sender goes to power save.
    pub const fn power_management(self) -> bool {
        self.0 & Self::POWER_MANAGEMENT != 0
    }
    /// More is buffered for the receiver.
    pub const fn more_data(self) -> bool {
        self.0 & Self::MORE_DATA != 0
    }
    /// The body is encapsulated by a cipher (or holds WEP shared-key message 3).
    pub const fn protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }
    /// +HTC/Order.
    pub const fn order(self) -> bool {
        self.0 & Self::ORDER != 0
    }
    /// A data frame with a QoS Control field.
    pub const fn is_qos_data(self) -> bool {
        self.0 & 0x8c == 0x88
    }
    /// A data frame that carries data (not null, CF-Ack, CF-Poll).
    pub const fn carries_data(self) -> bool {
        self.0 & 0x4c == 0x08
    }
    /// Sets To DS.
    pub const fn with_to_ds(self, on: bool) -> Self {
        self.with(Self::TO_DS, on)
    }
    /// Sets From DS.
    pub const fn with_from_ds(self, on: bool) -> Self {
        self.with(Self::FROM_DS, on)
    }
    /// Sets More Fragments.
    pub const fn with_more_fragments(self, on: bool) -> Self {
        self.with(Self::MORE_FRAGMENTS, on)
    }
    /// Sets Retry.
    pub const fn with_retry(self, on: bool) -> Self {
        self.with(Self::RETRY, on)
    }
    /// Sets Power Management.
    pub const fn with_power_management(self, on: bool) -> Self {
        self.with(Self::POWER_MANAGEMENT, on)
    }
    /// Sets More Data.
    pub const fn with_more_data(self, on: bool) -> Self {
        self.with(Self::MORE_DATA, on)
    }
    /// Sets Protected Frame.
    pub const fn with_protected(self, on: bool) -> Self {
        self.with(Self::PROTECTED, on)
    }
    /// Sets +HTC/Order.
    pub const fn with_order(self, on: bool) -> Self {
        self.with(Self::ORDER, on)
    }
}

/// An MPDU with a complete header.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    octets: &'a [u8],
    header_len: usize,
}

impl<'a> Frame<'a> {
    /// Checks that the header of this type and subtype is there; the FCS must be cut off before.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let control = FrameControl::read(octets)?;
        let header_len = control.header_len(octets);
        if octets.len() < header_len {
            return Err(Error::truncated(FORMAT, header_len, octets.len()));
        }
        Ok(Self { octets, header_len })
    }

    /// The whole MPDU.
    pub const fn octets(&self) -> &'a [u8] {
        self.octets
    }
    /// Octets of the header.
    pub const fn header_len(&self) -> usize {
        self.header_len
    }
    /// The header's octets.
    pub fn header(&self) -> &'a [u8] {
        &self.octets[..self.header_len]
    }
    /// The octets after the header (with the security header and MIC of a protected frame).
    pub fn body(&self) -> &'a [u8] {
        &self.octets[self.header_len..]
    }
    /// Frame Control.
    pub fn control(&self) -> FrameControl {
        FrameControl(u16::from_le_bytes([self.octets[0], self.octets[1]]))
    }
    /// Duration/ID.
    pub fn duration(&self) -> u16 {
        u16::from_le_bytes([self.octets[2], self.octets[3]])
    }

    fn address_at(&self, at: usize) -> Option<MacAddress> {
        let end = at + 6;
        if end > self.header_len {
            return None;
        }
        MacAddress::from_slice(&self.octets[at..end]).ok()
    }

    /// Address 1, the receiver; absent only in extension frames.
    pub fn receiver(&self) -> Option<MacAddress> {
        self.address_at(4)
    }
    /// Address 2, the transmitter; absent in CTS and ACK.
    pub fn transmitter(&self) -> Option<MacAddress> {
        self.address_at(10)
    }
    /// Address 3 of management and data frames.
    pub fn address3(&self) -> Option<MacAddress> {
        self.has_sequence().then(|| self.address_at(16)).flatten()
    }
    /// Address 4 of data frames with To DS and From DS.
    pub fn address4(&self) -> Option<MacAddress> {
        let control = self.control();
        let has = control.kind() == Kind::Data && control.to_ds() && control.from_ds();
        has.then(|| self.address_at(24)).flatten()
    }

    fn has_sequence(&self) -> bool {
        matches!(self.control().kind(), Kind::Management | Kind::Data)
    }

    /// Sequence Control: sequence number (above bit 4) and fragment number.
    pub fn sequence_control(&self) -> Option<u16> {
        self.has_sequence()
            .then(|| u16::from_le_bytes([self.octets[22], self.octets[23]]))
    }
    /// Sequence number, below 4096.
    pub fn sequence_number(&self) -> Option<u16> {
        self.sequence_control().map(|both| both >> 4)
    }
    /// Fragment number, below 16.
    pub fn fragment_number(&self) -> Option<u8> {
        self.sequence_control().map(|both| (both & 15) as u8)
    }
    /// QoS Control of QoS data frames.
    pub fn qos_control(&self) -> Option<u16> {
        let control = self.control();
        if !control.is_qos_data() {
            return None;
        }
        let at = if control.to_ds() && control.from_ds() {
            30
        } else {
            24
        };
        Some(u16::from_le_bytes([self.octets[at], self.octets[at + 1]]))
    }
    /// Whether the QoS Control field says that the body is an A-MSDU (clause 9.2.4.5.9).
    pub fn is_amsdu(&self) -> bool {
        self.control().carries_data() && self.qos_control().is_some_and(|qos| qos & 0x80 != 0)
    }

    /// BSSID of a management frame, or of a data frame by its DS bits (table 9-30).
    pub fn bssid(&self) -> Option<MacAddress> {
        let control = self.control();
        match (control.kind(), control.to_ds(), control.from_ds()) {
            (Kind::Management, _, _) | (Kind::Data, false, false) => self.address3(),
            (Kind::Data, true, false) => self.receiver(),
            (Kind::Data, false, true) => self.transmitter(),
            _ => None,
        }
    }
    /// Final destination (DA) of a management frame or of a frame with one MSDU.
    pub fn destination(&self) -> Option<MacAddress> {
        let control = self.control();
        match (control.kind(), control.to_ds()) {
            (Kind::Data, true) => self.address3(),
            (Kind::Data | Kind::Management, _) => self.receiver(),
            _ => None,
        }
    }
    /// Original source (SA) of a management frame or of a frame with one MSDU.
    pub fn source(&self) -> Option<MacAddress> {
        let control = self.control();
        match (control.kind(), control.to_ds(), control.from_ds()) {
            (Kind::Data, true, true) => self.address4(),
            (Kind::Data, false, true) => self.address3(),
            (Kind::Data | Kind::Management, _, _) => self.transmitter(),
            _ => None,
        }
    }
}

impl FrameControl {
    /// Reads the first two octets.
    pub fn read(octets: &[u8]) -> Result<Self> {
        match octets.first_chunk::<2>() {
            Some(two) => Ok(Self(u16::from_le_bytes(*two))),
            None => Err(Error::truncated(FORMAT, 2, octets.len())),
        }
    }

    fn header_len(self, octets: &[u8]) -> usize {
        match self.kind() {
            Kind::Management => 24 + if self.order() { 4 } else { 0 },
            Kind::Data => {
                let four = if self.to_ds() && self.from_ds() { 6 } else { 0 };
                let qos = match (self.is_qos_data(), self.order()) {
                    (true, true) => 6,
                    (true, false) => 2,
                    _ => 0,
                };
                24 + four + qos
            }
            Kind::Control => match self.subtype() {
                control_subtype::CTS | control_subtype::ACK => 10,
                control_subtype::EXTENSION => match self.0 >> 8 & 15 {
                    2 | 6..=8 => 10,
                    _ => 16,
                },
                control_subtype::WRAPPER => {
                    let carried = octets
                        .get(10..12)
                        .map_or(Self(0), |two| Self(u16::from_le_bytes([two[0], two[1]])));
                    let rest = carried.header_len(&[]).saturating_sub(10);
                    16 + if carried.kind() == Kind::Control {
                        rest
                    } else {
                        0
                    }
                }
                0 | 1 => 10,
                _ => 16,
            },
            Kind::Extension => 10,
        }
    }
}

/// Header of a management or data frame, for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeaderRepr {
    /// Frame Control; To DS with From DS requires `address4`, QoS data requires `qos_control`.
    pub control: FrameControl,
    /// Duration/ID in microseconds.
    pub duration: u16,
    /// Receiver.
    pub address1: MacAddress,
    /// Transmitter.
    pub address2: MacAddress,
    /// BSSID, DA or SA.
    pub address3: MacAddress,
    /// Sequence number (12 bits) and fragment number (4 bits).
    pub sequence_control: u16,
    /// SA of a four-address frame, or of its A-MSDU the BSSID.
    pub address4: Option<MacAddress>,
    /// QoS Control of a QoS data frame.
    pub qos_control: Option<u16>,
    /// HT Control where +HTC is set.
    pub ht_control: Option<u32>,
}

impl HeaderRepr {
    /// The header of a management or data frame.
    pub fn parse(frame: &Frame<'_>) -> Result<Self> {
        let control = frame.control();
        if !matches!(control.kind(), Kind::Management | Kind::Data) {
            return Err(Error::malformed(FORMAT, "is not of management or data"));
        }
        let address = |found: Option<MacAddress>| {
            found.ok_or(Error::truncated(
                FORMAT,
                frame.header_len,
                frame.octets.len(),
            ))
        };
        let with_ht =
            control.order() && (control.kind() == Kind::Management || control.is_qos_data());
        let ht_control = with_ht
            .then(|| frame.header().last_chunk::<4>().copied())
            .flatten()
            .map(u32::from_le_bytes);
        Ok(Self {
            control,
            duration: frame.duration(),
            address1: address(frame.receiver())?,
            address2: address(frame.transmitter())?,
            address3: address(frame.address3())?,
            sequence_control: frame.sequence_control().unwrap_or(0),
            address4: frame.address4(),
            qos_control: frame.qos_control(),
            ht_control,
        })
    }

    /// Octets that [`HeaderRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        let four = if self.address4.is_some() { 6 } else { 0 };
        let qos = if self.qos_control.is_some() { 2 } else { 0 };
        let ht = if self.ht_control.is_some() { 4 } else { 0 };
        24 + four + qos + ht
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.control.0.to_le_bytes());
        out.extend_from_slice(&self.duration.to_le_bytes());
        out.extend_from_slice(&self.address1.0);
        out.extend_from_slice(&self.address2.0);
        out.extend_from_slice(&self.address3.0);
        out.extend_from_slice(&self.sequence_control.to_le_bytes());
        if let Some(address4) = self.address4 {
            out.extend_from_slice(&address4.0);
        }
        if let Some(qos) = self.qos_control {
            out.extend_from_slice(&qos.to_le_bytes());
        }
        if let Some(ht) = self.ht_control {
            out.extend_from_slice(&ht.to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::ControlRepr;
    use proptest::prelude::*;

    fn address() -> impl Strategy<Value = MacAddress> {
        any::<[u8; 6]>().prop_map(MacAddress)
    }

    proptest! {
        #[test]
        fn header_round_trips(
            subtype in 0u8..16, management: bool, to_ds: bool, from_ds: bool, order: bool,
            duration: u16, sequence_control: u16, qos: u16, ht: u32,
            a in address(), b in address(), c in address(), d in address(),
        ) {
            let kind = if management { Kind::Management } else { Kind::Data };
            let ds = !management;
            let control = FrameControl::new(kind, subtype)
                .with_to_ds(ds && to_ds).with_from_ds(ds && from_ds).with_order(order);
            let repr = HeaderRepr {
                control, duration, address1: a, address2: b, address3: c, sequence_control,
                address4: (ds && to_ds && from_ds).then_some(d),
                qos_control: control.is_qos_data().then_some(qos),
                ht_control: (order && (management || control.is_qos_data())).then_some(ht),
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            prop_assert_eq!(octets.len(), repr.buffer_len());
            let frame = Frame::new(&octets).unwrap();
            prop_assert_eq!(HeaderRepr::parse(&frame), Ok(repr));
            prop_assert!(frame.body().is_empty());
            prop_assert!(Frame::new(&octets[..octets.len() - 1]).is_err());
        }

        #[test]
        fn control_round_trips(duration: u16, a in address(), b in address(), tid in 0u8..16, first in 0u16..4096, bitmap: u64) {
            for repr in [
                ControlRepr::Rts(duration, a, b), ControlRepr::Cts(duration, a),
                ControlRepr::Ack(duration, a), ControlRepr::BlockAck(duration, a, b, tid, first, bitmap),
            ] {
                let mut octets = Vec::new();
                repr.emit(&mut octets);
                prop_assert_eq!(octets.len(), repr.buffer_len());
                prop_assert_eq!(ControlRepr::parse(&Frame::new(&octets).unwrap()), Ok(repr));
            }
        }

        #[test]
        fn any_octets_are_refused_or_read(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Ok(frame) = Frame::new(&octets) {
                let _ = (frame.bssid(), frame.source(), frame.destination(), frame.qos_control());
                let _ = (frame.address3(), frame.address4(), frame.sequence_number(), frame.is_amsdu());
                let _ = (HeaderRepr::parse(&frame), ControlRepr::parse(&frame), frame.body());
            }
        }
    }

    #[test]
    fn roles_of_addresses_follow_the_ds_bits() {
        let [a, b, c, d] = [1, 2, 3, 4].map(|n| MacAddress([n; 6]));
        let cases = [
            (false, false, Some(c), a, b),
            (true, false, Some(a), c, b),
            (false, true, Some(b), a, c),
            (true, true, None, c, d),
        ];
        for (to_ds, from_ds, bssid, destination, source) in cases {
            let mut octets = Vec::new();
            HeaderRepr {
                control: FrameControl::new(Kind::Data, 0)
                    .with_to_ds(to_ds)
                    .with_from_ds(from_ds),
                duration: 0,
                address1: a,
                address2: b,
                address3: c,
                sequence_control: 0,
                address4: (to_ds && from_ds).then_some(d),
                qos_control: None,
                ht_control: None,
            }
            .emit(&mut octets);
            let frame = Frame::new(&octets).unwrap();
            assert_eq!(frame.bssid(), bssid);
            assert_eq!(frame.destination(), Some(destination));
            assert_eq!(frame.source(), Some(source));
        }
    }
}
