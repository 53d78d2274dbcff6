//! The control plane in the world: hands inputs to [`crate::join::Join`] and [`crate::roam::Roam`],
//! and carries out their actions in order, each one completely before the next.

use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;

use super::World;
use crate::address;
use crate::event::{Event, HandoverId, JoinEvent, RoamEvent};
use crate::join;
use crate::mac::aggregation::TxLink;
use crate::mac::exchange::Reception;
use crate::net::network::Route;
use crate::net::resolution::{ADVERTISES, OURS};
use crate::net::tunnel::Takes;
use crate::packet::{NONE, Packet, PacketId};
use crate::roam::{self, Turn};
use crate::scenario::CryptoEngine;

/// Management and EAPOL frames are sent as voice (IEEE 802.11-2020, 10.2.3.2; Linux mac80211
/// raises EAPOL to priority 7 in net/mac80211/wme.c).
const SIGNALLING_CATEGORY: u8 = 3;

/// Outboxes at rest. Inputs nest, so that several may be in use.
#[derive(Default)]
pub(crate) struct Outboxes {
    join: Vec<join::Outbox>,
    roam: Vec<Vec<roam::Action>>,
}

impl Packet {
    /// Whether it is an unsolicited advertisement of a mobility agent.
    pub fn advertises(&self) -> bool {
        self.flow == NONE && self.mark & (OURS | ADVERTISES) == OURS | ADVERTISES
    }

    /// The agent of an advertisement.
    pub fn agent(&self) -> u32 {
        self.mark & !(OURS | ADVERTISES)
    }
}

/// Inputs of joining and roaming.
impl World {
    fn with_join(&mut self, input: impl FnOnce(&mut join::Join, Instant, &mut join::Outbox)) {
        let mut out = self.outboxes.join.pop().unwrap_or_default();
        input(&mut self.join, self.stack.lower.cx.now(), &mut out);
        for action in out.drain(..) {
            self.carry_out_join(action);
        }
        self.outboxes.join.push(out);
    }

