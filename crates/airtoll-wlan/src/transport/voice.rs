//! Voice over IP: the quality of a call after delay and loss (ITU-T G.107).
//!
//! Takes one-way delay and loss; gives the transmission rating R and the mean opinion score. Never models echo, noise or the listener beyond the recommendation's defaults.

/// A codec's behaviour under loss (ITU-T G.113 appendix I, table I.4).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodecImpairment {
    /// Equipment impairment factor Ie without loss.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl.
    pub robustness: f64,
}

/// G.711 without loss concealment: Ie 0, Bpl 4.3.
pub const G711: CodecImpairment = CodecImpairment {
    equipment: 0.0,
    robustness: 4.3,
};

/// G.711 with the concealment of its appendix I: Ie 0, Bpl 25.1.
pub const G711_CONCEALED: CodecImpairment = CodecImpairment {
    equipment: 0.0,
    robustness: 25.1,
};

/// Basic rating less simultaneous impairment with every parameter at its default, Ro - Is: 93.2 (G.107 table 2
/// and section 7.7).
const DEFAULT_RATING: f64 = 93.2;

/// Transmission rating R from mouth-to-ear delay in seconds and random packet loss in parts (0 to 1):
/// R = 93.2 - Idd - Ie,eff (G.107 equation 7-1), echo perfectly cancelled (Idte = Idle = 0), advantage factor 0.
/// Delay means everything: packetisation, network and play-out buffer.
pub fn transmission_rating(delay_s: f64, loss: f64, codec: CodecImpairment) -> f64 {
    let percent = 100.0 * loss.clamp(0.0, 1.0);
    // Equation 7-29 with a burst ratio of 1.
    let effective =
        codec.equipment + (95.0 - codec.equipment) * percent / (percent + codec.robustness);
    DEFAULT_RATING - delay_impairment(delay_s) - effective
}

/// Transmission rating R of a call behind the play-out buffer that suits it best: every packet is played
/// that long after it was recorded, and one that comes later is lost. That is what an adaptive buffer strives
/// for; no call is rated better than it can be played.
///
/// `speech_s`: speech in one packet, which is recorded before it is sent. `delays`: delays of packets,
/// seconds, upwards, each with the number of packets that came within it. `sent`: all packets of the call.
pub fn played_rating(
    speech_s: f64,
    delays: impl Iterator<Item = (f64, u64)>,
    sent: u64,
    codec: CodecImpairment,
) -> f64 {
    delays
        .map(|(delay_s, in_time)| {
            let lost = 1.0 - in_time as f64 / sent as f64;
            transmission_rating(speech_s + delay_s, lost, codec)
        })
        .fold(transmission_rating(speech_s, 1.0, codec), f64::max)
}

/// Mean opinion score, 1 to 4.5, estimated from R (G.107 annex B).
pub fn mean_opinion_score(rating: f64) -> f64 {
    if rating <= 0.0 {
        1.0
    } else if rating >= 100.0 {
        4.5
    } else {
        let score = 1.0 + 0.035 * rating + rating * (rating - 60.0) * (100.0 - rating) * 7e-6;
        // The cubic dips below 1 for ratings up to 6.5.
        score.max(1.0)
    }
}

/// Impairment Idd by too long an absolute delay (G.107 equations 7-27 and 7-28, default delay
/// sensitivity: sT = 1, mT = 100 ms).
fn delay_impairment(delay_s: f64) -> f64 {
    let milliseconds = delay_s * 1e3;
    if milliseconds <= 100.0 {
        return 0.0;
    }
    let x = libm::log2(milliseconds / 100.0);
    let sixth = |base: f64| libm::pow(1.0 + libm::pow(base, 6.0), 1.0 / 6.0);
    25.0 * (sixth(x) - 3.0 * sixth(x / 3.0) + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_give_the_printed_rating_and_score() {
        // G.107 section 7.7: R = 93.2 with all defaults, MOS 4.41.
        let best = transmission_rating(0.0, 0.0, G711);
        assert!((best - 93.2).abs() < 1e-12);
        assert!((mean_opinion_score(best) - 4.41).abs() < 0.005);
        // Annex B, table B.1: R 90, 80, 70, 60 and 50 are MOS 4.34, 4.03, 3.60, 3.10 and 2.58.
        for (rating, score) in [
            (90.0, 4.34),
            (80.0, 4.03),
            (70.0, 3.60),
            (60.0, 3.10),
            (50.0, 2.58),
        ] {
            assert!(
                (mean_opinion_score(rating) - score).abs() < 0.01,
                "{rating}"
            );
        }
    }

    #[test]
    fn delay_costs_nothing_to_100_ms_and_grows_fast_beyond_200() {
        let at = |ms: f64| transmission_rating(ms / 1e3, 0.0, G711);
        assert_eq!(at(100.0), at(0.0));
        assert!(at(0.0) - at(150.0) < 1.0);
        // At 400 ms x = 2: 25 (65^(1/6) - 3 (1 + (2/3)^6)^(1/6) + 2).
        let expected = 25.0
            * (65f64.powf(1.0 / 6.0) - 3.0 * (1.0 + (2f64 / 3.0).powi(6)).powf(1.0 / 6.0) + 2.0);
        assert!((at(0.0) - at(400.0) - expected).abs() < 1e-9);
        assert!(expected > 20.0);
    }

    #[test]
    fn what_comes_too_late_is_lost_unless_waiting_is_better() {
        let rate = |delays: &[(f64, u64)], sent| {
            played_rating(0.02, delays.iter().copied(), sent, G711_CONCEALED)
        };
        let alone = transmission_rating(0.03, 0.0, G711_CONCEALED);
        assert_eq!(rate(&[(0.01, 100)], 100), alone);
        // Two of a hundred come after 900 ms: it is better to do without them.
        let without = transmission_rating(0.03, 0.02, G711_CONCEALED);
        assert!((rate(&[(0.01, 98), (0.9, 100)], 100) - without).abs() < 1e-9);
        // Within 60 ms waiting costs nothing (below 100 ms in all).
        assert_eq!(rate(&[(0.01, 98), (0.06, 100)], 100), alone);
        // Half of them late by 150 ms: better wait.
        let waited = transmission_rating(0.17, 0.0, G711_CONCEALED);
        assert_eq!(rate(&[(0.01, 50), (0.15, 100)], 100), waited);
        assert_eq!(
            rate(&[], 100),
            transmission_rating(0.02, 1.0, G711_CONCEALED)
        );
    }

    #[test]
    fn more_loss_or_delay_is_never_better_and_concealment_never_worse() {
        let mut last = f64::INFINITY;
        for step in 0..100 {
            let s = f64::from(step);
            let rating = transmission_rating(s * 0.01, s * 0.01, G711);
            assert!(rating <= last);
            assert!(transmission_rating(s * 0.01, s * 0.01, G711_CONCEALED) >= rating);
            let score = mean_opinion_score(rating);
            assert!((1.0..=4.5).contains(&score));
            last = rating;
        }
        // One lost packet in a hundred without concealment costs 95 / 5.3.
        let one = transmission_rating(0.0, 0.01, G711);
        assert!((93.2 - one - 95.0 / 5.3).abs() < 1e-9);
    }
}
