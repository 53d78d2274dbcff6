//! How a frame reaches a node: overlap, capture and frame errors.

use airtoll_phy::{self as phy, TxVector};
use airtoll_units::{Instant, Span};

use super::radio::{Power, Sensing};
use super::selective::Spectrum;
use super::spatial_reuse::COLOR_READ;
use super::{Clash, Medium, Transmission};
use crate::id::{Ends, ModeId, RadioId};

/// How a frame reached a node that did not lose it altogether.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reception {
    /// Alone on the air.
    Clear,
    /// Over interferers of so many milliwatts, and no other frame.
    Amid(f64),
    /// With less power than its sender's own, over interferers and no other frame.
    Lowered(f64),
    /// Over others: the linear ratio of its power to theirs and the noise's.
    Over(f64),
}

/// How a data frame is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sent<'m> {
    pub mode: ModeId,
    /// The vector of the mode.
    pub vector: &'m TxVector,
    /// The part of the channel that it occupies.
    pub spectrum: Spectrum,
}

/// Probabilities that frames of a pair of radios arrive where nothing overlaps them: those of its last few
/// modes and lengths. Fragments, acknowledgments and data of one link have different lengths.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct KnownSuccess {
    known: [(Option<(ModeId, u32)>, f64); Self::KEPT],
    /// Which one was asked for last.
    last: usize,
}

impl KnownSuccess {
    const KEPT: usize = 4;

    #[inline]
    fn of(&mut self, mode: ModeId, octets: u32, compute: impl FnOnce() -> f64) -> f64 {
        let key = Some((mode, octets));
        let (last, probability) = self.known[self.last % Self::KEPT];
        if last == key {
            return probability;
        }
        self.other(key, compute)
    }

    #[inline(never)]
    fn other(&mut self, key: Option<(ModeId, u32)>, compute: impl FnOnce() -> f64) -> f64 {
        let found = self.known.iter().position(|(other, _)| *other == key);
        self.last = found.unwrap_or((self.last + 1) % Self::KEPT);
        let place = &mut self.known[self.last];
        if found.is_none() {
            *place = (key, compute());
        }
        place.1
    }
}

impl Medium {
    /// How a transmission reached a node; `None` if overlapping frames destroyed it.
    #[inline(always)]
    pub fn reception(&self, t: &Transmission, at: RadioId) -> Option<Reception> {
        if self.transmits_beside(t, at) {
            return None;
        }
        if !t.overlapped {
            return Some(self.without_frames(t, t.span()));
        }
        self.reception_in_overlap(t, at, t.end, t.span())
    }

    /// How a part of a transmission reached a node that no other frame overlapped.
    #[inline(always)]
    fn without_frames(&self, t: &Transmission, span: Span) -> Reception {
        if t.mark.power == Power::Reduced {
            return self.lowered(t, span);
        }
        if self.interference.is_empty() {
            return Reception::Clear;
        }
        match self.interferers(t, span) {
            0.0 => Reception::Clear,
            power => Reception::Amid(power),
        }
    }

    #[cold]
    #[inline(never)]
    fn lowered(&self, t: &Transmission, span: Span) -> Reception {
        Reception::Lowered(self.interferers(t, span))
    }

    /// Power of the interferers that a part of a transmission meets, milliwatts.
    fn interferers(&self, t: &Transmission, span: Span) -> f64 {
        self.interference.power(self.channel_of(t.node), span)
    }

    /// Whether another frame or an interferer overlapped a transmission so far.
    #[inline]
    pub fn is_disturbed(&self, t: &Transmission) -> bool {
        t.overlapped || (!self.interference.is_empty() && self.interferers(t, t.span()) > 0.0)
    }

    /// Whether no part of a transmission reaches a node, whatever its MPDUs meet: the node transmitted
    /// itself, or a frame that began before the end of the PHY header destroyed it.
    pub fn is_lost_whole(&self, t: &Transmission, at: RadioId, vector: &TxVector) -> bool {
        let header_end = t.start + phy::preamble(vector);
        let at_start = Span {
            from: t.start,
            to: t.start,
        };
        self.transmits_beside(t, at)
            || (t.overlapped && !self.survives(t, at, header_end, at_start))
    }

    /// How an MPDU of an A-MPDU reached a node, by its octets in the PSDU. A frame that begins after the PHY header destroys the MPDUs that it overlaps,
    /// and no others.
    #[cold]
    pub fn mpdu_reception(
        &self,
        t: &Transmission,
        at: RadioId,
        vector: &TxVector,
        octets: phy::OctetSpan,
    ) -> Option<Reception> {
        if self.transmits_beside(t, at) {
            return None;
        }
        let time = phy::octets_on_air(vector, octets);
        let span = Span {
            from: t.start + time.from,
            to: t.start + time.to,
        };
        let header_end = t.start + phy::preamble(vector);
        self.reception_in_overlap(t, at, header_end, span)
    }

