//! Radiotap: takes the header in front of an 802.11 frame, gives rate, channel, signal and flags;
//! writes the fields that airtoll's own captures carry.
//!
//! Source: radiotap.org, defined fields 0 to 28 (alignment and sizes), presence words chained by
//! bit 31, namespaces by bits 29 and 30. Fields of vendors are skipped by their length. Never
//! reads the frame itself.

use crate::{Error, Result};

const FORMAT: &str = "radiotap";

/// Flags field: the frame ends in an FCS.
pub const FLAG_FCS: u8 = 0x10;
/// Flags field: padding between MAC header and body to a multiple of four octets.
pub const FLAG_DATA_PAD: u8 = 0x20;
/// Flags field: the FCS was wrong.
pub const FLAG_BAD_FCS: u8 = 0x40;
/// Flags field: short preamble.
pub const FLAG_SHORT_PREAMBLE: u8 = 0x02;

/// Number of the Rate field.
pub const RATE: u8 = 2;
/// Number of the MCS field (HT).
pub const MCS: u8 = 19;
/// Number of the VHT field.
pub const VHT: u8 = 21;
/// Number of the HE field.
pub const HE: u8 = 23;
/// Type of the EHT field, which is written as type, length and value.
pub const EHT: u8 = 34;

/// Presence bit: fields of type, length and value follow the fixed ones.
const TLV: usize = 28;
/// Type of the U-SIG field (radiotap.org).
const U_SIG: u16 = 33;
/// U-SIG common word: bits 15 to 17 name the bandwidth.
const U_SIG_BANDWIDTH_KNOWN: u32 = 1 << 1;
/// EHT user word: bits 20 to 23 name the MCS, bits 24 to 27 the streams less one.
const EHT_MCS_KNOWN: u32 = 1 << 1;

/// MCS field: the code is known (of its first octet), and LDPC (of its second).
const MCS_FEC: u8 = 1 << 4;
/// HE field: the code is known (of data 1), and LDPC (of data 3).
const HE_CODING_KNOWN: u16 = 1 << 7;
const HE_LDPC: u16 = 1 << 13;

/// How the frame was modulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modulation {
    /// The header does not say.
    #[default]
    Unknown,
    /// DSSS, CCK or OFDM by rate.
    Legacy {
        /// Rate in units of 500 kb/s.
        rate_500kbps: u8,
    },
    /// HT (802.11n).
    Ht {
        /// MCS index, 0 to 76.
        mcs: u8,
        /// 40 MHz.
        wide: bool,
        /// Guard interval of 400 ns.
        short_gi: bool,
    },
    /// VHT (802.11ac), first user.
    Vht {
        /// MCS index, 0 to 9 (11 outside the standard).
        mcs: u8,
        /// Spatial streams, 1 to 8.
        streams: u8,
        /// 20, 40, 80 or 160 MHz.
        bandwidth_mhz: u16,
        /// Guard interval of 400 ns.
        short_gi: bool,
    },
    /// HE (802.11ax).
    He {
        /// MCS index, 0 to 11.
        mcs: u8,
        /// Spatial streams, 1 to 8.
        streams: u8,
        /// 20, 40, 80 or 160 MHz (a resource unit counts as 20).
        bandwidth_mhz: u16,
        /// Guard interval in ns: 800, 1600 or 3200.
        gi_ns: u16,
    },
    /// EHT (802.11be), first user.
    Eht {
        /// MCS index, 0 to 15.
        mcs: u8,
        /// Spatial streams, 1 to 8.
        streams: u8,
        /// 20, 40, 80, 160 or 320 MHz.
        bandwidth_mhz: u16,
        /// Guard interval in ns: 800, 1600 or 3200.
        gi_ns: u16,
    },
}

impl Modulation {
    /// Number of the field that states the rate; `None` where no field does.
    #[must_use]
    pub const fn field(self) -> Option<u8> {
        match self {
            Self::Unknown => None,
            Self::Legacy { .. } => Some(RATE),
            Self::Ht { .. } => Some(MCS),
            Self::Vht { .. } => Some(VHT),
            Self::He { .. } => Some(HE),
            Self::Eht { .. } => Some(EHT),
        }
    }
}

