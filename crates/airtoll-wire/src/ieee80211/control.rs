//! Control frames of the basic exchange: RTS, CTS, Ack and compressed BlockAck.
//!
//! Takes a checked frame; gives its fields, and octets back (IEEE 802.11-2020 clause 9.3.1).
//! Never reads other control frames.

use super::frame::{Frame, FrameControl, Kind, control_subtype};
use crate::{Error, MacAddress, Result};

const FORMAT: &str = "802.11 control frame";

/// The control frames of the basic exchange, for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlRepr {
    /// Request to send: duration, receiver, transmitter.
    Rts(u16, MacAddress, MacAddress),
    /// Clear to send: duration, receiver.
    Cts(u16, MacAddress),
    /// Acknowledgement: duration, receiver.
    Ack(u16, MacAddress),
    /// Compressed block acknowledgement: duration, receiver, transmitter, TID, first sequence
    /// number, bitmap of 64 MSDUs.
    BlockAck(u16, MacAddress, MacAddress, u8, u16, u64),
}

impl ControlRepr {
    /// Reads one of the four; other control frames are refused.
    pub fn parse(frame: &Frame<'_>) -> Result<Self> {
        let wrong = Error::malformed(FORMAT, "is not RTS, CTS, Ack or compressed BlockAck");
        let control = frame.control();
        if control.kind() != Kind::Control {
            return Err(wrong);
        }
        let receiver = frame.receiver().ok_or(wrong)?;
        match (control.subtype(), frame.transmitter()) {
            (control_subtype::RTS, Some(from)) => Ok(Self::Rts(frame.duration(), receiver, from)),
            (control_subtype::CTS, _) => Ok(Self::Cts(frame.duration(), receiver)),
            (control_subtype::ACK, _) => Ok(Self::Ack(frame.duration(), receiver)),
            (control_subtype::BLOCK_ACK, Some(from)) => {
                let mut body = crate::Cursor::new(FORMAT, frame.body());
                let ba_control = body.u16_le()?;
                if ba_control >> 1 & 15 != 2 {
                    return Err(wrong);
                }
                let start = body.u16_le()? >> 4;
                let tid = (ba_control >> 12) as u8;
                let bitmap = body.u64_le()?;
                Ok(Self::BlockAck(
                    frame.duration(),
                    receiver,
                    from,
                    tid,
                    start,
                    bitmap,
                ))
            }
            _ => Err(wrong),
        }
    }

    /// Octets that [`ControlRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        match self {
            Self::Rts(..) => 16,
            Self::Cts(..) | Self::Ack(..) => 10,
            Self::BlockAck(..) => 28,
        }
    }

    /// Appends the frame, without FCS.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let mut start = |subtype, duration: u16, receiver: MacAddress| {
            out.extend_from_slice(&FrameControl::new(Kind::Control, subtype).0.to_le_bytes());
            out.extend_from_slice(&duration.to_le_bytes());
            out.extend_from_slice(&receiver.0);
        };
        match *self {
            Self::Rts(duration, to, from) => {
                start(control_subtype::RTS, duration, to);
                out.extend_from_slice(&from.0);
            }
            Self::Cts(duration, to) => start(control_subtype::CTS, duration, to),
            Self::Ack(duration, to) => start(control_subtype::ACK, duration, to),
            Self::BlockAck(duration, to, from, tid, first, bitmap) => {
                start(control_subtype::BLOCK_ACK, duration, to);
                out.extend_from_slice(&from.0);
                out.extend_from_slice(&(u16::from(tid & 15) << 12 | 4).to_le_bytes());
                out.extend_from_slice(&(first << 4).to_le_bytes());
                out.extend_from_slice(&bitmap.to_le_bytes());
            }
        }
    }
}
