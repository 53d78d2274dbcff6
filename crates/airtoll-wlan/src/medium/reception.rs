//! How a frame reaches a node: overlap, capture and frame errors.

use airtoll_phy::{self as phy, TxVector};

use super::{Medium, Transmission};
use crate::id::{ModeId, RadioId};

/// How a frame reached a node that did not lose it altogether.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reception {
    /// Alone on the air.
    Clear,
    /// Over others: the linear ratio of its power to theirs and the noise's.
    Over(f64),
}

impl Medium {
    /// How a transmission reached a node; `None` if overlapping frames destroyed it.
    #[inline]
    pub fn reception(&self, t: &Transmission, at: RadioId) -> Option<Reception> {
        let (sent_from, sent_to) = self.nodes[at].last_sent;
        if sent_from < t.end && sent_to > t.start {
            return None;
        }
        if !t.overlapped {
            return Some(Reception::Clear);
        }
        self.reception_in_overlap(t, at)
    }

    #[cold]
    fn reception_in_overlap(&self, t: &Transmission, at: RadioId) -> Option<Reception> {
        let clashes = self.clashes(t);
        let signal = self.radio.power(t.node, at);
        for &(other, start) in clashes {
            if !self.radio.hears(at, other) {
                continue;
            }
            let above = signal - self.radio.power(other, at);
            let captures = |margin: Option<f64>| margin.is_some_and(|db| above >= db);
            let survives = if start < t.start {
                // The receiver is receiving the earlier frame.
                captures(self.radio.frame_capture())
            } else if start == t.start {
                captures(self.radio.preamble_capture())
            } else {
                // It is receiving this frame; the ratio of powers decides.
                self.radio.preamble_capture().is_some() || captures(self.radio.frame_capture())
            };
            if !survives {
                return None;
            }
        }
        let interferers = clashes.iter().map(|c| c.0);
        Some(Reception::Over(self.radio.sinr(
            t.node,
            at,
            20e6,
            interferers,
        )))
    }

    /// Whether a data MPDU of `octets` arrives at `to`; `known` keeps the probability of the last
    /// (mode, octets) that was alone on the air.
    #[inline]
    pub fn data_arrives(
        &mut self,
        (from, to): (RadioId, RadioId),
        (mode, vector): (ModeId, &TxVector),
        octets: u32,
        reception: Reception,
        known: &mut (Option<ModeId>, u32, f64),
    ) -> bool {
        if !self.radio.frame_errors() {
            return true;
        }
        let probability = match reception {
            Reception::Clear if known.0 == Some(mode) && known.1 == octets => known.2,
            Reception::Clear => {
                let bandwidth = f64::from(vector.width().mhz()) * 1e6;
                let snr = self.radio.sinr(from, to, bandwidth, std::iter::empty());
                let p = phy::frame_success(vector, snr, octets) * phy::header_success(vector, snr);
                *known = (Some(mode), octets, p);
                p
            }
            Reception::Over(sinr) => {
                phy::frame_success(vector, sinr, octets) * phy::header_success(vector, sinr)
            }
        };
        self.happens(probability)
    }

    /// Whether a control or management frame of `octets` arrives at `to`.
    pub fn control_arrives(
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
        let probability = match reception {
            Reception::Clear => self.radio.control_success(t.node, to, vector, octets),
            Reception::Over(sinr) => {
                phy::frame_success(vector, sinr, octets) * phy::header_success(vector, sinr)
            }
        };
        self.happens(probability)
    }

    #[inline]
    fn happens(&mut self, probability: f64) -> bool {
        // Nothing is drawn for a link that loses practically no frame.
        probability > 1.0 - 1e-9 || self.noise.unit() < probability
    }
}