    fn with_roam(&mut self, input: impl FnOnce(&mut roam::Roam, &mut Turn<'_>)) {
        let mut out = self.outboxes.roam.pop().unwrap_or_default();
        let mut turn = Turn {
            now: self.stack.lower.cx.now(),
            join: &mut self.join,
            radio: &mut self.stack.lower.medium.radio,
            out: &mut out,
        };
        input(&mut self.roam, &mut turn);
        for action in out.drain(..) {
            self.carry_out_roam(action);
        }
        self.outboxes.roam.push(out);
    }

    pub(super) fn join_due(&mut self, event: JoinEvent) {
        self.with_join(|join, now, out| join.due(now, event, out));
    }

    pub(super) fn roam_due(&mut self, event: RoamEvent) {
        self.with_roam(|roam, turn| roam.due(event, turn));
    }

    /// A message is through the stack of its receiver.
    pub(crate) fn signal_arrived(&mut self, signal: u32) {
        self.with_join(|join, now, out| join.arrived(now, signal, out));
    }

    /// A message was lost on its way.
    pub(crate) fn signal_lost(&mut self, signal: u32) {
        self.join.lost(signal);
    }

    /// A frame of a signalling link left the air; `any` says whether its receiver has it.
    pub(crate) fn signalling_sent(&mut self, link: u32, alone: Duration, any: bool) {
        let now = self.stack.lower.cx.now();
        if any {
            self.stack.lower.cx.observers.ledger.management += alone;
        } else {
            self.stack.lower.cx.observers.ledger.retry += alone;
        }
        let mut window = self.stack.lower.mac.links[link as usize].window.iter();
        let Some(mpdu) = window.find(|m| m.in_flight) else {
            return;
        };
        if any {
            self.stack.lower.cx.observers.ledger.octets_management += u64::from(mpdu.octets);
        }
        if mpdu.delivered {
            // Its receiver had it before, and its packet is gone.
            return;
        }
        let signal = self.stack.lower.cx.packets[mpdu.head].mark;
        self.join.transmitted(now, signal);
    }

    /// A management frame to all stations left the air; `hearers` received it.
    pub(crate) fn everybody_told(&mut self, signal: u32, hearers: &[u32]) {
        self.with_join(|join, now, out| join.group_frame_arrived(now, signal, hearers, out));
    }

    /// An access point received data of a station that is not associated.
    pub(crate) fn refuse_class_3(&mut self, station: u32) {
        self.with_join(|join, _, out| join.refuse_class_3(station, out));
    }

    /// The node that sends a host's packet now; takes the packet while the host has no link.
    #[inline]
    pub(crate) fn sending_node(&mut self, host: u32, packet: PacketId) -> Option<u32> {
        let node = self.stack.net.nodes[host as usize].present;
        let plain = node == host && !self.stack.net.nodes[host as usize].knows_off;
        if plain {
            return Some(host);
        }
        self.other_sending_node(host, node, packet)
    }

    fn other_sending_node(&mut self, host: u32, node: u32, packet: PacketId) -> Option<u32> {
        if node == NONE {
            self.with_roam(|roam, turn| roam.keep(host, packet, turn));
            return None;
        }
        let state = &self.stack.lower.mac.nodes[node as usize];
        if self.stack.net.nodes[node as usize].knows_off {
            let limit = state.queue_limit as usize;
            self.with_join(|join, _, out| join.keep(node, packet, limit, out));
            return None;
        }
        Some(node)
    }

    /// The node that a host is on the air now; `None` while it is between two access points.
    pub(crate) fn present_node(&self, host: u32) -> Option<u32> {
        let node = self.stack.net.nodes[host as usize].present;
        (node != NONE).then_some(node)
    }

    /// The MAC address of the host that a node is, or stands for.
    pub(crate) fn mac(&self, node: u32) -> MacAddress {
        address::mac(self.stack.net.nodes[node as usize].identity)
    }

    /// Whether a packet for `to` is for the host that this node is, or stands for.
    #[inline]
    pub(crate) fn is_for(&self, node: u32, to: u32) -> bool {
        to == node || self.stack.net.nodes[node as usize].identity == to
    }

    /// The far end of a tunnel has authenticated a packet from this node.
    pub(crate) fn note_tunnelled(&mut self, node: u32) {
        self.with_roam(|roam, turn| roam.tunnelled(node, turn));
    }

    /// An access point keeps a packet for a dozing station.
    pub(crate) fn keep_while_asleep(&mut self, station: u32, packet: PacketId) {
        self.with_roam(|roam, turn| roam.keep_while_asleep(station, packet, turn));
    }

    /// A frame of a station shows that the station is awake.
    pub(crate) fn woke(&mut self, station: u32) {
        self.with_roam(|roam, turn| roam.woke(station, turn));
    }

    /// A beacon ended: stations that listen on its channel may have heard it.
    pub(crate) fn beacon_heard(
        &mut self,
        access_point: u32,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
    ) {
        let Some(plan) = self.stack.lower.mac.nodes[access_point as usize].beacon else {
            return;
        };
        for (handover, station) in self.stack.lower.mac.nodes[access_point as usize]
            .listeners
            .clone()
        {
            let heard = reception(self, station).is_some_and(|r| {
                self.control_arrives(access_point, station, &plan.vector, plan.octets, r)
            });
            if heard {
                self.roam.note_heard(HandoverId(handover));
            }
        }
    }

    /// A packet of a flow reached its host.
    pub(crate) fn note_delivery(&mut self, p: &Packet, at: Instant) {
        let flow = &self.stack.flow.flows[p.flow as usize];
        let ends = [flow.source, flow.destination];
        self.roam.note_delivery(ends, p.reverse, p.left, at);
    }

    /// A packet of a flow was lost.
    pub(crate) fn note_loss(&mut self, p: &Packet) {
        let flow = &self.stack.flow.flows[p.flow as usize];
        self.roam.note_loss([flow.source, flow.destination]);
    }

    /// The frame of an advertisement left the air: every joined station may have heard it.
    pub(crate) fn advertisement_sent(
        &mut self,
        link: u32,
        (head, octets, mode): (PacketId, u32, u32),
        length: Duration,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
    ) {
        self.roam.advertisement_sent();
        let p = self.stack.lower.cx.packets.remove(head);
        let node = self.stack.lower.mac.links[link as usize].from;
        let state = &self.stack.lower.mac.nodes[node as usize];
        let own = state.first_link..state.first_link + state.neighbours;
        let vector = self.stack.lower.mac.modes[mode as usize].vector;
        for at in own {
            let station = self.stack.lower.mac.links[at as usize].peer;
            let arrives = self.join.is_linked(station)
                && reception(self, station)
                    .is_some_and(|r| self.control_arrives(node, station, &vector, octets, r));
            if arrives {
                self.stack.lower.cx.observers.nodes[station as usize].receive_time += length;
                let cipher = self.stack.lower.mac.links[link as usize].cipher;
                let to = self.stack.net.nodes[station as usize].identity;
                let copy = self.stack.lower.cx.packets.insert(Packet { to, ..p });
                self.receive_from_air(station, cipher, copy);
            }
        }
    }

    /// An advertisement is through the stack of its access point, or of a station.
    pub(crate) fn advertisement_arrived(&mut self, p: &Packet) {
        let agent = p.agent();
        let (_, access_point) = self.roam.agents().ends_of(agent);
        if p.to == access_point {
            let work = self.stack.lower.device.nodes[p.to as usize]
                .host
                .forward
                .of(p.ip_octets);
            let packet = self.stack.lower.cx.packets.insert(*p);
            self.send_to_group(p.to, packet, work);
            return;
        }
        self.with_roam(|roam, turn| roam.advertisement_arrived(p.to, agent, turn));
    }
}

/// Actions of joining.
impl World {
    fn carry_out_join(&mut self, action: join::Action) {
        use join::Action;
        let now = self.stack.lower.cx.now();
        match action {
            Action::Schedule { at, event } => self.stack.lower.cx.schedule(at, Event::Join(event)),
            Action::WorkOnCpu {
                node,
                operations,
                octets,
                then,
            } => {
                let host = &mut self.stack.lower.device.nodes[node as usize].host;
                let sending = octets.map_or(Duration::ZERO, |octets| host.transmit.of(octets));
                let work = host.operations_time(&operations) + sending;
                let done = host.cpu.work(now, work);
                self.with_join(|join, now, out| join.worked(now, then, done, out));
            }
            Action::SendManagement {
                from,
                to,
                octets,
                signal,
                link,
            } => self.send_management(from, to, octets, signal, link),
            Action::SendPacket {
                from,
                to,
                octets,
                signal,
                by_mac,
            } => {
                let packet = Packet::of_no_flow(to, octets, signal, now);
                let packet = self.stack.lower.cx.packets.insert(packet);
                if by_mac {
                    self.dispatch(from, packet, Duration::ZERO);
                } else {
                    self.dispatch_own(from, packet, Duration::ZERO);
                }
            }
            Action::SendKept { host, packet } => self.send_packet(host, packet),
            Action::Lose { packet } => self.lose(packet),
            Action::Flush { from, to } => self.flush(from, to),
            Action::SetOff {
                station,
                access_point,
                off,
            } => {
                self.each_link(access_point, station, |link| link.barred = off);
                self.each_link(station, access_point, |link| link.refused = off);
            }
            Action::SetKnowsOff {
                station,
                access_point,
                knows,
            } => {
                self.stack.net.nodes[station as usize].knows_off = knows;
                self.each_link(station, access_point, |link| link.barred = knows);
            }
            Action::BeginTraffic => self.begin_traffic(),
            Action::EndTrialBy { at } => self.stack.lower.cx.end = self.stack.lower.cx.end.min(at),
            Action::ListensForAgents { host } => {
                self.with_roam(|roam, turn| roam.listens(host, turn));
            }
            Action::Registered { host, access_point } => {
                self.roam.registered(host, access_point, now);
            }
            Action::Moved { session } => self.with_roam(|roam, turn| roam.moved(session, turn)),
            Action::LeaveBefore { session, signal } => {
                let departing = self.roam.departing(session);
                let engaged = departing.map_or(now, |node| {
                    self.stack.lower.medium.nodes[node as usize].engaged_until
                });
                self.with_roam(|roam, turn| roam.leave_before(session, signal, engaged, turn));
            }
            Action::ScanFrameArrived { session, message } => {
                self.with_roam(|roam, turn| roam.scan_frame_arrived(session, &message, turn));
            }
            Action::StationFrameArrived { station, message } => {
                self.with_roam(|roam, turn| roam.station_frame_arrived(station, &message, turn));
            }
            Action::GatewayFollows { session } => {
                self.with_roam(|roam, turn| roam.gateway_follows(session, turn));
            }
            Action::KeysAgreed {
                station,
                access_point,
                secrets,
            } => self.record_keys(station, access_point, &secrets),
            Action::TunnelAgreed { node, secrets } => self.record_tunnel(node, &secrets),
            Action::GroupKeysRenewed { access_point } => self.record_group_keys(access_point),
        }
    }

