//! Contents of one PPDU: single MPDUs, A-MSDUs and A-MPDUs (IEEE 802.11-2020 clauses 9.3.2.2, 9.7
//! and 10.12).

use airtoll_phy as phy;
use airtoll_units::Duration;

use super::link::{Agreement, HandUp, Held, Mpdu, Request, Way};
use super::{Mac, Medium};
use crate::context::Context;
use crate::id::{ContenderId, FlowId, LinkId, ModeId, PacketId};
use crate::observe::ledger::Octets;
use crate::packet::{Carries, Packet};

/// A-MSDU subframe header (9.3.2.2.2).
const SUBFRAME_HEADER: u32 = 14;
/// MPDU delimiter (9.7.1).
const DELIMITER: u32 = 4;

/// Result of filling a PPDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fill {
    /// The PPDU is ready.
    Ready,
    /// Expired packets were dropped: fill again once the drops have been carried out.
    Dropped,
    /// There is nothing to send.
    Empty,
}

/// Content of a PPDU.
#[derive(Debug, Clone, Copy)]
pub(super) struct PpduContent {
    pub mpdus: u32,
    /// Octets of the PSDU.
    pub psdu: u32,
}

/// A link that was chosen for a PPDU before expired packets were dropped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    link: LinkId,
    /// Its BlockAckReq was considered.
    asked: bool,
}

impl Mac {
    /// Chooses the frames of the next PPDU of a contender and marks them.
    #[inline]
    pub(super) fn fill(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        contender: ContenderId,
        room: Option<Duration>,
    ) -> Fill {
        let now = cx.now();
        loop {
            let pending = self.exchanges[contender].take_pending();
            let link = match pending {
                Some(pending) => pending.link,
                None => match self.choose_link(contender) {
                    Some(link) => link,
                    None => return Fill::Empty,
                },
            };
            // Packets that expired since a packet last came or left are noticed only now, and a
            // BlockAckReq that this makes due goes after the next data.
            let refills = pending.is_none() && self.kept_full(link);
            if refills && self.discard_expired(cx, contender, link, now) {
                let pending = Pending { link, asked: false };
                self.exchanges[contender].keep_pending(pending);
                return Fill::Dropped;
            }
            if !pending.is_some_and(|p| p.asked) {
                if self.links[link].request == Request::Due && self.ask_again(contender, link) {
                    return Fill::Ready;
                }
                if !refills && self.discard_expired(cx, contender, link, now) {
                    let pending = Pending { link, asked: true };
                    self.exchanges[contender].keep_pending(pending);
                    return Fill::Dropped;
                }
            }
            if self.fill_from(cx, medium, (contender, link), room) {
                return Fill::Ready;
            }
            if self.queues[self.home_of(contender)].packets == 0 {
                return Fill::Empty;
            }
        }
    }

    /// Prepares a BlockAckReq (10.25.6.3) instead of data where one is due.
    #[cold]
    fn ask_again(&mut self, contender: ContenderId, link: LinkId) -> bool {
        let from = self.contenders[contender].node;
        let state = &mut self.links[link];
        if state.request == Request::NotDue {
            return false;
        }
        let way = state.way_of(from).unwrap_or(Way::FIRST);
        // One radio alone asks.
        if state.has_several_ways() {
            state.request = Request::NotDue;
        }
        let mut mode_id = state.rate_of(way).choose();
        if self.widths.is_some() {
            mode_id = self.within_txop(contender, mode_id);
        }
        let mode = (mode_id, &self.modes[mode_id]);
        self.exchanges[contender].prepare_request((link, way), mode);
        true
    }

