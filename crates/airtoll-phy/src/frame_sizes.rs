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

/// QoS Null frame with its header of three addresses (9.3.2.1).
pub const QOS_NULL_OCTETS: u32 = DATA_HEADER_OCTETS + QOS_CONTROL_OCTETS + FCS_OCTETS;

/// Variant of a Trigger frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Asks for data.
    Basic,
    /// Asks for BlockAcks (MU-BAR).
    MuBar,
    /// Asks for buffer status reports (BSRP).
    Bsrp,
    /// Asks for CTSs (MU-RTS).
    MuRts,
}

/// Trigger frame to `users` users (IEEE 802.11ax-2021, 9.3.1.22): frame control 2, duration 2, RA 6, TA 6,
/// common info 8, user info of 5 octets each, FCS 4. The trigger-dependent part of a user info field has
/// 1 octet in a Basic Trigger, and BAR control and BAR information of 2 octets each in a MU-BAR. No padding:
/// receivers with a MinTrigProcTime of 0.
#[must_use]
pub const fn trigger_octets(kind: Trigger, users: u32) -> u32 {
    let user_info = 5 + match kind {
        Trigger::Basic => 1,
        Trigger::MuBar => 4,
        Trigger::Bsrp | Trigger::MuRts => 0,
    };
    16 + 8 + user_info * users + FCS_OCTETS
}

/// Multi-STA BlockAck frame (IEEE 802.11ax-2021, 9.3.1.8.6) to stations whose PPDUs held so many MPDUs of a
/// window of so many: around them frame control 2, duration 2, RA 6, TA 6, BA control 2, FCS 4. AID TID Info
/// takes 2 octets, which acknowledge a lone MPDU; starting sequence control and bitmap follow where there
/// were more.
#[must_use]
pub fn multi_sta_block_ack_octets(stations: impl Iterator<Item = (u32, u32)>) -> u32 {
    let records = stations.map(|(mpdus, window)| match mpdus {
        0 | 1 => 2,
        _ => 2 + 2 + block_ack_octets(window) - 24,
    });
    22 + records.sum::<u32>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trigger_frames_grow_with_their_users() {
        assert_eq!(trigger_octets(Trigger::Basic, 1), 34);
        assert_eq!(trigger_octets(Trigger::Basic, 9), 28 + 54);
        assert_eq!(trigger_octets(Trigger::MuBar, 4), 28 + 36);
        assert_eq!(trigger_octets(Trigger::Bsrp, 4), 28 + 20);
        assert_eq!(trigger_octets(Trigger::MuRts, 1), 28 + 5);
        assert_eq!(QOS_NULL_OCTETS, 30);
    }

    #[test]
    fn multi_sta_block_acks_have_a_record_per_station() {
        let octets = |stations: &[(u32, u32)]| multi_sta_block_ack_octets(stations.iter().copied());
        assert_eq!(octets(&[(1, 64)]), 24);
        // Bitmaps of 8 and 32 octets.
        assert_eq!(octets(&[(2, 64), (1, 64), (5, 256)]), 22 + 12 + 2 + 36);
    }

    #[test]
    fn block_acks_have_the_sizes_of_the_standard() {
        assert_eq!(block_ack_octets(64), 32);
        assert_eq!(block_ack_octets(256), 56);
    }
}