    fn send_management(&mut self, from: u32, to: u32, octets: u32, signal: u32, link: Option<u32>) {
        let mut packet = Packet::of_no_flow(to, octets, signal, self.stack.lower.cx.now());
        packet.category = SIGNALLING_CATEGORY;
        let packet = self.stack.lower.cx.packets.insert(packet);
        let state = &self.stack.lower.mac.nodes[from as usize];
        let contender = state.contenders[usize::from(SIGNALLING_CATEGORY)];
        let own = state.signalling..state.signalling.saturating_add(state.neighbours);
        let link = link.or_else(|| {
            own.into_iter()
                .find(|l| self.stack.lower.mac.links[*l as usize].peer == to)
        });
        let sent = link.is_some_and(|link| self.enqueue_signalling(link, contender, packet));
        if !sent {
            self.lose(packet);
        }
    }

    /// All stations have joined: the traffic and everything that counts from its start begin.
    fn begin_traffic(&mut self) {
        let now = self.stack.lower.cx.now();
        let shift = now - Instant::ZERO;
        self.stack.lower.cx.end = now + self.duration;
        self.stack.lower.cx.warm_up = now + self.warm_up;
        for (number, flow) in self.stack.flow.flows.iter_mut().enumerate() {
            flow.begin_later(shift);
            let event = Event::Application {
                flow: number as u32,
            };
            self.stack.lower.cx.schedule(flow.start, event);
        }
        let end = self.stack.lower.cx.end;
        self.with_roam(|roam, turn| roam.begin(end, turn));
        self.with_join(|join, now, out| join.traffic_began(now, end, out));
        if self.stack.lower.cx.warm_up > now {
            self.stack
                .lower
                .cx
                .schedule(self.stack.lower.cx.warm_up, Event::WarmedUp);
        } else {
            self.warmed_up();
        }
    }