    /// Whether a node transmitted during a transmission of another.
    #[inline]
    fn transmits_beside(&self, t: &Transmission, node: RadioId) -> bool {
        let own = self.nodes[node].last_sent;
        own.from < t.end && own.to > t.start
    }

    /// Whether a node transmitted when a frame began, so that it did not detect it.
    fn missed_while_sending(&self, node: RadioId, start: Instant) -> bool {
        let own = self.nodes[node].last_sent;
        own.from <= start && start < own.to
    }

    /// How the part of a transmission between two instants reached a node. A frame that began before
    /// `header_end` decides on all parts.
    #[cold]
    fn reception_in_overlap(
        &self,
        t: &Transmission,
        at: RadioId,
        header_end: Instant,
        part: Span,
    ) -> Option<Reception> {
        if !self.survives(t, at, header_end, part) {
            return None;
        }
        let meets = |clash: &Clash| clash.start < part.to && clash.end > part.from;
        let mut interferers = self
            .clashes(t)
            .filter(|c| meets(c))
            .map(|c| (c.node, c.mark.power))
            .peekable();
        let header = Span {
            from: t.start,
            to: header_end,
        };
        let mut span = part;
        if self.interferers(t, header) > 0.0 {
            // The header decides on all parts.
            span.from = t.start;
        }
        if self.widths.is_some() {
            return Some(self.reception_by_width(t, at, part, span));
        }
        if interferers.peek().is_none() {
            return Some(self.without_frames(t, span));
        }
        let power = self.radio.interference(at, interferers) + self.interferers(t, span);
        let sinr = self.radio.sinr(t.node, at, 20e6, power);
        let lowered = self.radio.reduction(t.node, t.mark.power);
        Some(Reception::Over(sinr * share_of(lowered)))
    }

    /// The same where channels overlap in part, of a transmission that was not destroyed: frames count that
    /// overlap `part`, and interferers that meet `span`.
    fn reception_by_width(
        &self,
        t: &Transmission,
        at: RadioId,
        part: Span,
        span: Span,
    ) -> Reception {
        let Some(widths) = &self.widths else {
            return self.without_frames(t, span);
        };
        let meets = |clash: &&Clash| clash.start < part.to && clash.end > part.from;
        let others = self.clashes(t).filter(meets).map(|clash| {
            let weight = widths.weight((t.node, t.mark), (clash.node, clash.mark));
            (clash.node, weight)
        });
        let frames = self.radio.weighted_interference(at, others);
        if frames == 0.0 {
            return self.without_frames(t, span);
        }
        let bandwidth_hz = if t.mark.copies {
            20e6
        } else {
            widths.block(t.node, t.mark).hertz()
        };
        let power = frames + self.interferers(t, span);
        Reception::Over(self.radio.sinr(t.node, at, bandwidth_hz, power))
    }

    /// Whether a node captured a transmission over each frame that began before `header_end` or
    /// overlapped the part between two instants.
    fn survives(&self, t: &Transmission, at: RadioId, header_end: Instant, part: Span) -> bool {
        let level = |node, power| self.radio.power(node, at) - self.radio.reduction(node, power);
        let meets = |clash: &Clash| clash.start < part.to && clash.end > part.from;
        for clash in self.clashes(t) {
            let (other, start) = (clash.node, clash.start);
            let matters = start < header_end || meets(clash);
            let sensing = if self.reuse.is_some() {
                self.radio.sensing(at, other, clash.mark.power)
            } else if self.widths.is_some() {
                self.radio.senses_frame(at, other, clash.mark.step)
            } else if self.radio.hears(at, other) {
                Sensing::Whole
            } else {
                Sensing::Nothing
            };
            if !matters || sensing == Sensing::Nothing {
                continue;
            }
            // Most radios capture nothing, so that no levels matter.
            let above = || {
                let above = level(t.node, t.mark.power) - level(other, clash.mark.power);
                let Some(widths) = &self.widths else {
                    return above;
                };
                let weight = widths.weight((t.node, t.mark), (other, clash.mark));
                above - 10.0 * libm::log10(weight)
            };
            let captures = |margin: Option<f64>| margin.is_some_and(|db| above() >= db);
            let survives = if sensing == Sensing::UpToColor {
                // It ends the reception of such a frame once it knows the color.
                let received_to = if clash.mark.colored {
                    start + COLOR_READ
                } else {
                    clash.end
                };
                start >= t.start
                    || received_to <= t.start
                    || self.missed_while_sending(at, start)
                    || captures(self.radio.frame_capture())
            } else if start < t.start {
                // The receiver is receiving the earlier frame.
                captures(self.radio.frame_capture())
            } else if start == t.start {
                captures(self.radio.preamble_capture())
            } else {
                // It is receiving this frame; the ratio of powers decides.
                self.radio.preamble_capture().is_some() || captures(self.radio.frame_capture())
            };
            if !survives {
                return false;
            }
        }
        true
    }

