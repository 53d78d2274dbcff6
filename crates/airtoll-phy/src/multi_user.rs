//! PPDUs that several users share by OFDMA: HE MU and HE TB of IEEE 802.11ax-2021 (27.3.4), and those of
//! EHT with the same fields.
//!
//! Takes the vector that a user has alone in the channel, its resource unit and properties of all users;
//! gives the vector of the user's part. All parts last as long as the longest. Packet extensions are 0,
//! as for one user.

use crate::generation::MultiUserRules;
use crate::parameters::GuardInterval;
use crate::resource_unit::ResourceUnit;
use crate::txvector::TxVector;

/// CRC and tail behind the common field and behind each block of user fields of HE-SIG-B.
const CHECK_AND_TAIL: u32 = 4 + 6;
/// A symbol of HE-SIG-B with its guard interval, ns.
const SIGNALLING_SYMBOL_NS: u32 = 4_000;
/// Data bits of a symbol of HE-SIG-B, by MCS: 52 subcarriers of 20 MHz.
const SIGNALLING_BITS: [u32; 6] = [26, 52, 78, 104, 156, 208];

/// Guard interval of triggered PPDUs, with a 2x training field.
pub const TRIGGERED_GUARD_INTERVAL: GuardInterval = GuardInterval::Ns1600;

/// Properties of its users that decide the preamble of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Users, at least one.
    pub users: u32,
    /// The lowest MCS of a user.
    pub lowest_mcs: u8,
    /// The most spatial streams of a user.
    pub streams: u8,
}

impl Shared {
    /// That of users with these vectors.
    #[must_use]
    pub fn of<'v>(users: impl Iterator<Item = &'v TxVector>) -> Self {
        users.fold(
            Self {
                users: 0,
                lowest_mcs: u8::MAX,
                streams: 1,
            },
            |all, v| Self {
                users: all.users + 1,
                lowest_mcs: all.lowest_mcs.min(v.index_per_stream()),
                streams: all.streams.max(v.nss()),
            },
        )
    }
}

/// The part of a user with vector `alone` in a PPDU to several users; `None` where the format has none in
/// this width, or no such unit.
#[must_use]
pub fn shares(alone: &TxVector, unit: ResourceUnit, shared: Shared) -> Option<TxVector> {
    let rules = rules(alone, unit)?;
    let gi = alone.guard_interval();
    let preamble_ns = rules.preamble_ns
        + signalling_symbols(rules, alone, shared)? * SIGNALLING_SYMBOL_NS
        + training_ns(alone, gi, shared.streams)?;
    Some(alone.in_part(unit.data_subcarriers(), gi, preamble_ns))
}

/// The part of a user with vector `alone` in the PPDU that a Trigger frame asks for; `streams`: the most of
/// any user.
#[must_use]
pub fn triggered(alone: &TxVector, unit: ResourceUnit, streams: u8) -> Option<TxVector> {
    let rules = rules(alone, unit)?;
    let gi = TRIGGERED_GUARD_INTERVAL;
    let preamble_ns = rules.triggered_preamble_ns + training_ns(alone, gi, streams)?;
    Some(alone.in_part(unit.data_subcarriers(), gi, preamble_ns))
}

fn rules(alone: &TxVector, unit: ResourceUnit) -> Option<&'static MultiUserRules> {
    let rules = alone.generation().descriptor().multi_user.as_ref()?;
    let modelled = rules.common_bits.iter().any(|(w, _)| *w == alone.width());
    (modelled && unit.count(alone.width()) > 0).then_some(rules)
}

/// Symbols of HE-SIG-B (27.3.11.8): the common field and the user fields, in blocks of two, of the longer of
/// its content channels, of which channels from 40 MHz on have two. It goes at the lowest MCS of the users, as
/// far as it has that.
fn signalling_symbols(rules: &MultiUserRules, alone: &TxVector, shared: Shared) -> Option<u32> {
    let width = alone.width();
    let (_, common) = rules.common_bits.iter().find(|(w, _)| *w == width)?;
    let channels = if width.mhz() == 20 { 1 } else { 2 };
    let users = shared.users.div_ceil(channels);
    let blocks = users.div_ceil(2);
    let bits = common + CHECK_AND_TAIL + users * rules.user_bits + blocks * CHECK_AND_TAIL;
    let known = rules.signalling_mcs.iter().rev();
    let mcs = known.copied().find(|m| *m <= shared.lowest_mcs)?;
    Some(bits.div_ceil(SIGNALLING_BITS[usize::from(mcs)]))
}

