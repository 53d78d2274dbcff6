//! The air: transmissions begin and end, overlap, and arrive or not.

use airtoll_phy::{self as phy, TxVector};
use airtoll_units::{Duration, Instant};

use crate::event::Event;
use crate::mac::exchange::Reception;
use crate::medium::channel::{FrameKind, Gap, Transmission};
use crate::world::World;

impl World {
    /// A node begins to transmit a frame that belongs to the exchange of `contender` and reserves
    /// the medium for `protects` after its end.
    pub(crate) fn transmit(
        &mut self,
        contender: u32,
        node: u32,
        kind: FrameKind,
        length: Duration,
        protects: Duration,
    ) {
        let now = self.stack.lower.cx.events.now();
        let id = self.stack.lower.mac.contenders[contender as usize].channel;
        self.book(id);
        let channel = &mut self.stack.lower.medium.channels[id as usize];
        channel.gap = Gap::Open;
        let end = now + length;
        let this = channel.new_transmission(Transmission {
            node,
            contender,
            kind,
            start: now,
            end,
            protects,
            clashes: Vec::new(),
            alone: Duration::ZERO,
        });
        for &other in &channel.active {
            let (other_node, other_start) = {
                let o = &mut channel.transmissions[other as usize];
                o.clashes.push((node, now));
                (o.node, o.start)
            };
            channel.transmissions[this as usize]
                .clashes
                .push((other_node, other_start));
        }
        channel.active.push(this);
        let state = &mut self.stack.lower.medium.nodes[node as usize];
        state.last_sent = (now, end);
        state.engaged_until = state.engaged_until.max(end);
        self.stack.lower.cx.observers.nodes[node as usize].transmit_time += length;
        channel.become_busy(now, &state.ears, &mut self.stack.lower.mac.contenders);
        self.stack.lower.cx.events.schedule(
            end,
            Event::FrameEnd {
                channel: id,
                transmission: this,
            },
        );
        self.trace("frame", [u64::from(node), kind as u64, length.as_nanos()]);
    }

    /// A transmission ends: the medium may become idle, and its exchange goes on or fails.
    pub(crate) fn frame_end(&mut self, id: u32, transmission: u32) {
        let now = self.stack.lower.cx.events.now();
        self.book(id);
        let channel = &mut self.stack.lower.medium.channels[id as usize];
        channel.active.retain(|t| *t != transmission);
        let mut t = Transmission {
            clashes: std::mem::take(&mut channel.transmissions[transmission as usize].clashes),
            ..channel.transmissions[transmission as usize]
        };
        if t.kind == FrameKind::Rts {
            let link = self.stack.lower.mac.exchanges[t.contender as usize].link;
            self.stack.lower.mac.earlier_nav =
                self.nav_of(self.stack.lower.mac.links[link as usize].peer);
        }
        let channel = &mut self.stack.lower.medium.channels[id as usize];
        let ears = &self.stack.lower.medium.nodes[t.node as usize].ears;
        for &ear in ears {
            let nav = if t.clashes.is_empty() {
                now + t.protects
            } else {
                reserved(
                    &t,
                    now,
                    ear,
                    channel.eifs_extra,
                    &self.stack.lower.medium.nodes,
                )
            };
            channel.become_idle(now, ear, nav, &mut self.stack.lower.mac.contenders);
        }
        let clashes = std::mem::take(&mut t.clashes);
        if self.recorder.is_some() {
            self.record_transmission(&t, &clashes);
        }
        let reception = |world: &Self, at: u32| world.reception(&t, &clashes, at);
        self.sent(t.contender, t.kind, &reception, t.alone);
        let channel = &mut self.stack.lower.medium.channels[id as usize];
        channel.transmissions[transmission as usize].clashes = clashes;
        channel.free.push(transmission);
    }

    /// Books a transmission that the end of the trial cut off.
    pub(crate) fn book_unfinished(&mut self, t: &Transmission) {
        match t.kind {
            FrameKind::Beacon | FrameKind::Group => {
                self.stack.lower.cx.observers.ledger.management += t.alone
            }
            FrameKind::Rts | FrameKind::Cts | FrameKind::CtsToSelf => {
                self.stack.lower.cx.observers.ledger.protection += t.alone;
            }
            FrameKind::Response | FrameKind::BlockAckReq => {
                self.stack.lower.cx.observers.ledger.ack += t.alone
            }
            // Whether its octets arrive is not known.
            FrameKind::Data => self.stack.lower.cx.observers.ledger.mac_phy += t.alone,
        }
    }