    /// Whether a data MPDU of `octets` arrives; `known` keeps the probabilities of frames that were
    /// alone on the air.
    #[inline(always)]
    pub fn data_arrives(
        &mut self,
        ends: Ends<RadioId>,
        Sent {
            mode,
            vector,
            spectrum,
        }: Sent<'_>,
        octets: u32,
        (reception, at): (Reception, Instant),
        known: &mut KnownSuccess,
    ) -> bool {
        if !self.radio.frame_errors() {
            return true;
        }
        if self.fading.is_some() {
            return self.arrives_faded(ends, (vector, octets), spectrum, (reception, at));
        }
        let probability = match reception {
            Reception::Clear => known.of(mode, octets, || {
                let bandwidth = f64::from(vector.width().mhz()) * 1e6;
                let snr = self.radio.sinr(ends.from, ends.to, bandwidth, 0.0);
                phy::frame_success(vector, snr, octets) * phy::header_success(vector, snr)
            }),
            over => {
                let bandwidth = f64::from(vector.width().mhz()) * 1e6;
                self.success_over(ends, (vector, octets), bandwidth, over)
            }
        };
        self.happens(probability)
    }

    /// Probability that a frame arrives that was not alone on the air at its sender's own power.
    #[cold]
    #[inline(never)]
    fn success_over(
        &self,
        ends: Ends<RadioId>,
        (vector, octets): (&TxVector, u32),
        bandwidth_hz: f64,
        reception: Reception,
    ) -> f64 {
        let sinr = self.mean_sinr(ends, bandwidth_hz, reception);
        phy::frame_success(vector, sinr, octets) * phy::header_success(vector, sinr)
    }

    /// Signal-to-noise ratio of a frame without fading, linear.
    fn mean_sinr(&self, ends: Ends<RadioId>, bandwidth_hz: f64, reception: Reception) -> f64 {
        let over = |power| self.radio.sinr(ends.from, ends.to, bandwidth_hz, power);
        match reception {
            Reception::Clear => over(0.0),
            Reception::Amid(power) => over(power),
            Reception::Lowered(power) => {
                over(power) * share_of(self.radio.reduction(ends.from, Power::Reduced))
            }
            Reception::Over(sinr) => sinr,
        }
    }

    /// Whether a control or management frame of `octets` arrives at `to`.
    #[inline(never)]
    pub fn control_arrives(
        &mut self,
        t: &Transmission,
        to: RadioId,
        vector: &TxVector,
        octets: u32,
    ) -> bool {
        self.response_arrives(t, to, vector, octets)
    }

    /// The same on the way of an exchange.
    #[inline(always)]
    pub fn response_arrives(
        &mut self,
        t: &Transmission,
        to: RadioId,
        vector: &TxVector,
        octets: u32,
    ) -> bool {
        let Some(reception) = self.reception(t, to) else {
            return false;
        };
        if !self.radio.frame_errors() {
            return true;
        }
        let ends = Ends { from: t.node, to };
        if self.fading.is_some() {
            let what = (vector, octets);
            return self.arrives_faded(ends, what, Spectrum::Primary, (reception, t.end));
        }
        let probability = match reception {
            Reception::Clear => self.radio.control_success(t.node, to, vector, octets),
            over => self.success_over(ends, (vector, octets), 20e6, over),
        };
        self.happens(probability)
    }

    /// Whether a frame arrives with the gains that the pair of radios has at the end of the frame. The
    /// frames that overlap it keep their mean levels.
    #[cold]
    fn arrives_faded(
        &mut self,
        ends: Ends<RadioId>,
        (vector, octets): (&TxVector, u32),
        spectrum: Spectrum,
        (reception, at): (Reception, Instant),
    ) -> bool {
        let bandwidth_hz = match spectrum {
            Spectrum::Primary => 20e6,
            _ => f64::from(vector.width().mhz()) * 1e6,
        };
        let mean = self.mean_sinr(ends, bandwidth_hz, reception);
        let fading = self.fading.as_mut();
        let Some(faded) = fading.map(|fading| fading.snr(ends, at, mean, (vector, spectrum)))
        else {
            return false;
        };
        let data = phy::frame_success(vector, faded.data, octets);
        self.happens(data * phy::header_success(vector, faded.header))
    }

    #[inline]
    fn happens(&mut self, probability: f64) -> bool {
        // Nothing is drawn for a link that loses practically no frame.
        probability > 1.0 - 1e-9 || self.noise.unit() < probability
    }
}

/// The linear share of a power that is lower by so many dB.
fn share_of(lowered_db: f64) -> f64 {
    if lowered_db == 0.0 {
        1.0
    } else {
        libm::pow(10.0, -lowered_db / 10.0)
    }
}