    /// Changes every link for data from a node to another.
    fn each_link(&mut self, from: u32, to: u32, change: impl Fn(&mut TxLink)) {
        let state = &self.stack.lower.mac.nodes[from as usize];
        let rows = if state.contenders[0] == state.contenders[1] {
            1
        } else {
            4
        };
        let own = state.first_link..state.first_link + rows * state.neighbours;
        for link in own {
            let link = &mut self.stack.lower.mac.links[link as usize];
            if link.peer == to {
                change(link);
            }
        }
    }
}

/// Actions of roaming.
impl World {
    fn carry_out_roam(&mut self, action: roam::Action) {
        use roam::Action;
        match action {
            Action::Schedule { at, event } => self.stack.lower.cx.schedule(at, Event::Roam(event)),
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
                self.stack.lower.cx.schedule(at, Event::Join(event));
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
            } => self.advertise(agent, node, access_point, octets),
            Action::SendKept { host, packet } => self.send_packet(host, packet),
            Action::SendAnew { host, packet } => self.send_anew(host, packet),
            Action::Enqueue { node, packet } => self.enqueue_or_lose(node, packet),
            Action::Lose { packet } => self.lose(packet),
            Action::LookWhetherIdle {
                handover,
                station,
                access_point,
            } => self.look_whether_idle(handover, station, access_point),
            Action::TakeBack { handover, from, to } => {
                let packets = self.take_back(from, to);
                self.roam.took_back(handover, from, packets);
            }
            Action::SetDozing {
                station,
                access_point,
                dozing,
            } => {
                self.each_link(access_point, station, |link| link.dozing = dozing);
                self.each_link(station, access_point, |link| link.dozing = dozing);
                let state = &self.stack.lower.mac.nodes[station as usize];
                let own = state.signalling..state.signalling + state.neighbours;
                for link in own {
                    self.stack.lower.mac.links[link as usize].dozing = dozing;
                }
            }
            Action::SetListening {
                handover,
                station,
                access_point,
                listening,
            } => {
                let listeners = &mut self.stack.lower.mac.nodes[access_point as usize].listeners;
                listeners.retain(|(known, _)| *known != handover.0);
                if listening {
                    listeners.push((handover.0, station));
                    listeners.sort_unstable_by_key(|(known, _)| *known);
                }
            }
            Action::SetPresent { host, node } => {
                self.stack.net.nodes[host as usize].present = node.unwrap_or(NONE);
            }
            Action::SetDetour { host, routes } => {
                self.stack.net.detours.retain(|(known, _)| *known != host);
                self.stack
                    .net
                    .detours
                    .extend(routes.map(|routes| (host, routes)));
            }
            Action::SetRoutes { host, routes } => self.set_routes(host, &routes),
            Action::SetLifetime { node, lifetime } => {
                self.stack.lower.mac.nodes[node as usize].lifetime = lifetime;
            }
            Action::LevelsChanged { node } => self.forget_success(node),
            Action::MoveTunnels { from, there } => self.move_tunnels(from, there),
            Action::SetUnheard { node, unheard } => {
                self.stack.net.nodes[node as usize].unheard = unheard
            }
            Action::GatewayFollows { node } => self.record_gateway_follows(node),
            Action::Bind { node, end, host } => {
                self.stack.net.nodes[node as usize].tunnels[end].takes =
                    Takes::Network(host.into_iter().collect());
            }
        }
    }

