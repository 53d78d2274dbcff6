//! Voice quality by the E-model (ITU-T G.107) for G.711.
//!
//! R = 93.2 - Id - Ie,eff with the delay impairment in the linear form of R. G. Cole and
//! J. H. Rosenbluth, "Voice over IP Performance Monitoring", ACM SIGCOMM CCR 31(2), 2001, equation
//! (3), and Ie,eff = Ie + (95 - Ie) Ppl / (Ppl + Bpl) of G.107 clause 7.5 with Ie = 0 and
//! Bpl = 25.1 (G.711 with packet loss concealment, G.113 table I.4); the mean opinion score is
//! that of G.107 annex B.

/// Mean opinion score, 1 to 4.5, for a mouth-to-ear delay in s and a share of packets lost.
pub(crate) fn opinion_score(delay_s: f64, lost: f64) -> f64 {
    let ms = delay_s * 1e3;
    let late = if ms > 177.3 { 0.11 * (ms - 177.3) } else { 0.0 };
    let delay = 0.024 * ms + late;
    let percent = lost * 100.0;
    let equipment = 95.0 * percent / (percent + 25.1);
    let r = 93.2 - delay - equipment;
    if r <= 0.0 {
        return 1.0;
    }
    if r >= 100.0 {
        return 4.5;
    }
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_fall_with_delay_and_loss() {
        // R = 93.2 gives 4.41 (G.107 default values).
        assert!((opinion_score(0.0, 0.0) - 4.41).abs() < 0.01);
        assert!(opinion_score(0.05, 0.0) > opinion_score(0.25, 0.0));
        assert!(opinion_score(0.05, 0.0) > opinion_score(0.05, 0.03));
        assert!((opinion_score(10.0, 1.0) - 1.0).abs() < 1e-12);
    }
}