fn training_ns(alone: &TxVector, gi: GuardInterval, streams: u8) -> Option<u32> {
    let d = alone.generation().descriptor();
    let guard = d.guard_intervals.iter().find(|row| row.interval == gi)?;
    let fields = d.mcs?.training_fields;
    let count = fields.get(usize::from(streams).checked_sub(1)?)?;
    Some(guard.training_ns * count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::airtime::airtime;
    use crate::generation::Generation;
    use crate::parameters::{Band, Width};

    fn alone(generation: Generation, mcs: u8, width: Width) -> TxVector {
        let gi = GuardInterval::Ns800;
        TxVector::of_mcs(generation, mcs, 1, width, gi, Band::Ghz5).unwrap()
    }

    fn mbps(mcs: u8, unit: ResourceUnit) -> f64 {
        let v = alone(Generation::Ax, mcs, Width::Mhz160);
        let shared = Shared::of([&v].into_iter());
        shares(&v, unit, shared).unwrap().bit_rate().0 as f64 / 1e6
    }

    #[test]
    fn units_have_the_rates_of_the_standard() {
        // Tables 27-55 to 27-111, one stream, 0.8 us.
        for (unit, printed) in [
            (ResourceUnit::Tones26, [0.9, 7.1, 8.8, 14.7]),
            (ResourceUnit::Tones52, [1.8, 14.1, 17.6, 29.4]),
            (ResourceUnit::Tones106, [3.8, 30.0, 37.5, 62.5]),
            (ResourceUnit::Tones242, [8.6, 68.8, 86.0, 143.4]),
            (ResourceUnit::Tones484, [17.2, 137.6, 172.1, 286.8]),
            (ResourceUnit::Tones996, [36.0, 288.2, 360.3, 600.5]),
            (ResourceUnit::Tones2x996, [72.1, 576.5, 720.6, 1_201.0]),
        ] {
            for (mcs, printed) in [0, 5, 7, 11].into_iter().zip(printed) {
                let rate = mbps(mcs, unit);
                assert!(
                    (rate - printed).abs() < 0.125,
                    "{unit:?} MCS {mcs}: {rate} {printed}"
                );
            }
        }
    }

    #[test]
    fn a_ppdu_to_four_users_lasts_as_computed_by_hand() {
        let v = alone(Generation::Ax, 7, Width::Mhz20);
        let shared = Shared::of([&v; 4].into_iter());
        let part = shares(&v, ResourceUnit::Tones52, shared).unwrap();
        // HE-SIG-B at MCS 5: 8 + 10, 4 x 21 and 2 x 10 bits in one symbol of 208. Preamble: 36 us, 4 us and a
        // 2x training field of 7.2 us. 52 tones at MCS 7: 48 x 6 x 5/6 = 240 bits a symbol; 22 + 8 x 180 bits
        // in 7 symbols of 13.6 us.
        assert_eq!(airtime(&part, 180).as_nanos(), 47_200 + 7 * 13_600);
        let slow = alone(Generation::Ax, 0, Width::Mhz20);
        let shared = Shared::of([&slow, &v, &v, &v].into_iter());
        let part = shares(&v, ResourceUnit::Tones52, shared).unwrap();
        // 122 bits in 5 symbols of 26.
        assert_eq!(airtime(&part, 180).as_nanos(), 43_200 + 20_000 + 7 * 13_600);
    }

    #[test]
    fn a_triggered_ppdu_lasts_as_computed_by_hand() {
        let v = alone(Generation::Ax, 7, Width::Mhz20);
        let part = triggered(&v, ResourceUnit::Tones26, 1).unwrap();
        // 40 us and a 2x training field with 1.6 us; 120 bits a symbol of 14.4 us; 22 + 8 x 180 bits in 13.
        assert_eq!(airtime(&part, 180).as_nanos(), 48_000 + 13 * 14_400);
    }

    #[test]
    fn wide_channels_split_the_users_over_two_content_channels() {
        let v = alone(Generation::Ax, 0, Width::Mhz80);
        let shared = Shared::of([&v; 16].into_iter());
        // 17 + 10, 8 x 21 and 4 x 10 bits: 235 in 10 symbols of 26.
        assert_eq!(
            signalling_symbols(rules(&v, ResourceUnit::Tones52).unwrap(), &v, shared),
            Some(10)
        );
        let v = alone(Generation::Be, 0, Width::Mhz80);
        // 35 + 10, 8 x 22 and 4 x 10 bits: 261 in 11 symbols.
        assert_eq!(
            signalling_symbols(rules(&v, ResourceUnit::Tones52).unwrap(), &v, shared),
            Some(11)
        );
    }

    #[test]
    fn other_formats_and_narrower_channels_have_none() {
        let of = |generation, width, unit| {
            let v = alone(generation, 0, width);
            shares(&v, unit, Shared::of([&v].into_iter())).is_some()
        };
        assert!(!of(Generation::Ac, Width::Mhz20, ResourceUnit::Tones26));
        assert!(!of(Generation::Ax, Width::Mhz20, ResourceUnit::Tones484));
        assert!(!of(Generation::Be, Width::Mhz160, ResourceUnit::Tones26));
        assert!(of(Generation::Be, Width::Mhz80, ResourceUnit::Tones26));
    }
}