    fn advertise(&mut self, agent: u32, node: u32, access_point: u32, octets: u32) {
        let mark = OURS | ADVERTISES | agent;
        let packet = Packet::of_no_flow(access_point, octets, mark, self.stack.lower.cx.now());
        let packet = self.stack.lower.cx.packets.insert(packet);
        let work = self.stack.lower.device.nodes[node as usize]
            .host
            .transmit
            .of(octets);
        if node == access_point {
            self.send_to_group(node, packet, work);
        } else {
            self.dispatch(node, packet, work);
        }
    }

    /// An advertisement goes over the air of its access point.
    fn send_to_group(&mut self, node: u32, packet: PacketId, work: Duration) {
        let Some(link) = self.question_link(node, packet) else {
            self.stack.lower.cx.packets.remove(packet);
            return;
        };
        let now = self.stack.lower.cx.now();
        let cipher: CipherSuite = self.stack.lower.mac.links[link as usize].cipher;
        let octets = self.stack.lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let host = &mut self.stack.lower.device.nodes[node as usize].host;
        let effort = host.cipher_time(cipher, true, octets);
        self.stack.lower.cx.observers.crypto_time += effort;
        let ready = host.cpu.work(now, work);
        let engine = match host.engine {
            CryptoEngine::Cpu => &mut host.cpu,
            _ => host.engine_for(true),
        };
        let done = engine.work(ready, effort);
        self.note_ciphers(node, done, effort);
        self.offer_to_radio(node, packet, done);
    }

    /// A host sends a packet again that was prepared for its old link. Tunnelled packets and
    /// fragments were made for that link and are lost.
    fn send_anew(&mut self, host: u32, packet: PacketId) {
        let p = &self.stack.lower.cx.packets[packet];
        if p.flow == NONE || p.entered != NONE || p.group != NONE {
            self.lose(packet);
        } else {
            self.send_packet(host, packet);
        }
    }

    fn look_whether_idle(&mut self, handover: HandoverId, station: u32, access_point: u32) {
        let state = &self.stack.lower.mac.nodes[station as usize];
        let out = (state.signalling..state.signalling + state.neighbours)
            .map(|link| &self.stack.lower.mac.links[link as usize])
            .filter(|link| link.peer == access_point)
            .all(|link| link.queue.is_empty() && link.window.is_empty());
        let idle = out
            && self.stack.lower.medium.nodes[station as usize].engaged_until
                <= self.stack.lower.cx.now();
        self.with_roam(|roam, turn| roam.looked(handover, idle, turn));
    }

    /// The cached success probabilities of the links of a node are invalid.
    fn forget_success(&mut self, node: u32) {
        for link in &mut self.stack.lower.mac.links {
            if [link.from, link.peer].contains(&node) {
                link.success = (u32::MAX, 0, 0.0);
            }
        }
    }

    fn set_routes(&mut self, host: u32, routes: &[Route]) {
        for (ways, way) in self.stack.net.routes.iter_mut().zip(routes) {
            ways[host as usize] = *way;
        }
    }

    /// The tunnels of a node go on at another one, with their packet numbers.
    fn move_tunnels(&mut self, from: u32, there: u32) {
        for end in 0..self.stack.net.nodes[from as usize].tunnels.len() {
            let taken = self.stack.net.nodes[from as usize].tunnels[end].taken;
            self.stack.net.nodes[there as usize].tunnels[end].taken = taken;
        }
        self.record_moved_tunnels(from, there);
    }
}