    #[inline(always)]
    fn fill_from(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (contender, link): (ContenderId, LinkId),
        room: Option<Duration>,
    ) -> bool {
        let from = self.contenders[contender].node;
        let way = self.links[link].way_of(from).unwrap_or(Way::FIRST);
        let mut mode_id = self.links[link].rate_of(way).choose();
        if self.widths.is_some() {
            mode_id = self.within_txop(contender, mode_id);
        }
        let mode = &self.modes[mode_id];
        if !mode.aggregates() || self.links[link].degraded.lacks_agreement() {
            return self.fill_alone(cx, medium, (contender, link), (mode_id, way));
        }
        let spacing = self.links[link].spacing(mode);
        let mut octets_limit = mode.ampdu_limit();
        if let Some(room) = room {
            // A TXOP holds the response as well as the data and what protects them (10.23.2.9).
            let sifs = medium.sifs(medium.channel_of(from));
            let mut guard = mode.guard_time(sifs, octets_limit, self.links[link].rts_octets);
            if self.single_radios.is_some() {
                guard = guard.max(self.opening_time(sifs, contender, (link, way), mode));
            }
            let around = guard + sifs + mode.answer(true);
            let within = mode.octets_within(room.saturating_sub(around));
            octets_limit = octets_limit.min(within);
        }
        let limits = (octets_limit, spacing);
        self.fill_up_to(cx, medium, (contender, link), (mode_id, way), limits)
    }

    /// Chooses frames of a link for an A-MPDU of at most so many octets, or a longer one of a lone MPDU, with
    /// this spacing of MPDUs.
    #[inline(always)]
    pub(super) fn fill_up_to(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (contender, link): (ContenderId, LinkId),
        (mode_id, way): (ModeId, Way),
        (octets_limit, spacing): (u32, phy::MpduSpacing),
    ) -> bool {
        let window = self.modes[mode_id].most_mpdus();
        let lifetime = self.lifetime_of(contender);
        let mut count = 0_u32;
        // Length so far without what follows the last MPDU, and with it.
        let (mut octets, mut before) = (0_u32, 0_u32);
        let mut first = None;
        let mut at = 0;
        let mut left = 0_u32;
        loop {
            let state = &mut self.links[link];
            let next = state.next_sequence;
            let Some(mpdu) = state.window.get_mut(at) else {
                let front = state.window.front().map_or(next, |m| m.sequence);
                let full = next - front >= window;
                if full || !self.pop_mpdu(cx, (contender, link), mode_id, lifetime) {
                    break;
                }
                continue;
            };
            at += 1;
            if mpdu.acknowledged || mpdu.in_flight.is_some() {
                continue;
            }
            let with = before + DELIMITER + mpdu.octets;
            if count > 0 && with > octets_limit {
                break;
            }
            octets = with;
            before += spacing.subframe_octets(mpdu.octets);
            first.get_or_insert(mpdu.octets);
            mpdu.in_flight = Some(way);
            if std::mem::replace(&mut mpdu.waits, false) {
                left += u32::from(mpdu.msdus);
            }
            count += 1;
            if count == window {
                break;
            }
        }
        self.leave_order(contender, link, left);
        let Some(first) = first else {
            return false;
        };
        let follows = self.after_piece(medium, link, mode_id);
        let mode = &self.modes[mode_id];
        let psdu = if count > 1 {
            octets
        } else if mode.always_delimits() {
            first + DELIMITER
        } else {
            first
        };
        let at = (link, way);
        let content = PpduContent { mpdus: count, psdu };
        self.exchanges[contender].prepare_data(at, (mode_id, mode), content, follows);
        true
    }

    /// The same where the mode does not aggregate: the PPDU holds the first MPDU that is not
    /// acknowledged.
    fn fill_alone(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (contender, link): (ContenderId, LinkId),
        (mode_id, way): (ModeId, Way),
    ) -> bool {
        let window = &self.links[link].window;
        let at = match window.iter().position(|m| !m.acknowledged) {
            Some(at) => at,
            None if window.is_empty() => {
                let lifetime = self.lifetime_of(contender);
                if !self.pop_mpdu(cx, (contender, link), mode_id, lifetime) {
                    return false;
                }
                0
            }
            None => return false,
        };
        let Some(mpdu) = self.links[link].window.get_mut(at) else {
            return false;
        };
        let (octets, msdus) = (mpdu.octets, mpdu.msdus);
        mpdu.in_flight = Some(way);
        if std::mem::replace(&mut mpdu.waits, false) {
            self.leave_order(contender, link, u32::from(msdus));
        }
        let follows = self.after_piece(medium, link, mode_id);
        let mode = &self.modes[mode_id];
        let delimiter = if mode.always_delimits() { DELIMITER } else { 0 };
        let content = PpduContent {
            mpdus: 1,
            psdu: octets + delimiter,
        };
        self.exchanges[contender].prepare_data((link, way), (mode_id, mode), content, follows);
        true
    }

