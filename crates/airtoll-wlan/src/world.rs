//! The world of a trial: it owns the subsystems, takes events out of the queue, and routes actions.
//!
//! A subsystem writes actions for those above it into the outbox. The world carries actions out
//! depth first: the actions that an action causes come before those that were written after it. The
//! world only assigns each event and action to a subsystem; it holds no rule of the network.

use airtoll_units::{Duration, Instant};

use crate::address::Locator;
use crate::context::{Action, Effects, Step};
use crate::event::{Event, JoinEvent};
use crate::id::{
    ChannelId, ContenderId, Ends, NodeId, PacketId, Pair, RadioId, SessionId, TransmissionId,
    WireId,
};
use crate::join::{self, Join};
use crate::lower::Lower;
use crate::mac::SIGNALLING_CATEGORY;
use crate::medium::{FrameKind, Transmission};
use crate::net::Takes;
use crate::observe::Observation;
use crate::outcome::Outcome;
use crate::packet::{Carries, Loss, Packet};
use crate::record::{Recorder, View};
use crate::report;
use crate::roam::{self, Roam, Turn};
use crate::scenario::{Role, ScenarioError};
use crate::stack::Stack;

/// All subsystems of a trial.
pub(crate) struct World {
    pub stack: Stack,
    pub join: Join,
    pub roam: Roam,
    pub recorder: Option<Box<Recorder>>,
    /// Lengths of traffic and warm-up, which count from the last station's joining.
    pub duration: Duration,
    pub warm_up_length: Duration,
    pub outboxes: Outboxes,
}

/// Outboxes of the control plane at rest. Its inputs nest, so that several may be in use.
#[derive(Default)]
pub(crate) struct Outboxes {
    join: Vec<join::Outbox>,
    roam: Vec<Vec<roam::Action>>,
    /// Actions of the stack below that wait for those which an earlier one caused: the next one, and
    /// the end of those that wait.
    pauses: Vec<(usize, usize)>,
}

/// Management and EAPOL frames are sent as voice (IEEE 802.11-2020, 10.2.3.2; Linux mac80211
/// raises EAPOL to priority 7 in net/mac80211/wme.c).
/// Events between two looks at the caller's wish to stop.
const EVENTS_PER_LOOK: u32 = 8192;
/// Most packets that wait at once: more take gigabytes, and no host of the models works them off.
const MOST_PACKETS: usize = if cfg!(test) { 1_000_000 } else { 10_000_000 };

impl World {
    /// Runs to the end of the trial.
    ///
    /// # Errors
    /// [`ScenarioError::Interrupted`] as soon as `interrupt` returns true, and
    /// [`ScenarioError::Overfull`] where packets pile up without end.
    pub fn run(&mut self, interrupt: &mut dyn FnMut() -> bool) -> Result<(), ScenarioError> {
        let mut until_look = EVENTS_PER_LOOK;
        loop {
            until_look -= 1;
            if until_look == 0 {
                if interrupt() {
                    return Err(ScenarioError::Interrupted);
                }
                let packets = self.stack.lower.cx.packets.len();
                if packets > MOST_PACKETS {
                    return Err(ScenarioError::Overfull { packets });
                }
                until_look = EVENTS_PER_LOOK;
            }
            let lower = &mut self.stack.lower;
            let event_at = lower.cx.events.next_at();
            let (grant_at, channel) = lower.mac.next_grant(event_at);
            // All events of an instant are handled before any contender transmits at it.
            if grant_at < event_at {
                if grant_at > lower.cx.end {
                    break;
                }
                lower.cx.events.advance(grant_at);
                self.grant(channel);
                continue;
            }
            if event_at > lower.cx.end {
                break;
            }
            match lower.cx.events.pop() {
                Some(event) => {
                    self.handle(event);
                    self.carry_out(0);
                }
                None => break,
            }
        }
        let Stack { lower, net, .. } = &mut self.stack;
        lower.cx.events.advance(lower.cx.end);
        let end = lower.cx.end;
        net.hand_over_all_counted(lower, end);
        self.carry_out(0);
        if self.roam.anybody_moves() {
            self.drop_stranded();
        }
        Ok(())
    }

    /// Loses the packets that wait at an access point which their station has left.
    #[cold]
    fn drop_stranded(&mut self) {
        let Lower {
            cx, medium, mac, ..
        } = &mut self.stack.lower;
        mac.drop_stranded(cx, medium);
        self.carry_out(0);
        self.with_roam(|roam, turn| roam.drop_stranded(turn));
    }

