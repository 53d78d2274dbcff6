//! Fields of a radio header, whatever its format.

use airtoll_wire::radiotap::Modulation;

/// Fields of the radio header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Radio {
    /// Modulation and rate.
    pub modulation: Modulation,
    /// Channel frequency in MHz.
    pub frequency_mhz: Option<u16>,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// TSF time in microseconds.
    pub tsft_us: Option<u64>,
    /// A-MPDU reference number.
    pub ampdu: Option<u32>,
    /// Short preamble of DSSS.
    pub short_preamble: bool,
    /// The radio says that the FCS was wrong.
    pub bad_fcs: bool,
}

/// Centre frequency of a 20 MHz channel at 2.4 or 5 GHz, MHz.
pub(crate) fn channel_frequency(channel: u32) -> Option<u16> {
    let channel = u16::try_from(channel).ok()?;
    match channel {
        1..=13 => Some(2407 + 5 * channel),
        14 => Some(2484),
        36..=177 => Some(5000 + 5 * channel),
        _ => None,
    }
}