    /// Time from the end of the Ack of a lone MPDU to the end of the next fragment's Ack; zero
    /// where no fragment follows.
    #[inline(always)]
    fn after_piece(&self, medium: &Medium, link: LinkId, mode: ModeId) -> Duration {
        if self.links[link].division.piece == 0 {
            return Duration::ZERO;
        }
        self.after_piece_divided(medium, link, mode)
    }

    #[cold]
    #[inline(never)]
    fn after_piece_divided(&self, medium: &Medium, link: LinkId, mode: ModeId) -> Duration {
        let state = &self.links[link];
        let lone = state.window.iter().find(|m| m.in_flight.is_some());
        let Some((mpdu, pieces)) = lone.and_then(|m| Some((m, m.pieces?))) else {
            return Duration::ZERO;
        };
        if pieces.at + 1 == pieces.count || mpdu.acknowledged {
            return Duration::ZERO;
        }
        let (octets, _) = state.division.mpdu(&pieces, pieces.at + 1);
        let mode = &self.modes[mode];
        let sifs = medium.sifs(medium.channel_of(state.from));
        sifs + mode.airtime(octets) + sifs + mode.answer(false)
    }

    /// Chooses the next fragment of the MSDU that the contender is sending.
    #[inline(never)]
    pub(super) fn fill_next_piece(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        contender: ContenderId,
        link: LinkId,
    ) -> bool {
        self.fill_from(cx, medium, (contender, link), None)
    }

    /// Moves packets from a link's queue into a new MPDU at the end of its window.
    fn pop_mpdu(
        &mut self,
        cx: &mut Context,
        (contender, link): (ContenderId, LinkId),
        mode: ModeId,
        lifetime: Duration,
    ) -> bool {
        let now = cx.now();
        let Some(head) = self.take_packet(cx, (contender, link), lifetime) else {
            return false;
        };
        let p = &mut cx.packets[head];
        p.next = None;
        let kind = Kind::of(p.carries);
        let (reverse, ip_octets) = (p.reverse, p.ip_octets);
        let answered = !p.only_counted;
        let held = u16::from(std::mem::take(&mut p.held));
        let mut parts = Octets::default();
        kind.count(p, &mut parts);
        let body = msdu_octets(p);
        let left = p.left;
        let since = self.queued_since(now, kind.flow, left, lifetime);
        let state = &self.links[link];
        let (amsdu_octets, signalling) = (state.amsdu_octets, state.is_signalling());
        let frame_octets = state.header_octets + state.cipher_octets;
        let around = frame_octets + state.msdu_cipher_octets;
        parts.security += around - state.header_octets;
        let mut content = Content {
            body,
            msdus: 1,
            held,
            parts,
        };
        if amsdu_octets > 0
            && let Some(mpdu) = self.modes[mode].amsdu_limit()
        {
            let most = amsdu_octets.min(mpdu.saturating_sub(around));
            self.add_msdus(cx, (contender, link), head, most, &mut content);
        }
        let Content {
            body,
            msdus,
            held: count,
            mut parts,
        } = content;
        let mut octets = around + body;
        if signalling {
            octets = ip_octets;
            parts = Octets::default();
        }
        parts.mac = octets - parts.total();
        let state = &mut self.links[link];
        if answered {
            state.hand_up = HandUp::AtMpduEnd;
        }
        let divides = state.division.piece > 0 && msdus == 1 && state.agreement == Agreement::None;
        state.window.push_back(Mpdu {
            head,
            sequence: state.next_sequence,
            since,
            octets,
            parts,
            pieces: None,
            msdus,
            held: kind.flow.map(|flow| Held {
                flow,
                reverse,
                count,
            }),
            attempts: 0,
            in_flight: None,
            waits: true,
            heard: None,
            received: false,
            delivered: false,
            group: kind.group,
            acknowledged: false,
        });
        state.next_sequence += 1;
        if divides {
            self.divide_last(link);
        }
        true
    }