    /// All rows of the trial; called once, at its end.
    pub fn outcome(&mut self) -> Outcome {
        let lower = &mut self.stack.lower;
        lower.medium.close_books(&mut lower.cx);
        report::outcome(&self.stack, &self.join, &self.roam)
    }

    /// The subsystems as a recorder sees them.
    pub fn view(&self) -> View<'_> {
        View {
            stack: &self.stack,
            join: &self.join,
            roam: &self.roam,
        }
    }

    #[inline(always)]
    fn handle(&mut self, event: Event) {
        let Stack { lower, net, flow } = &mut self.stack;
        match event {
            Event::FrameEnd {
                channel,
                transmission,
            } => self.frame_ends(channel, transmission),
            Event::ColorRead {
                channel,
                transmission,
            } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.color_read(cx, medium, channel, transmission);
            }
            Event::MpduEnd {
                contender,
                transmission,
            } => self.mpdu_end(contender, transmission),
            Event::Respond { contender } => {
                lower
                    .mac
                    .respond(&mut lower.cx, &mut lower.medium, contender);
            }
            Event::Proceed { contender } => {
                lower
                    .mac
                    .proceed(&mut lower.cx, &mut lower.medium, contender);
            }
            Event::CardReady { contender } => {
                lower
                    .mac
                    .card_due(&mut lower.cx, &mut lower.medium, contender);
            }
            Event::Pipe { node, pipe } => net.pipe_due(lower, node, pipe),
            Event::Wire { wire } => self.wire(wire),
            Event::WireFree { wire } => net.wire_free(&mut lower.cx, wire),
            Event::Application { flow: number } => flow.application_due(&mut lower.cx, number),
            Event::Released {
                flow: number,
                reverse,
            } => flow.released(&mut lower.cx, number, reverse, 1),
            Event::TransportTimer {
                flow: number,
                receiver,
            } => flow.transport_timer(&mut lower.cx, number, receiver),
            Event::Beacon { access_point } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.beacon_due(cx, medium, access_point);
            }
            Event::ServicePeriod { station } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.service_period(cx, medium, station);
            }
            Event::ProbeRequest => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.probe_due(cx, medium);
            }
            Event::ProbeResponse {
                access_point,
                probe,
            } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.answer_probe(cx, medium, access_point, probe);
            }
            Event::Idle { station } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.idle_due(cx, medium, station);
            }
            Event::Poll { contender } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.poll_due(cx, medium, contender);
            }
            Event::MuEdcaTimer { contender } => {
                let (cx, medium) = (&mut lower.cx, &lower.medium);
                lower.mac.mu_edca_due(cx, medium, contender);
            }
            Event::SingleRadio { station } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.single_radio_due(cx, medium, station);
            }
            Event::Interferer { interferer } => {
                let turn = lower.medium.interferer_due(&mut lower.cx, interferer);
                if turn.heard {
                    lower.mac.interferer_turned(lower.cx.now(), &turn);
                }
            }
            Event::NavReset {
                channel,
                reservation,
            } => lower.mac.nav_reset(&mut lower.cx, channel, reservation),
            Event::WarmedUp => {
                // Packets that reach a CPU at this very instant do so after the warm-up.
                let before = Instant::from_nanos(lower.cx.now().as_nanos() - 1);
                net.hand_over_all_counted(lower, before);
                self.carry_out(0);
                self.warmed_up();
            }
            Event::Join(event) => self.with_join(|join, now, out| join.due(now, event, out)),
            Event::Roam(event) => self.with_roam(|roam, turn| roam.due(event, turn)),
            Event::Resolution { entry } => net.resolution_due(lower, entry),
            Event::Group { source } => net.group_due(lower, source),
        }
    }

    /// Carries out the actions above the first `base` of the outbox, and the actions that they
    /// cause.
    ///
    /// The outbox doubles as the stack of the remaining actions: those that an action causes are
    /// above those that come after it, and come first. An action is read where it stands, field by
    /// field as it was written: a wide load would wait for the narrow stores.
    #[inline]
    fn carry_out(&mut self, base: usize) {
        if self.stack.lower.cx.outbox.len() > base {
            self.carry_out_all(base);
        }
    }

    #[inline(never)]
    fn carry_out_all(&mut self, base: usize) {
        let outer = self.outboxes.pauses.len();
        let mut at = base;
        loop {
            let len = self.stack.lower.cx.outbox.len();
            if at == len {
                if self.outboxes.pauses.len() == outer {
                    break;
                }
                // The actions that an action caused are done: those after it follow.
                let Some((next, end)) = self.outboxes.pauses.pop() else {
                    break;
                };
                self.stack.lower.cx.outbox.truncate(end);
                at = next;
                continue;
            }
            at += self.route(at);
            if self.stack.lower.cx.outbox.len() > len {
                if at < len {
                    self.outboxes.pauses.push((at, len));
                }
                at = len;
            }
        }
        self.stack.lower.cx.outbox.truncate(base);
    }

    /// Carries out the action at `at`, and those after it that are part of the same run; gives how many.
    #[inline(always)]
    fn route(&mut self, at: usize) -> usize {
        let Stack { lower, net, flow } = &mut self.stack;
        match lower.cx.outbox[at] {
            Action::Ended { contender, step } => self.exchange_ended(contender, step),
            Action::Arm { node } => net.arm_radio(lower, node),
            Action::Exchange { contender, step } => {
                lower
                    .mac
                    .go_on(&mut lower.cx, &mut lower.medium, contender, step);
            }
            Action::Receive { link, packet } => {
                if let Some(Action::Receive { .. }) = lower.cx.outbox.get(at + 1) {
                    return net.receive_run(lower, link, at);
                }
                net.receive(lower, link, packet);
            }
            Action::Lose { packet, cause } => self.lose(packet, cause),
            Action::Retrieved { station, packet } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.retrieved(cx, medium, station, packet);
            }
            Action::Released {
                flow: number,
                reverse,
                count,
            } => flow.released(&mut lower.cx, number, reverse, count),
            Action::Send { host, packet } => {
                if let Some(Action::Send { .. }) = lower.cx.outbox.get(at + 1) {
                    return net.send_run(lower, host, at);
                }
                net.send(lower, host, packet);
            }
            Action::Pipe { node, pipe } => net.pipe_next(lower, node, pipe),
            Action::Wire { wire } => self.wire(wire),
            Action::Arrived { packet, at } => self.arrived(packet, at),
            Action::Lost { packet, cause } => self.lost(packet, cause),
            Action::OnAir { signal } => self.join.transmitted(lower.cx.now(), signal),
            Action::Woke { station } => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.release(cx, medium, station);
                let station = lower.medium.host_of(station);
                self.with_roam(|roam, turn| roam.woke(station, turn));
            }
            Action::Refused { station } => {
                let station = lower.medium.host_of(station);
                self.with_join(|join, _, out| join.refuse_class_3(station, out));
            }
            Action::BeaconHeard { handover } => self.roam.note_heard(handover),
            Action::KeepDozing { station, packet } => {
                self.with_roam(|roam, turn| roam.keep_while_asleep(station, packet, turn));
            }
            Action::KeepAway { host, packet } => {
                self.with_roam(|roam, turn| roam.keep(host, packet, turn));
            }
            Action::KeepOff { station, packet } => {
                let radio = lower.medium.radio_of(station);
                let limit = lower.mac.queue_limit(radio) as usize;
                self.with_join(|join, _, out| join.keep(station, packet, limit, out));
            }
            Action::Tunnelled { entered } => {
                self.with_roam(|roam, turn| roam.tunnelled(entered, turn));
            }
            Action::AdvertisementHeard { station, agent } => {
                self.with_roam(|roam, turn| roam.advertisement_arrived(station, agent, turn));
            }
        }
        1
    }

    /// The frames of an exchange are over: packets for the radio first, and then the exchange goes
    /// on.
    #[inline(always)]
    fn exchange_ended(&mut self, contender: ContenderId, step: Step) {
        let Stack { lower, net, .. } = &mut self.stack;
        // Packets that became ready during the exchange saw the queue as it was then.
        let node = lower.medium.host_of(lower.mac.node_of(contender));
        match net.drain(lower, node) {
            Effects::Pending => lower.cx.act(Action::Exchange { contender, step }),
            Effects::None => {
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                lower.mac.go_on(cx, medium, contender, step);
            }
        }
    }

    /// Counters have ended on a channel: the contenders that won transmit.
    fn grant(&mut self, channel: ChannelId) {
        let winners = self
            .stack
            .lower
            .mac
            .take_winners(&self.stack.lower.cx, channel);
        // All winners choose their frames before any of them is heard.
        for winner in 0..winners {
            let Stack { lower, net, .. } = &mut self.stack;
            let Some(contender) = lower.mac.admit(&lower.cx, &lower.medium, winner) else {
                continue;
            };
            if !lower.mac.sends_beacons(contender) {
                let node = lower.medium.host_of(lower.mac.node_of(contender));
                net.drain(lower, node);
                self.carry_out(0);
            }
            loop {
                let lower = &mut self.stack.lower;
                let again = lower
                    .mac
                    .prepare(&mut lower.cx, &mut lower.medium, contender);
                self.carry_out(0);
                if !again {
                    break;
                }
            }
        }
        let lower = &mut self.stack.lower;
        lower.mac.start_exchanges(&mut lower.cx, &mut lower.medium);
    }

    /// A transmission ends, and those that have no event of their own end after it.
    #[inline(always)]
    fn frame_ends(&mut self, channel: ChannelId, first: TransmissionId) {
        let mut ending = first;
        while let Some(next) = self.frame_end(channel, ending) {
            self.carry_out(0);
            ending = next;
        }
    }

    /// A transmission ends; gives the one that ends next at the same instant without an event.
    #[inline(always)]
    fn frame_end(
        &mut self,
        channel: ChannelId,
        transmission: TransmissionId,
    ) -> Option<TransmissionId> {
        let lower = &mut self.stack.lower;
        let ended = lower.medium.end(&mut lower.cx, channel, transmission);
        let next = lower.medium.take_follower(channel, &ended);
        lower.mac.frame_ended(&lower.cx, &lower.medium, &ended);
        if self.recorder.is_some() {
            self.record(|recorder, view| recorder.transmission(view, &ended));
        }
        let lower = &mut self.stack.lower;
        if ended.kind == FrameKind::Group {
            self.group_sent(&ended);
        } else {
            lower.mac.sent(&mut lower.cx, &mut lower.medium, &ended);
        }
        let medium = &mut self.stack.lower.medium;
        medium.forget(channel, &ended);
        // An acknowledged frame causes this action alone, which needs no stack.
        let outbox = &mut self.stack.lower.cx.outbox;
        if let [Action::Ended { contender, step }] = outbox[..] {
            outbox.clear();
            self.exchange_ended(contender, step);
        }
        next
    }

    /// An MPDU of an A-MPDU is complete before the PPDU ends.
    #[inline(never)]
    fn mpdu_end(&mut self, contender: ContenderId, transmission: TransmissionId) {
        if self.recorder.is_some() {
            // Its receiver consumes the packets before the PPDU is recorded.
            self.record(|recorder, view| recorder.keep_ppdu(view, contender));
        }
        let lower = &mut self.stack.lower;
        lower
            .mac
            .mpdu_ended(&mut lower.cx, &mut lower.medium, contender, transmission);
    }

    /// A group-addressed frame left the air: its receivers may have heard it.
    #[cold]
    fn group_sent(&mut self, t: &Transmission) {
        let Stack { lower, net, .. } = &mut self.stack;
        let Some(frame) = lower.mac.group_sent(&mut lower.cx, t) else {
            return;
        };
        let carries = lower.cx.packets[frame.packet].carries;
        if let Carries::ProbeRequest { probe } = carries {
            let (cx, medium) = (&mut lower.cx, &mut lower.medium);
            lower.mac.hear_probe(cx, medium, t, (&frame, probe));
            lower.mac.end_group(&mut lower.cx, t.contender);
            return;
        }
        let sender = lower.medium.host_of(frame.node);
        let from_access_point = net.role(sender) == Role::AccessPoint;
        let mut heard: Vec<RadioId> = match carries {
            Carries::Advertisement { .. } | Carries::Group { .. } => {
                let links = lower.mac.first_links(frame.node);
                let stations = links.map(|link| lower.mac.link(link).peer());
                let data = matches!(carries, Carries::Group { .. });
                let linked = |radio: &RadioId| {
                    let station = lower.medium.host_of(*radio);
                    let scans = data && net.is_away(station);
                    self.join.is_linked(station, sender) && !scans
                };
                stations.filter(linked).collect()
            }
            Carries::Signal { .. } if from_access_point => {
                let off = self.join.off_at(sender).into_iter();
                off.map(|station| lower.medium.radio_of(station)).collect()
            }
            _ => {
                let asked = net.asked_station(lower, frame.node, frame.packet);
                asked.into_iter().collect()
            }
        };
        heard.retain(|s| lower.mac.hears_group(&mut lower.medium, t, &frame, *s));
        let heard = heard.into_iter().map(|radio| lower.medium.host_of(radio));
        let heard: Vec<NodeId> = heard.collect();
        lower.cx.observe(Observation::ManagementOctets {
            octets: frame.octets,
        });
        match carries {
            Carries::Advertisement { .. } => {
                self.roam.advertisement_sent();
                net.advertisement_sent(lower, &frame, &heard);
            }
            Carries::Group { .. } => net.group_frame_sent(lower, &frame, &heard),
            Carries::Signal { signal } if from_access_point => {
                self.with_join(|join, now, out| {
                    join.group_frame_arrived(now, signal, &heard, out);
                });
                self.stack.lower.cx.lose(frame.packet, Loss::Address);
            }
            _ => match heard.first() {
                Some(&station) => {
                    lower.cx.observe(Observation::Receives {
                        node: station,
                        length: frame.length,
                    });
                    net.receive_from_air(lower, station, frame.link, frame.packet);
                }
                None => {
                    lower.cx.packets.remove(frame.packet);
                }
            },
        }
        let lower = &mut self.stack.lower;
        lower.mac.end_group(&mut lower.cx, t.contender);
    }

    /// The next packet at the end of a wire, if it is there.
    fn wire(&mut self, wire: WireId) {
        let Stack { lower, net, .. } = &mut self.stack;
        let Some(packet) = net.take_from_wire(&mut lower.cx, wire) else {
            return;
        };
        if self.recorder.is_some() {
            self.record(|recorder, view| recorder.wired(view, wire, packet));
        }
        let Stack { lower, net, .. } = &mut self.stack;
        net.receive_from_wire(lower, wire, packet);
    }

    /// A packet is through the stack of its host.
    #[inline]
    fn arrived(&mut self, packet: PacketId, at: Instant) {
        let cx = &mut self.stack.lower.cx;
        let p = cx.packets.remove(packet);
        if let Carries::Signal { signal } = p.carries {
            self.with_join(|join, now, out| join.arrived(now, signal, out));
            return;
        }
        if let Carries::Piece { stream, piece } = p.carries {
            self.with_join(|join, now, out| join.piece_arrived(now, stream, piece, out));
            return;
        }
        if self.roam.anybody_moves() && p.payload > 0 {
            self.note_delivery(&p, at);
        }
        let Stack { lower, flow, .. } = &mut self.stack;
        flow.arrived(&mut lower.cx, &p, at);
    }

    /// A packet is lost: the MAC hears of it where a station may wait for it.
    fn lose(&mut self, packet: PacketId, cause: Loss) {
        let Stack { lower, net, .. } = &mut self.stack;
        let (cx, medium) = (&mut lower.cx, &mut lower.medium);
        if lower.mac.ends_frames() {
            match cx.packets[packet].carries {
                Carries::PowerSave { .. } => {
                    lower.mac.lose_sign(cx, medium, packet);
                    return;
                }
                Carries::ProbeRequest { .. } | Carries::ProbeResponse { .. } => {
                    cx.packets.remove(packet);
                    return;
                }
                _ if lower.mac.has_dialogues() => lower.mac.retrieval_failed(cx, medium, packet),
                _ => {}
            }
        }
        if net.lose(&mut lower.cx, packet, cause) {
            self.lost(packet, cause);
        }
    }

    /// A packet is lost.
    #[cold]
    fn lost(&mut self, packet: PacketId, cause: Loss) {
        let cx = &mut self.stack.lower.cx;
        let p = cx.packets.remove(packet);
        if let Carries::Signal { signal } = p.carries {
            self.join.lost(signal);
            return;
        }
        if let Carries::Piece { stream, piece } = p.carries {
            self.join.piece_lost(stream, piece);
            return;
        }
        // A lost request is repeated, and advertisements are periodic.
        if p.counted
            && p.payload > 0
            && self.roam.anybody_moves()
            && let Some(ends) = self.ends_of(&p)
        {
            self.roam.note_loss(ends, p.created);
        }
        let Stack { lower, flow, .. } = &mut self.stack;
        flow.lost(&mut lower.cx, &p, cause);
    }

    #[cold]
    fn note_delivery(&mut self, p: &Packet, at: Instant) {
        if let Some(ends) = self.ends_of(p) {
            self.roam.note_delivery(ends, p.reverse, p.left, at);
        }
    }

    /// Source and destination of the flow of a packet.
    fn ends_of(&self, p: &Packet) -> Option<[NodeId; 2]> {
        let Ends { from, to } = self.stack.flow.flow(p.flow()?).ends(false);
        Some([from, to])
    }

    /// Lets the recorder see the subsystems, if there is a recorder.
    fn record(&mut self, what: impl FnOnce(&mut Recorder, &View<'_>)) {
        if let Some(mut recorder) = self.recorder.take() {
            what(&mut recorder, &self.view());
            self.recorder = Some(recorder);
        }
    }

    /// Resets all counts at the end of the warm-up.
    fn warmed_up(&mut self) {
        let lower = &mut self.stack.lower;
        lower.medium.restart(&mut lower.cx);
        lower.cx.observe(Observation::WarmedUp);
        lower.mac.restart();
        lower.device.restart();
    }
}

