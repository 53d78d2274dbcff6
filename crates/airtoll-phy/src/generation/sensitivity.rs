//! Entries of minimum receiver sensitivity that several generations have.

/// Entries of OFDM at 20 MHz by rate, dBm (Table 17-18).
pub(super) const OFDM: [Option<f64>; 8] = [
    Some(-82.0),
    Some(-81.0),
    Some(-79.0),
    Some(-77.0),
    Some(-74.0),
    Some(-70.0),
    Some(-66.0),
    Some(-65.0),
];

/// Entries of HT (to 7), VHT (to 9), HE (to 11) and EHT (to 13) at 20 MHz by MCS, dBm
/// (Tables 19-23, 21-25, 27-51 and 36-67).
pub(super) const BY_MCS: [Option<f64>; 14] = [
    Some(-82.0),
    Some(-79.0),
    Some(-77.0),
    Some(-74.0),
    Some(-70.0),
    Some(-66.0),
    Some(-65.0),
    Some(-64.0),
    Some(-59.0),
    Some(-57.0),
    Some(-54.0),
    Some(-52.0),
    Some(-49.0),
    Some(-46.0),
];