    /// Fragments the MPDU at the end of a link's window if it is too long.
    #[cold]
    fn divide_last(&mut self, link: LinkId) {
        let state = &mut self.links[link];
        let division = state.division;
        let Some(mpdu) = state.window.last_mut() else {
            return;
        };
        mpdu.pieces = division.divide(Octets {
            security: mpdu.parts.security - division.cipher,
            mac: 0,
            ..mpdu.parts
        });
        if let Some(pieces) = &mpdu.pieces {
            (mpdu.octets, mpdu.parts) = division.mpdu(pieces, 0);
        }
    }

    /// Makes an A-MSDU of at most `most` octets of an MPDU with one MSDU, whose packet is `head`.
    #[inline(never)]
    fn add_msdus(
        &mut self,
        cx: &mut Context,
        (contender, link): (ContenderId, LinkId),
        head: PacketId,
        most: u32,
        content: &mut Content,
    ) {
        let mut tail = head;
        while let Some(next) = self.links[link].following() {
            let packet = &cx.packets[next];
            let first = if content.msdus == 1 {
                SUBFRAME_HEADER
            } else {
                0
            };
            let padded = (content.body + first).next_multiple_of(4);
            let with = padded + SUBFRAME_HEADER + msdu_octets(packet);
            if with > most || packet.flow() != cx.packets[head].flow() {
                break;
            }
            let Some(next) = self.take_following(cx, contender, link) else {
                break;
            };
            cx.packets[tail].next = Some(next);
            let p = &mut cx.packets[next];
            p.next = None;
            content.body = with;
            content.msdus += 1;
            content.held += u16::from(std::mem::take(&mut p.held));
            Kind::of(p.carries).count(p, &mut content.parts);
            tail = next;
        }
    }
}

/// Content of an MPDU that is being made.
struct Content {
    /// Octets of the MSDU or A-MSDU.
    body: u32,
    msdus: u16,
    /// Packets that occupy their sender's socket.
    held: u16,
    parts: Octets,
}

/// Properties of the content of a packet by which the MAC treats it.
#[derive(Clone, Copy)]
struct Kind {
    flow: Option<FlowId>,
    /// Its octets are management: address resolution, advertisements and group traffic.
    manages: bool,
    /// It is group-addressed traffic of nodes.
    group: bool,
}

impl Kind {
    #[inline(always)]
    fn of(carries: Carries) -> Self {
        let (flow, manages, group) = match carries {
            Carries::Datagram { flow, .. } | Carries::Segment { flow, .. } => {
                (Some(flow), false, false)
            }
            Carries::Signal { .. }
            | Carries::Piece { .. }
            | Carries::PowerSave { .. }
            | Carries::ProbeRequest { .. }
            | Carries::ProbeResponse { .. } => (None, false, false),
            Carries::Request { .. } | Carries::Reply { .. } | Carries::Advertisement { .. } => {
                (None, true, false)
            }
            Carries::Group { .. } | Carries::Answer { .. } => (None, true, true),
        };
        Self {
            flow,
            manages,
            group,
        }
    }

    /// Counts the octets of a packet.
    #[inline(always)]
    fn count(self, p: &Packet, parts: &mut Octets) {
        let msdu = msdu_octets(p);
        if self.manages {
            parts.management += msdu;
            return;
        }
        let (payload, tunnel) = (p.payload, p.tunnel_octets);
        parts.payload += payload;
        parts.security += tunnel;
        parts.ip_transport += msdu - payload - tunnel;
    }
}

/// Octets of the MSDU of a packet.
#[inline]
fn msdu_octets(p: &Packet) -> u32 {
    phy::LLC_SNAP_OCTETS + p.ip_octets
}