/// Inputs and actions of the control plane.
impl World {
    /// Hands an input to `join`, and carries out its actions in their order.
    #[cold]
    #[inline(never)]
    fn with_join(&mut self, input: impl FnOnce(&mut Join, Instant, &mut join::Outbox)) {
        let mut out = self.outboxes.join.pop().unwrap_or_default();
        input(&mut self.join, self.stack.lower.cx.now(), &mut out);
        for action in out.drain(..) {
            let base = self.stack.lower.cx.outbox.len();
            self.carry_out_join(action);
            self.carry_out(base);
        }
        self.outboxes.join.push(out);
    }

    /// Hands an input to `roam`, and carries out its actions in their order.
    #[cold]
    #[inline(never)]
    fn with_roam(&mut self, input: impl FnOnce(&mut Roam, &mut Turn<'_>)) {
        let mut out = self.outboxes.roam.pop().unwrap_or_default();
        let lower = &mut self.stack.lower;
        let mut turn = Turn {
            now: lower.cx.now(),
            join: &mut self.join,
            radio: lower.medium.radio_mut(),
            out: &mut out,
        };
        input(&mut self.roam, &mut turn);
        for action in out.drain(..) {
            let base = self.stack.lower.cx.outbox.len();
            self.carry_out_roam(action);
            self.carry_out(base);
        }
        self.outboxes.roam.push(out);
    }

    fn carry_out_join(&mut self, action: join::Action) {
        use join::Action;
        let Stack { lower, net, flow } = &mut self.stack;
        let now = lower.cx.now();
        match action {
            Action::Schedule { at, event } => lower.cx.schedule(at, Event::Join(event)),
            Action::WorkOnCpu {
                node,
                operations,
                octets,
                then,
            } => {
                let device = &mut lower.device;
                let sending = octets.map_or(Duration::ZERO, |o| device.transmit_time(node, o));
                let work = device.operations_time(node, &operations) + sending;
                let done = device.work(&lower.cx, node, work);
                self.with_join(|join, now, out| join.worked(now, then, done, out));
            }
            Action::TakeRequest { server, signal } => {
                let at = lower.device.take_request(now, server);
                let event = JoinEvent::Request { signal };
                if at > now {
                    lower.cx.schedule(at, Event::Join(event));
                } else {
                    self.with_join(|join, now, out| join.due(now, event, out));
                }
            }
            Action::SendManagement {
                from,
                to,
                octets,
                signal,
                link,
                asleep,
            } => {
                let host = lower.medium.host_of(to);
                let mut packet = Packet::new(Carries::Signal { signal }, host, octets, now);
                packet.category = SIGNALLING_CATEGORY;
                let packet = lower.cx.packets.insert(packet);
                let (cx, medium) = (&mut lower.cx, &mut lower.medium);
                match link {
                    Some(link) => {
                        let contender = lower.mac.contender(from, SIGNALLING_CATEGORY);
                        let at = (link, contender);
                        lower.mac.enqueue_signalling(cx, medium, at, packet);
                    }
                    None => match asleep {
                        join::Asleep::Misses if lower.mac.is_asleep(medium, to, cx.now()) => {
                            cx.lose(packet, Loss::Away);
                        }
                        join::Asleep::Waits => {
                            lower.mac.signal_awake(cx, medium, from, to, packet);
                        }
                        _ => lower
                            .mac
                            .send_signalling(cx, medium, Ends { from, to }, packet),
                    },
                }
            }
            Action::SendPacket {
                from,
                to,
                octets,
                signal,
                by_mac,
            } => {
                let packet = Packet::new(Carries::Signal { signal }, to, octets, now);
                let packet = lower.cx.packets.insert(packet);
                if by_mac {
                    net.dispatch(lower, from, packet, Duration::ZERO);
                } else {
                    net.dispatch_own(lower, from, packet, Duration::ZERO);
                }
            }
            Action::SendPiece {
                from,
                to,
                octets,
                stream,
                piece,
            } => {
                let packet = Packet::new(Carries::Piece { stream, piece }, to, octets, now);
                let packet = lower.cx.packets.insert(packet);
                let work = lower.device.transmit_time(from, octets);
                net.dispatch_own(lower, from, packet, work);
            }
            Action::SendKept { host, packet } => net.send(lower, host, packet),
            Action::Lose { packet, cause } => lower.cx.lose(packet, cause),
            Action::Flush { from, to } => {
                let [from, to] = [from, to].map(|node| lower.medium.radio_of(node));
                lower.mac.flush(&mut lower.cx, from, to);
            }
            Action::SetOff {
                station,
                access_point,
                off,
            } => {
                let [station, access_point] =
                    [station, access_point].map(|node| lower.medium.radio_of(node));
                lower.mac.bar(access_point, station, off);
                lower.mac.refuse(station, access_point, off);
            }
            Action::SetKnowsOff {
                station,
                access_point,
                knows,
            } => {
                net.set_knows_off(station, knows);
                let [station, access_point] =
                    [station, access_point].map(|node| lower.medium.radio_of(node));
                lower.mac.bar(station, access_point, knows);
            }
            Action::Joined { station, since } => {
                let radio = lower.cx.radio_times(station);
                lower.device.joined(station, now - since, radio);
            }
            Action::BeginTraffic => self.begin_traffic(),
            Action::LinkStands { station } => net.set_away(station, false),
            Action::Admitted { hosts } => {
                for number in flow.admit(&mut lower.cx, hosts) {
                    lower.mac.refill_backlog(number, flow.flow(number).start());
                }
            }
            Action::EndTrialBy { at } => lower.cx.end = lower.cx.end.min(at),
            Action::ListensForAgents { host } => {
                self.with_roam(|roam, turn| roam.listens(host, turn));
            }
            Action::Registered { host, access_point } => {
                self.roam.registered(host, access_point, now);
            }
            Action::Moved { session } => self.with_roam(|roam, turn| roam.moved(session, turn)),
            Action::LeaveBefore { session, signal } => {
                let departing = self.roam.departing(session, &self.join);
                let engaged = departing.map_or(now, |radio| lower.medium.engaged_until(radio));
                self.with_roam(|roam, turn| roam.leave_before(session, signal, engaged, turn));
            }
            Action::ScanFrameArrived { session, message } => {
                self.with_roam(|roam, turn| roam.scan_frame_arrived(session, &message, turn));
            }
            Action::StationFrameArrived { station, message } => {
                self.with_roam(|roam, turn| roam.station_frame_arrived(station, &message, turn));
            }
            Action::GatewayFollows { session } => self.gateway_follows(session),
            Action::KeysAgreed {
                station,
                access_point,
                secrets,
            } => self.record(|recorder, view| {
                let pair = Pair {
                    station,
                    access_point,
                };
                recorder.agreed(view, pair, &secrets);
            }),
            Action::TunnelAgreed {
                node,
                outside,
                secrets,
            } => self.record(|recorder, view| {
                recorder.tunnel_agreed(view, (node, outside), &secrets);
            }),
            Action::GroupKeysRenewed { access_point } => {
                self.record(|recorder, view| {
                    recorder.group_keys(view, access_point);
                });
            }
        }
    }

    /// The far end of the tunnels of a session's station knows the new address.
    fn gateway_follows(&mut self, session: SessionId) {
        let (station, outside) = self.tunnels_of(session);
        self.record(|recorder, view| recorder.gateway_follows(view, (station, outside)));
    }

    /// The station of a session, and the outer address of its tunnels there.
    fn tunnels_of(&self, session: SessionId) -> (NodeId, Locator) {
        let station = self.join.ends_of(session).station;
        (station, self.join.outside_of(session))
    }

    /// All stations have joined: the traffic and everything that counts from its start begin.
    fn begin_traffic(&mut self) {
        let Stack { lower, net, flow } = &mut self.stack;
        let now = lower.cx.now();
        let end = now + self.duration;
        lower.cx.end = end;
        lower.cx.warm_up = now + self.warm_up_length;
        lower.device.count_in(&(lower.cx.warm_up..end));
        flow.begin(&mut lower.cx, now - Instant::ZERO);
        lower.mac.begin_dozing(&mut lower.cx, &lower.medium);
        net.begin_groups(&mut lower.cx);
        self.with_roam(|roam, turn| roam.begin(end, turn));
        self.with_join(|join, now, out| join.traffic_began(now, end, out));
        let cx = &mut self.stack.lower.cx;
        if cx.warm_up > now {
            cx.schedule(cx.warm_up, Event::WarmedUp);
        } else {
            self.warmed_up();
        }
    }

    fn carry_out_roam(&mut self, action: roam::Action) {
        use roam::Action;
        let Stack { lower, net, .. } = &mut self.stack;
        match action {
            Action::Schedule { at, event } => lower.cx.schedule(at, Event::Roam(event)),
            Action::Start { session } => {
                self.with_join(|join, now, out| join.start(now, session, out));
            }
            Action::SendScanFrame {
                session,
                message,
                link,
            } => self.with_join(|join, _, out| join.send_scan_frame(session, message, link, out)),
            Action::SendAssociationFrame { session, message } => {
                self.with_join(|join, _, out| join.send_association_frame(session, message, out));
            }
            Action::SendLater { at, signal } => {
                let event = JoinEvent::Send { signal };
                lower.cx.schedule(at, Event::Join(event));
            }
            Action::SendNow { signal } => {
                self.with_join(|join, now, out| join.send(now, signal, out));
            }
            Action::ForgetReturn { station } => {
                self.with_join(|join, _, out| join.forget_return(station, out));
            }
            Action::HasLeft { access_point } => {
                self.with_join(|join, now, out| join.renew_after_leaving(now, access_point, out));
            }
            Action::Register {
                session,
                advertisement,
            } => {
                self.with_join(|join, now, out| join.register(now, session, advertisement, out));
            }
            Action::FindAgent { host } => self.with_roam(|roam, turn| roam.find_agent(host, turn)),
            Action::Advertise {
                agent,
                node,
                access_point,
                octets,
            } => {
                let way = Ends {
                    from: node,
                    to: access_point,
                };
                net.advertise(lower, agent, way, octets);
            }
            Action::SendKept { host, packet } => net.send(lower, host, packet),
            Action::SendAnew { host, packet } => {
                // Tunnelled packets and fragments were made for the old link.
                if lower.cx.packets[packet].is_plain() {
                    net.send(lower, host, packet);
                } else {
                    lower.cx.lose(packet, Loss::Away);
                }
            }
            Action::Enqueue { node, packet } => net.enqueue(lower, node, packet),
            Action::Lose { packet, cause } => lower.cx.lose(packet, cause),
            Action::LookWhetherIdle {
                handover,
                station,
                access_point,
            } => {
                let out = lower.mac.has_sent_signalling(station, access_point);
                let idle = out && lower.medium.engaged_until(station) <= lower.cx.now();
                self.with_roam(|roam, turn| roam.looked(handover, idle, turn));
            }
            Action::TakeBack {
                handover,
                from,
                to,
                own,
            } => {
                let packets = lower.mac.take_back(&mut lower.cx, from, to);
                self.roam.took_back(handover, own, packets);
            }
            Action::SetDozing {
                station,
                access_point,
                dozing,
            } => lower.mac.set_dozing(station, access_point, dozing),
            Action::SetListening {
                handover,
                station,
                access_point,
                listening,
            } => {
                let pair = Pair {
                    station,
                    access_point,
                };
                lower.mac.set_listening(handover, pair, listening);
            }
            Action::SetAway { host, away } => net.set_away(host, away),
            Action::TurnLink { host, radio } => {
                lower.medium.tune(host, radio);
                net.set_joining(host, Some(radio));
            }
            Action::SetRoutes { host, radio } => {
                net.turn_routes(host, radio);
                net.set_joining(host, None);
            }
            Action::SetAgreed { ends, agreed } => {
                lower
                    .mac
                    .set_agreed(ends.station, ends.access_point, agreed);
            }
            Action::SetLegacy { ends, mode } => {
                lower.mac.set_legacy(ends.station, ends.access_point, mode);
            }
            Action::SetStopped { radio, stopped } => lower.mac.set_stopped(radio, stopped),
            Action::LevelsChanged { radio } => lower.mac.forget_success(radio),
            Action::MoveTunnels { session } => {
                let (station, outside) = self.tunnels_of(session);
                self.record(|recorder, view| recorder.tunnels_moved(view, (station, outside)));
            }
            Action::SetUnheard { node, unheard } => net.set_unheard(node, unheard),
            Action::GatewayFollows { session } => self.gateway_follows(session),
            Action::Bind { node, end, host } => {
                net.set_takes(node, end, Takes::Network(host.into_iter().collect()));
            }
        }
    }
}