    /// How a transmission reached a node; `None` if overlapping frames destroyed it.
    pub(crate) fn reception(
        &self,
        t: &Transmission,
        clashes: &[(u32, Instant)],
        at: u32,
    ) -> Option<Reception> {
        let (sent_from, sent_to) = self.stack.lower.medium.nodes[at as usize].last_sent;
        if sent_from < t.end && sent_to > t.start {
            return None;
        }
        if clashes.is_empty() {
            return Some(Reception::Clear);
        }
        let signal = self.stack.lower.medium.radio.power(t.node, at);
        for &(other, start) in clashes {
            if !self.stack.lower.medium.radio.hears(at, other) {
                continue;
            }
            let above = signal - self.stack.lower.medium.radio.power(other, at);
            let captures = |margin: Option<f64>| margin.is_some_and(|db| above >= db);
            let survives = if start < t.start {
                // The receiver is at work on the earlier frame.
                captures(self.stack.lower.medium.radio.frame_capture)
            } else if start == t.start {
                captures(self.stack.lower.medium.radio.preamble_capture)
            } else {
                // It is at work on this frame; the rest is a matter of power.
                self.stack.lower.medium.radio.preamble_capture.is_some()
                    || captures(self.stack.lower.medium.radio.frame_capture)
            };
            if !survives {
                return None;
            }
        }
        let interferers: Vec<u32> = clashes.iter().map(|c| c.0).collect();
        Some(Reception::Over(self.stack.lower.medium.radio.sinr(
            t.node,
            at,
            20e6,
            &interferers,
        )))
    }

    /// Whether an MPDU of `octets` arrives on a link that was sent with `mode`.
    pub(crate) fn data_arrives(
        &mut self,
        link: u32,
        mode: u32,
        octets: u32,
        reception: Reception,
    ) -> bool {
        if !self.stack.lower.medium.radio.frame_errors {
            return true;
        }
        let state = &self.stack.lower.mac.links[link as usize];
        let vector = &self.stack.lower.mac.modes[mode as usize].vector;
        let probability = match reception {
            Reception::Clear if state.success.0 == mode && state.success.1 == octets => {
                state.success.2
            }
            Reception::Clear => {
                let bandwidth = f64::from(vector.width().mhz()) * 1e6;
                let snr =
                    self.stack
                        .lower
                        .medium
                        .radio
                        .sinr(state.from, state.peer, bandwidth, &[]);
                let p = phy::frame_success(vector, snr, octets) * phy::header_success(vector, snr);
                self.stack.lower.mac.links[link as usize].success = (mode, octets, p);
                p
            }
            Reception::Over(sinr) => {
                phy::frame_success(vector, sinr, octets) * phy::header_success(vector, sinr)
            }
        };
        self.happens(probability)
    }

    /// Whether a control frame arrives.
    pub(crate) fn control_arrives(
        &mut self,
        from: u32,
        to: u32,
        vector: &TxVector,
        octets: u32,
        reception: Reception,
    ) -> bool {
        if !self.stack.lower.medium.radio.frame_errors {
            return true;
        }
        let probability = match reception {
            Reception::Clear => self
                .stack
                .lower
                .medium
                .radio
                .control_success(from, to, vector, octets),
            Reception::Over(sinr) => {
                phy::frame_success(vector, sinr, octets) * phy::header_success(vector, sinr)
            }
        };
        self.happens(probability)
    }

    #[inline]
    fn happens(&mut self, probability: f64) -> bool {
        // Nothing is drawn for a link that is as good as perfect.
        probability > 1.0 - 1e-9 || self.stack.lower.medium.noise.unit() < probability
    }

    /// Until when a node's virtual carrier sense keeps it silent.
    pub(crate) fn nav_of(&self, node: u32) -> Instant {
        let state = &self.stack.lower.medium.nodes[node as usize];
        self.stack.lower.medium.channels[state.channel as usize].classes[state.class as usize]
            .reference
    }
}

/// From when a class may count after a frame that others overlapped.
///
/// Whoever heard none of the others decoded it and honours its duration field. Whoever had decoded
/// its header when the next one came waits EIFS (10.3.2.3.7). Frames that began together leave no
/// header to decode, and DIFS is enough.
fn reserved(
    t: &Transmission,
    now: Instant,
    ear: u32,
    eifs_extra: Duration,
    nodes: &[super::Node],
) -> Instant {
    let mut heard = t
        .clashes
        .iter()
        .filter(|(other, _)| nodes[*other as usize].ears.contains(&ear))
        .map(|(_, start)| *start)
        .peekable();
    if heard.peek().is_none() {
        now + t.protects
    } else if heard.all(|start| start > t.start) {
        now + eifs_extra
    } else {
        now
    }
}