/// Fields of a radiotap header that airtoll reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RadiotapRepr {
    /// TSF time in microseconds, at the first bit of the MPDU.
    pub tsft_us: Option<u64>,
    /// Flags.
    pub flags: Option<u8>,
    /// Channel frequency in MHz.
    pub frequency_mhz: Option<u16>,
    /// Channel flags.
    pub channel_flags: u16,
    /// Signal in dBm.
    pub signal_dbm: Option<i8>,
    /// Noise in dBm.
    pub noise_dbm: Option<i8>,
    /// Modulation and rate.
    pub modulation: Modulation,
    /// A-MPDU reference number and flags (bit 3 last subframe known, bit 2 this is the last,
    /// bit 0x10 delimiter CRC error).
    pub ampdu: Option<(u32, u16)>,
    /// Field 26 is there: a PPDU without a PSDU was received, and no frame follows.
    pub no_psdu: bool,
    /// The header says that an HT, VHT (first user) or HE frame has LDPC.
    pub ldpc: bool,
}

/// A radiotap header with its complete length.
#[derive(Debug, Clone, Copy)]
pub struct Radiotap<'a> {
    octets: &'a [u8],
    len: usize,
}

impl<'a> Radiotap<'a> {
    /// Checks version and length.
    pub fn new(octets: &'a [u8]) -> Result<Self> {
        let h = octets
            .first_chunk::<8>()
            .ok_or(Error::truncated(FORMAT, 8, octets.len()))?;
        if h[0] != 0 {
            return Err(Error::malformed(FORMAT, "version is not 0"));
        }
        let len = usize::from(u16::from_le_bytes([h[2], h[3]]));
        if len < 8 {
            return Err(Error::malformed(FORMAT, "length is below 8"));
        }
        if octets.len() < len {
            return Err(Error::truncated(FORMAT, len, octets.len()));
        }
        Ok(Self { octets, len })
    }

    /// Octets of the header.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Never: the header has at least 8 octets.
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// The frame after the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.octets[self.len..]
    }
}

/// Alignment and size of each field of the default namespace, by bit.
const FIELDS: [(u8, u8); 29] = [
    (8, 8),
    (1, 1),
    (1, 1),
    (2, 4),
    (2, 2),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (1, 1),
    (1, 1),
    (2, 2),
    (2, 2),
    (1, 1),
    (1, 1),
    (4, 8),
    (1, 3),
    (4, 8),
    (2, 12),
    (8, 12),
    (2, 12),
    (2, 12),
    (2, 6),
    (1, 1),
    (2, 4),
    (4, 4),
];

impl RadiotapRepr {
    /// Reads the fields. Those behind an unknown field or outside the header are not seen:
    /// their place cannot be known.
    pub fn parse(header: &Radiotap<'_>) -> Self {
        let octets = &header.octets[..header.len];
        let mut repr = Self::default();
        let word = |at: usize| {
            octets
                .get(at..at + 4)
                .map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        };
        let mut at = 4;
        let mut words = 0;
        while let Some(present) = word(at) {
            at += 4;
            words += 1;
            if present >> 31 == 0 {
                break;
            }
        }
        let first = word(4).unwrap_or(0);
        if words > 0 && first >> TLV & 1 == 1 {
            if repr.take_all(octets, &mut at, first) {
                repr.type_length_values(octets, at);
            }
            return repr;
        }
        let mut default_namespace = true;
        for index in 0..words {
            let present = word(4 + 4 * index).unwrap_or(0);
            if default_namespace && !repr.take_all(octets, &mut at, present) {
                return repr;
            }
            if present >> 30 & 1 == 1 {
                at = at.next_multiple_of(2);
                let Some(vendor) = octets.get(at..at + 6) else {
                    return repr;
                };
                at += 6 + usize::from(u16::from_le_bytes([vendor[4], vendor[5]]));
                default_namespace = false;
            } else if present >> 29 & 1 == 1 {
                // The next word starts over in the default namespace: fields of further
                // antennas, which are of no use here.
                return repr;
            } else if default_namespace {
                return repr;
            }
        }
        repr
    }

