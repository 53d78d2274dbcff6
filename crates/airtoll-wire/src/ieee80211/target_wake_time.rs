//! The TWT element of beacons: schedules of target wake time that an access point broadcasts.
//!
//! Takes schedules; gives octets, and back. Source: IEEE 802.11ax-2021, 9.4.2.199. Trigger-enabled
//! schedules and those that are not for ever are never written.

use super::element::{Element, id};

/// Negotiation Type of a schedule that a beacon announces (table 9-297b), in the Control field.
const BROADCAST: u8 = 2 << 2;
/// Wake durations are in TUs and not in units of 256 us.
const DURATION_IN_TU: u8 = 1 << 5;
/// TWT Setup Command: Accept TWT.
const ACCEPT: u16 = 4 << 1;
const LAST: u16 = 1 << 5;
/// Flow type: the station does not announce that it is awake.
const UNANNOUNCED: u16 = 1 << 6;
const EXPONENT_SHIFT: u16 = 10;
/// Broadcast TWT Persistence: until it is changed.
const FOR_EVER: u16 = 255 << 8;
const ID_SHIFT: u16 = 3;
/// Octets of one schedule, and of the element before the first one, its header included.
const SET_OCTETS: usize = 9;
const BEFORE_OCTETS: usize = 3;

/// As many schedules as one element holds. Their numbers begin with 1: number 0 is for all stations of a BSS.
pub const MOST_SCHEDULES: usize = (255 - 1) / SET_OCTETS;

/// A schedule of service periods, at instants of the access point's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BroadcastSchedule {
    /// Broadcast TWT ID, 1 to 31.
    pub id: u8,
    /// Start of the next period, TU (1,024 us).
    pub wake_tu: u64,
    /// From one start to the next, us; see [`Self::can_be_said`].
    pub interval_us: u64,
    /// Nominal minimum wake duration, us: a multiple of the unit that `write` is given.
    pub duration_us: u32,
}

impl BroadcastSchedule {
    /// Whether the interval is one that the element can say.
    pub fn can_be_said(&self) -> bool {
        WakeInterval::of(self.interval_us).is_some()
    }
}

/// A wake interval as the element has it: `mantissa` times two to the `exponent`, us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WakeInterval {
    mantissa: u16,
    exponent: u16,
}

impl WakeInterval {
    const LONGEST: Self = Self {
        mantissa: u16::MAX,
        exponent: 31,
    };

    /// An interval above zero that is a number below 65,536 times a power of two.
    fn of(interval_us: u64) -> Option<Self> {
        let exponent = (0..32).find(|shift| interval_us >> shift <= 65_535)?;
        let mantissa = interval_us >> exponent;
        (interval_us > 0 && mantissa << exponent == interval_us).then_some(Self {
            mantissa: mantissa as u16,
            exponent,
        })
    }
}

/// Octets of the element with this number of schedules.
pub const fn octets(schedules: usize) -> usize {
    if schedules == 0 {
        return 0;
    }
    BEFORE_OCTETS + SET_OCTETS * schedules
}

/// Writes the element; nothing without a schedule.
pub fn broadcast(out: &mut Vec<u8>, schedules: &[BroadcastSchedule]) {
    let Some(last) = schedules.last() else {
        return;
    };
    let in_tu = schedules.iter().any(|one| one.duration_us > 255 * 256);
    let unit = if in_tu { 1_024 } else { 256 };
    let mut body = vec![BROADCAST | if in_tu { DURATION_IN_TU } else { 0 }];
    for one in schedules {
        let interval = WakeInterval::of(one.interval_us).unwrap_or(WakeInterval::LONGEST);
        let mut request = ACCEPT | UNANNOUNCED | interval.exponent << EXPONENT_SHIFT;
        if one == last {
            request |= LAST;
        }
        body.extend(request.to_le_bytes());
        // Bits 10 to 25 of the clock.
        body.extend((one.wake_tu as u16).to_le_bytes());
        body.push(one.duration_us.div_ceil(unit).min(255) as u8);
        body.extend(interval.mantissa.to_le_bytes());
        body.extend((u16::from(one.id) << ID_SHIFT | FOR_EVER).to_le_bytes());
    }
    let id = id::TARGET_WAKE_TIME;
    Element { id, body: &body }.emit(out);
}

/// The schedules of a TWT element's body; none if it is another kind or damaged. `wake_tu` has 16 bits.
pub fn parse_broadcast(body: &[u8]) -> Vec<BroadcastSchedule> {
    let Some((&control, sets)) = body.split_first() else {
        return Vec::new();
    };
    if control & 3 << 2 != BROADCAST || !sets.len().is_multiple_of(SET_OCTETS) {
        return Vec::new();
    }
    let unit = if control & DURATION_IN_TU == 0 {
        256
    } else {
        1_024
    };
    let sets = sets.chunks_exact(SET_OCTETS);
    sets.map(|set| {
        let short = |at: usize| u16::from_le_bytes([set[at], set[at + 1]]);
        let exponent = short(0) >> EXPONENT_SHIFT & 31;
        BroadcastSchedule {
            id: (short(7) >> ID_SHIFT & 31) as u8,
            wake_tu: u64::from(short(2)),
            interval_us: u64::from(short(5)) << exponent,
            duration_us: u32::from(set[4]) * unit,
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: BroadcastSchedule = BroadcastSchedule {
        id: 1,
        wake_tu: 100,
        interval_us: 102_400,
        duration_us: 8_192,
    };

    #[test]
    fn a_schedule_has_the_octets_of_the_standard() {
        let mut out = Vec::new();
        broadcast(&mut out, &[SHORT]);
        // 102,400 us are 51,200 times 2; 8,192 us are 32 times 256.
        let body = [0x08, 0x68, 0x04, 100, 0, 32, 0x00, 0xc8, 0x08, 0xff];
        assert_eq!(out, [&[216, 10][..], &body[..]].concat());
        assert_eq!(out.len(), octets(1));
    }

    #[test]
    fn what_is_written_is_read() {
        let long = BroadcastSchedule {
            id: 31,
            wake_tu: 65_535,
            interval_us: 10 * 1_024_000,
            duration_us: 131_072,
        };
        let mut out = Vec::new();
        for schedules in [&[SHORT][..], &[SHORT, long][..]] {
            out.clear();
            broadcast(&mut out, schedules);
            assert_eq!(out.len(), octets(schedules.len()));
            assert_eq!(parse_broadcast(&out[2..]), schedules);
        }
        broadcast(&mut out, &[]);
        assert_eq!(out.len(), octets(2));
        // An individual agreement, half of a schedule, and nothing.
        for body in [&[0, 0, 0][..], &[8, 1, 2][..], &[]] {
            assert_eq!(parse_broadcast(body), []);
        }
    }

    #[test]
    fn an_interval_has_sixteen_bits_and_a_power_of_two() {
        let parts = |us| WakeInterval::of(us).map(|found| (found.mantissa, found.exponent));
        assert_eq!(parts(65_535), Some((65_535, 0)));
        assert_eq!(parts(131_070), Some((65_535, 1)));
        for us in [131_071, 0] {
            assert!(
                !BroadcastSchedule {
                    interval_us: us,
                    ..SHORT
                }
                .can_be_said()
            );
        }
    }
}
