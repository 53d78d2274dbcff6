//! Octets of MAC headers and control frames, FCS included where a frame is meant.
//!
//! Constants of clause 9; nothing is computed but the block ack, whose bitmap varies.

/// Frame check sequence (9.2.4.8).
pub const FCS_OCTETS: u32 = 4;

/// Data frame header with three addresses, without QoS control and FCS (9.3.2.1).
pub const DATA_HEADER_OCTETS: u32 = 24;

/// Fourth address, where To DS and From DS are both 1 (9.3.2.1).
pub const ADDRESS_4_OCTETS: u32 = 6;

/// QoS control field (9.2.4.5).
pub const QOS_CONTROL_OCTETS: u32 = 2;

/// LLC and SNAP before the Ethertype payload (IEEE 802.2, RFC 1042).
pub const LLC_SNAP_OCTETS: u32 = 8;

/// Ack frame (9.3.1.4).
pub const ACK_OCTETS: u32 = 14;

/// RTS frame (9.3.1.2).
pub const RTS_OCTETS: u32 = 20;

/// CTS frame (9.3.1.3).
pub const CTS_OCTETS: u32 = 14;
/// CF-End (9.3.1.5).
pub const CF_END_OCTETS: u32 = 20;

/// PS-Poll frame (9.3.1.5).
pub const PS_POLL_OCTETS: u32 = 20;

/// Compressed BlockAckReq frame (9.3.1.7).
pub const BLOCK_ACK_REQ_OCTETS: u32 = 24;

/// Compressed BlockAck frame for a window of `window` MPDUs (9.3.1.8.2): 24 octets around a
/// bitmap of 8 octets up to 64, 32 up to 256, 64 up to 512 and 128 up to 1024 MPDUs.
#[must_use]
pub const fn block_ack_octets(window: u32) -> u32 {
    let bitmap = if window <= 64 {
        8
    } else if window <= 256 {
        32
    } else if window <= 512 {
        64
    } else {
        128
    };
    // Frame control 2, duration 2, RA 6, TA 6, BA control 2, starting sequence control 2, FCS 4.
    24 + bitmap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_acks_have_the_sizes_of_the_standard() {
        assert_eq!(block_ack_octets(64), 32);
        assert_eq!(block_ack_octets(256), 56);
    }
}
