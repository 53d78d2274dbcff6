//! Frames of power save: takes a sign and its ends, gives the MPDU without FCS.
//!
//! Source: IEEE 802.11-2020 clauses 9.3.1.4 (PS-Poll), 9.3.2.1 (null frames) and 9.2.4.5 (QoS Control). Null
//! frames have no body and are never encrypted (12.2.4); their TID is Linux's (`ieee80211_nullfunc_get` in
//! net/mac80211/tx.c).

use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr, Kind, control_subtype};

use super::frame::{DataFrame, EOSP};
use crate::mac::Spoken;
use crate::packet::Sign;

/// Subtypes of null and QoS null frames among data frames (table 9-1).
const NULL: u8 = 4;
const QOS_NULL: u8 = 12;
/// TID of QoS null frames.
const TID: u16 = 7;

/// The frame of a sign; of `header` it has the addresses and the sequence number.
pub(super) fn frame(header: &DataFrame, sign: Sign, spoken: Spoken) -> Vec<u8> {
    let mut out = Vec::new();
    let dozes = matches!(sign, Sign::Doze | Sign::Trigger | Sign::Poll);
    if sign == Sign::Poll {
        let control = FrameControl::new(Kind::Control, control_subtype::PS_POLL);
        out.extend_from_slice(&control.with_power_management(dozes).0.to_le_bytes());
        // The two upper bits of an association identifier are set (9.2.4.2).
        out.extend_from_slice(&(spoken.aid | 0xc000).to_le_bytes());
        out.extend_from_slice(&header.receiver.0);
        out.extend_from_slice(&header.transmitter.0);
        return out;
    }
    let down = sign == Sign::Nothing;
    let ends = if down && spoken.unscheduled { EOSP } else { 0 };
    HeaderRepr {
        control: FrameControl::new(Kind::Data, if spoken.qos { QOS_NULL } else { NULL })
            .with_to_ds(!down)
            .with_from_ds(down)
            .with_power_management(dozes),
        duration: 0,
        address1: header.receiver,
        address2: header.transmitter,
        address3: if down {
            header.transmitter
        } else {
            header.receiver
        },
        sequence_control: (header.sequence << 4) as u16,
        address4: None,
        qos_control: spoken.qos.then_some(TID | ends),
        ht_control: None,
    }
    .emit(&mut out);
    out
}

/// Sets the association identifier of an association response that is not encrypted.
pub(super) fn number(frame: &mut [u8], aid: u16) {
    // Association and reassociation response; header 24, capability 2, status 2.
    if matches!(frame, [0x10 | 0x30, 0, ..])
        && let Some(field) = frame.get_mut(28..30)
    {
        field.copy_from_slice(&(aid | 0xc000).to_le_bytes());
    }
}