    /// Reads the fields of a presence word; `false` where the header ends before them.
    fn take_all(&mut self, octets: &[u8], at: &mut usize, present: u32) -> bool {
        // Most headers have few of the fields: one step for each field that is there.
        let mut left = present & ((1 << FIELDS.len()) - 1) & !(1 << TLV);
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let (align, size) = FIELDS[bit];
            // Alignments are powers of two.
            let low = usize::from(align) - 1;
            *at = (*at + low) & !low;
            let Some(field) = octets.get(*at..*at + usize::from(size)) else {
                return false;
            };
            self.take(bit, field);
            *at += usize::from(size);
        }
        true
    }

    /// Reads the fields behind the fixed ones: type, length, value, padded to four octets. EHT
    /// names MCS, streams and guard interval, U-SIG the bandwidth.
    fn type_length_values(&mut self, octets: &[u8], at: usize) {
        let mut rest = octets.get(at.next_multiple_of(4)..).unwrap_or(&[]);
        let word = |value: &[u8], at: usize| {
            value
                .get(at..at + 4)
                .map_or(0, |w| u32::from_le_bytes([w[0], w[1], w[2], w[3]]))
        };
        let mut bandwidth_mhz = 20;
        let mut eht = None;
        while let [t0, t1, l0, l1, after @ ..] = rest {
            let len = usize::from(u16::from_le_bytes([*l0, *l1]));
            let Some(value) = after.get(..len) else {
                break;
            };
            match u16::from_le_bytes([*t0, *t1]) {
                U_SIG => {
                    let common = word(value, 0);
                    if common & U_SIG_BANDWIDTH_KNOWN != 0 {
                        bandwidth_mhz = match common >> 15 & 7 {
                            0 => 20,
                            1 => 40,
                            2 => 80,
                            3 => 160,
                            _ => 320,
                        };
                    }
                }
                kind if kind == u16::from(EHT) && len >= 44 => {
                    let (data0, user) = (word(value, 4), word(value, 40));
                    if user & EHT_MCS_KNOWN != 0 {
                        eht = Some((
                            (user >> 20 & 15) as u8,
                            (user >> 24 & 15) as u8 + 1,
                            match data0 >> 7 & 3 {
                                1 => 1600,
                                2 => 3200,
                                _ => 800,
                            },
                        ));
                    }
                }
                _ => {}
            }
            rest = after.get(len.next_multiple_of(4)..).unwrap_or(&[]);
        }
        if let Some((mcs, streams, gi_ns)) = eht {
            self.modulation = Modulation::Eht {
                mcs,
                streams,
                bandwidth_mhz,
                gi_ns,
            };
        }
    }

    fn take(&mut self, bit: usize, field: &[u8]) {
        match (bit, field) {
            (0, [a, b, c, d, e, f, g, h]) => {
                self.tsft_us = Some(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]));
            }
            (1, [flags]) => self.flags = Some(*flags),
            (2, [rate]) if self.modulation == Modulation::Unknown && *rate != 0 => {
                self.modulation = Modulation::Legacy {
                    rate_500kbps: *rate,
                };
            }
            (3, [a, b, c, d]) => {
                self.frequency_mhz = Some(u16::from_le_bytes([*a, *b]));
                self.channel_flags = u16::from_le_bytes([*c, *d]);
            }
            (5, [dbm]) => self.signal_dbm = Some(*dbm as i8),
            (6, [dbm]) => self.noise_dbm = Some(*dbm as i8),
            (19, [known, flags, mcs]) if known & 2 != 0 => {
                self.ldpc = known & flags & MCS_FEC != 0;
                self.modulation = Modulation::Ht {
                    mcs: *mcs,
                    wide: known & 1 != 0 && flags & 3 == 1,
                    short_gi: known & 4 != 0 && flags & 4 != 0,
                };
            }
            (20, [a, b, c, d, low, high, ..]) => {
                self.ampdu = Some((
                    u32::from_le_bytes([*a, *b, *c, *d]),
                    u16::from_le_bytes([*low, *high]),
                ));
            }
            (21, [_, _, flags, bandwidth, user, _, _, _, coding, ..]) => {
                self.ldpc = coding & 1 != 0;
                self.modulation = Modulation::Vht {
                    mcs: user >> 4,
                    streams: (user & 15).max(1),
                    bandwidth_mhz: match bandwidth {
                        0 => 20,
                        1..=3 => 40,
                        4..=10 => 80,
                        _ => 160,
                    },
                    short_gi: flags & 4 != 0,
                };
            }
            (26, _) => self.no_psdu = true,
            (23, _) => {
                let word = |n: usize| u16::from_le_bytes([field[2 * n], field[2 * n + 1]]);
                let (data3, data5, data6) = (word(2), word(4), word(5));
                self.ldpc = word(0) & HE_CODING_KNOWN != 0 && data3 & HE_LDPC != 0;
                self.modulation = Modulation::He {
                    mcs: (data3 >> 8 & 15) as u8,
                    streams: ((data6 & 15) as u8).max(1),
                    bandwidth_mhz: match data5 & 15 {
                        1 => 40,
                        2 => 80,
                        3 => 160,
                        _ => 20,
                    },
                    gi_ns: match data5 >> 4 & 3 {
                        1 => 1600,
                        2 => 3200,
                        _ => 800,
                    },
                };
            }
            _ => {}
        }
    }

    /// Whether the frame ends in an FCS.
    pub fn has_fcs(&self) -> bool {
        self.flags.unwrap_or(0) & FLAG_FCS != 0
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let mut present = 0u32;
        out.extend_from_slice(&[0; 8]);
        let mut field = |bit: usize, octets: &[u8]| {
            present |= 1 << bit;
            let at = out.len() - start;
            let aligned = at.next_multiple_of(usize::from(FIELDS[bit].0));
            out.resize(start + aligned, 0);
            out.extend_from_slice(octets);
        };
        if let Some(tsft) = self.tsft_us {
            field(0, &tsft.to_le_bytes());
        }
        if let Some(flags) = self.flags {
            field(1, &[flags]);
        }
        if let Modulation::Legacy { rate_500kbps } = self.modulation {
            field(2, &[rate_500kbps]);
        }
        if let Some(frequency) = self.frequency_mhz {
            let [a, b] = frequency.to_le_bytes();
            let [c, d] = self.channel_flags.to_le_bytes();
            field(3, &[a, b, c, d]);
        }
        if let Some(dbm) = self.signal_dbm {
            field(5, &[dbm as u8]);
        }
        if let Some(dbm) = self.noise_dbm {
            field(6, &[dbm as u8]);
        }
        if let Modulation::Ht {
            mcs,
            wide,
            short_gi,
        } = self.modulation
        {
            let fec = if self.ldpc { MCS_FEC } else { 0 };
            let flags = u8::from(wide) | u8::from(short_gi) << 2 | fec;
            field(19, &[7 | fec, flags, mcs]);
        }
        if let Some((reference, flags)) = self.ampdu {
            let [a, b, c, d] = reference.to_le_bytes();
            let [e, f] = flags.to_le_bytes();
            field(20, &[a, b, c, d, e, f, 0, 0]);
        }
        match self.modulation {
            Modulation::Vht {
                mcs,
                streams,
                bandwidth_mhz,
                short_gi,
            } => {
                let bandwidth = match bandwidth_mhz {
                    ..40 => 0,
                    40..80 => 1,
                    80..160 => 4,
                    _ => 11,
                };
                let user = mcs << 4 | streams & 15;
                let flags = u8::from(short_gi) << 2;
                let coding = u8::from(self.ldpc);
                let users = [user, 0, 0, 0, coding, 0, 0, 0];
                let mut octets = [0x44, 0, flags, bandwidth, 0, 0, 0, 0, 0, 0, 0, 0];
                octets[4..].copy_from_slice(&users);
                field(21, &octets);
            }
            Modulation::He {
                mcs,
                streams,
                bandwidth_mhz,
                gi_ns,
            } => {
                let (known, coding) = if self.ldpc {
                    (HE_CODING_KNOWN, HE_LDPC)
                } else {
                    (0, 0)
                };
                let data1 = 0x0020u16 | 0x4000 | known;
                let data2 = 0x0002u16;
                let data3 = u16::from(mcs & 15) << 8 | coding;
                let bandwidth = match bandwidth_mhz {
                    ..40 => 0,
                    40..80 => 1,
                    80..160 => 2,
                    _ => 3u16,
                };
                let gi = match gi_ns {
                    ..1600 => 0,
                    1600..3200 => 1,
                    _ => 2u16,
                };
                let words = [
                    data1,
                    data2,
                    data3,
                    0,
                    bandwidth | gi << 4,
                    u16::from(streams & 15),
                ];
                let mut octets = [0; 12];
                for (two, word) in octets.chunks_exact_mut(2).zip(words) {
                    two.copy_from_slice(&word.to_le_bytes());
                }
                field(23, &octets);
            }
            _ => {}
        }
        let len = (out.len() - start) as u16;
        out[start + 2..start + 4].copy_from_slice(&len.to_le_bytes());
        out[start + 4..start + 8].copy_from_slice(&present.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn modulation() -> impl Strategy<Value = Modulation> {
        prop_oneof![
            Just(Modulation::Unknown),
            (1u8..=255).prop_map(|rate_500kbps| Modulation::Legacy { rate_500kbps }),
            (any::<u8>(), any::<bool>(), any::<bool>()).prop_map(|(mcs, wide, short_gi)| {
                Modulation::Ht {
                    mcs,
                    wide,
                    short_gi,
                }
            }),
            (
                0u8..12,
                1u8..9,
                prop::sample::select(vec![20u16, 40, 80, 160]),
                any::<bool>()
            )
                .prop_map(|(mcs, streams, bandwidth_mhz, short_gi)| Modulation::Vht {
                    mcs,
                    streams,
                    bandwidth_mhz,
                    short_gi
                }),
            (
                0u8..12,
                1u8..9,
                prop::sample::select(vec![20u16, 40, 80, 160]),
                prop::sample::select(vec![800u16, 1600, 3200])
            )
                .prop_map(|(mcs, streams, bandwidth_mhz, gi_ns)| Modulation::He {
                    mcs,
                    streams,
                    bandwidth_mhz,
                    gi_ns
                }),
        ]
    }

    proptest! {
        #[test]
        fn round_trips(
            tsft_us: Option<u64>, flags: Option<u8>, channel: Option<(u16, u16)>, signal_dbm: Option<i8>,
            noise_dbm: Option<i8>, modulation in modulation(), ampdu: Option<(u32, u16)>, coded: bool,
        ) {
            let has_code = matches!(modulation.field(), Some(MCS | VHT | HE));
            let repr = RadiotapRepr {
                tsft_us, flags, frequency_mhz: channel.map(|c| c.0), channel_flags: channel.map_or(0, |c| c.1),
                signal_dbm, noise_dbm, modulation, ampdu, no_psdu: false, ldpc: coded && has_code,
            };
            let mut octets = Vec::new();
            repr.emit(&mut octets);
            octets.push(9);
            let header = Radiotap::new(&octets).unwrap();
            prop_assert_eq!(header.payload(), &[9][..]);
            prop_assert_eq!(RadiotapRepr::parse(&header), repr);
        }

        #[test]
        fn any_octets_are_refused_or_read(mut octets in proptest::collection::vec(any::<u8>(), 8..96), len in 0u16..96) {
            octets[0] = 0;
            octets[2..4].copy_from_slice(&len.to_le_bytes());
            if let Ok(header) = Radiotap::new(&octets) {
                let _ = RadiotapRepr::parse(&header);
            }
        }
    }

    #[test]
    fn second_presence_word_and_vendor_namespace() {
        // Two words, the second empty; flags with FCS.
        let octets = [0, 0, 13, 0, 2, 0, 0, 0x80, 0, 0, 0, 0, 0x10];
        let mut octets = octets.to_vec();
        octets[4..8].copy_from_slice(&(1u32 << 31 | 1 << 29 | 2).to_le_bytes());
        let repr = RadiotapRepr::parse(&Radiotap::new(&octets).unwrap());
        assert!(repr.has_fcs());
    }

    #[test]
    fn eht_and_u_sig_follow_the_fixed_fields() {
        let mut octets = vec![0, 0, 0, 0];
        octets.extend((1u32 << 28 | 1 << 1).to_le_bytes());
        octets.extend([0x10, 0, 0, 0]);
        octets.extend([33, 0, 12, 0]);
        octets.extend((1u32 << 1 | 4 << 15).to_le_bytes());
        octets.extend([0; 8]);
        octets.extend([34, 0, 44, 0]);
        octets.extend([0; 4]);
        octets.extend((1u32 << 7).to_le_bytes());
        octets.extend([0; 32]);
        octets.extend((1u32 << 1 | 13 << 20 | 1 << 24).to_le_bytes());
        octets[2] = octets.len() as u8;
        let repr = RadiotapRepr::parse(&Radiotap::new(&octets).unwrap());
        assert!(repr.has_fcs());
        assert_eq!(
            repr.modulation,
            Modulation::Eht {
                mcs: 13,
                streams: 2,
                bandwidth_mhz: 320,
                gi_ns: 1600,
            }
        );
        for len in 8..octets.len() {
            let mut cut = octets[..len].to_vec();
            cut[2] = len as u8;
            let _ = RadiotapRepr::parse(&Radiotap::new(&cut).unwrap());
        }
    }
}
