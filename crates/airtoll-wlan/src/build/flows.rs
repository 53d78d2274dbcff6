//! Flows: their applications, transports and the socket buffers of their senders.

use airtoll_units::{Duration, Instant};

use super::Builder;
use crate::application::{Application as _, Running};
use crate::flow::{Connection, Flow, PacketForm, Socket, Span, UdpSocket};
use crate::id::{Ends, FlowId, LinkId, NodeId, RadioId, Table, WireId};
use crate::mac::{Backlog, Mode, NO_LIFETIME, RateControl};
use crate::net::Route;
use crate::scenario::{self, IpVersion, Role, ScenarioError, Transport, UdpOptions};
use crate::transport::TcpConfig;

/// Most datagrams of a flow between its application and the wire of a wired host.
const WIRED_ROOM: u32 = 64;

impl Builder<'_> {
    pub(super) fn add_flows(&mut self) -> Result<(), ScenarioError> {
        let applications: Vec<Running> = self
            .scenario
            .flows
            .iter()
            .map(|f| self.application(f))
            .collect();
        let filling = self.filling(&applications);
        for ((i, flow), application) in self.scenario.flows.iter().enumerate().zip(applications) {
            let (source, destination) = (
                self.index[flow.source.as_str()],
                self.index[flow.destination.as_str()],
            );
            if self.world.stack.net.route(source, destination) == Route::None {
                return Err(ScenarioError::Invalid {
                    field: format!("flows[{i}].destination"),
                    value: flow.destination.clone(),
                    allowed: format!("a node that {} can reach over the links", flow.source),
                });
            }
            self.refuse_too_short(flow, &application, source, destination)?;
            let ends = Ends {
                from: source,
                to: destination,
            };
            let ip_header = flow.ip.header_octets();
            let start = Instant::ZERO + Duration::from_secs_f64(flow.start_s);
            let socket = match &flow.transport {
                Transport::Udp(options) => {
                    let room = self.room(flow, options, ends, &application, &filling);
                    Socket::Udp(UdpSocket::new(room))
                }
                Transport::Tcp(options) => {
                    let configs = self.tcp_configs(options, ends, ip_header);
                    for config in &configs {
                        config
                            .validate()
                            .map_err(|problem| ScenarioError::Invalid {
                                field: format!("flows[{i}].transport.{}", problem.field),
                                value: problem.value.clone(),
                                allowed: match problem.field {
                                    "receive_window" => {
                                        format!("one segment ({} octets) to 2^30", config.mss)
                                    }
                                    _ => problem.allowed.to_owned(),
                                },
                            })?;
                    }
                    let rooms = [source, destination].map(|node| self.local_room(node));
                    Socket::Tcp(Box::new(Connection::new(configs, rooms)))
                }
            };
            if let Some(backlog) = self.backlog(flow, source, &application, start) {
                self.world
                    .stack
                    .lower
                    .mac
                    .set_backlog(FlowId::new(i as u32), backlog);
            }
            self.world.stack.lower.cx.observers.add_flow();
            let span = Span {
                start,
                stop: flow
                    .stop_s
                    .map_or(Instant::MAX, |s| Instant::ZERO + Duration::from_secs_f64(s)),
            };
            let names = (flow.name.clone(), flow.station.clone());
            let category = flow.access_category as u8;
            let form = PacketForm::new(ends, ip_header, category);
            let theirs = &self.scenario.nodes[source.index()];
            let neighbour = self.scenario.is_neighbours(theirs);
            let flow = Flow::new(names, form, application, socket, span);
            self.world.stack.flow.add(flow.of_neighbour(neighbour));
        }
        Ok(())
    }

    fn application(&self, flow: &scenario::Flow) -> Running {
        let stream = self.streams.named(&format!("flow/{}", flow.name));
        flow.pattern
            .application(flow.transport.socket_kind(), stream)
    }

    /// A trial that ends before one packet has left the air measures nothing.
    fn refuse_too_short(
        &self,
        flow: &scenario::Flow,
        application: &Running,
        source: NodeId,
        destination: NodeId,
    ) -> Result<(), ScenarioError> {
        let Some(octets) = application.datagram_octets() else {
            return Ok(());
        };
        let octets = match &flow.transport {
            Transport::Udp(_) => octets,
            Transport::Tcp(options) => octets.min(options.mss_octets.unwrap_or(u32::MAX)),
        };
        let hops = [source, destination].map(|end| self.least_airtime(end, octets));
        let least = hops[0] + hops[1];
        let measured_s = self.scenario.duration_s - self.scenario.warm_up_s;
        if least.as_secs_f64() <= measured_s {
            return Ok(());
        }
        Err(ScenarioError::Invalid {
            field: "duration_s".to_owned(),
            value: self.scenario.duration_s.to_string(),
            allowed: format!(
                "at least {:.6} s beyond warm_up_s: one packet of {} takes as long on the air",
                least.as_secs_f64(),
                flow.name
            ),
        })
    }

    /// The least time that the first fragment of a datagram takes between a radio and its peer; none
    /// for a wired host.
    fn least_airtime(&self, end: NodeId, octets: u32) -> Duration {
        let mac = &self.world.stack.lower.mac;
        if self.world.stack.net.role(end) != Role::Station {
            return Duration::ZERO;
        }
        let octets = octets.min(self.world.stack.net.mtu(end));
        let radio = RadioId::first_of(end);
        let of_link = |link: LinkId| match mac.link(link).rate() {
            RateControl::Fixed(mode) => Some(mac.mode(*mode).airtime(octets)),
            _ => mac.modes().iter().map(|mode| mode.airtime(octets)).min(),
        };
        let links = mac.first_links(radio);
        links.filter_map(of_link).min().unwrap_or(Duration::ZERO)
    }

    /// The wire on which the packets of a flow leave its source.
    fn first_wire(&self, source: NodeId, destination: NodeId) -> Option<WireId> {
        match self.world.stack.net.route(source, destination) {
            Route::Wire { wire } => Some(wire),
            _ => None,
        }
    }

    /// How many UDP flows keep the queue of each wire full, with no stated socket buffer.
    fn filling(&self, applications: &[Running]) -> Table<WireId, u32> {
        let wires = self.world.stack.net.wire_count();
        let mut counts: Table<WireId, u32> = std::iter::repeat_n(0, wires).collect();
        for (flow, application) in self.scenario.flows.iter().zip(applications) {
            let [source, destination] =
                [&flow.source, &flow.destination].map(|name| self.index[name.as_str()]);
            if let Transport::Udp(options) = &flow.transport
                && options.socket_buffer_octets.is_none()
                && application.fills_socket()
                && let Some(wire) = self.first_wire(source, destination)
            {
                counts[wire] += 1;
            }
        }
        counts
    }

    /// How many datagrams of a flow may be between application and air.
    fn room(
        &self,
        flow: &scenario::Flow,
        options: &UdpOptions,
        ends: Ends<NodeId>,
        application: &Running,
        filling: &Table<WireId, u32>,
    ) -> u32 {
        let Some(payload) = application.datagram_octets() else {
            return u32::MAX;
        };
        let Ends {
            from: source,
            to: destination,
        } = ends;
        if let Some(octets) = options.socket_buffer_octets {
            return (octets / payload).max(1);
        }
        if !application.fills_socket() {
            return u32::MAX;
        }
        let net = &self.world.stack.net;
        let ipv6 = flow.ip == IpVersion::Ipv6;
        let ip_octets = PacketForm::datagram_octets(flow.ip.header_octets(), payload);
        let packets = net.packets_of(source, destination, ip_octets, ipv6);
        if net.role(source) == Role::Wired {
            // A full queue holds a local application back, and the applications share the queue. With
            // more packets between them than it takes, the first flows would keep all of its places:
            // a packet that leaves makes room for the next one of its own flow.
            let share = self
                .first_wire(source, destination)
                .map_or(u32::MAX, |wire| {
                    net.wire_limit(wire) / filling[wire].max(1) / packets
                });
            return share.clamp(1, WIRED_ROOM);
        }
        // Twice what one PPDU takes, so that the radio never waits for the application, and no
        // more than the queue holds, because a local application is held back by a full queue.
        let mac = &self.world.stack.lower.mac;
        let radio = RadioId::first_of(source);
        let links = || mac.first_links(radio).map(|link| mac.link(link));
        let window = links()
            .filter_map(|link| match link.rate() {
                RateControl::Fixed(mode) => Some(mac.mode(*mode).window()),
                _ => mac.modes().iter().map(Mode::window).max(),
            })
            .max()
            .unwrap_or(1);
        let amsdu = match links().next() {
            Some(link) => link.amsdu_octets() / payload + 1,
            None => 1,
        };
        (2 * window * amsdu + 8)
            .min(mac.queue_limit(radio) / self.sharing(flow) / packets)
            .max(1)
    }

    /// Packets of one flow that the transmit queue of a host takes; `None` for a wired host, whose
    /// window is smaller than its queue.
    fn local_room(&self, node: NodeId) -> Option<u32> {
        if self.world.stack.net.role(node) == Role::Wired {
            return None;
        }
        let name = self.scenario.nodes[node.index()].name.as_str();
        let ends = |flow: &&scenario::Flow| [&*flow.source, &*flow.destination].contains(&name);
        let flows = self.scenario.flows.iter().filter(ends).count() as u32;
        let limit = self
            .world
            .stack
            .lower
            .mac
            .queue_limit(RadioId::first_of(node));
        Some((limit / flows.max(1)).max(2))
    }

    /// How many flows of UDP leave from the same node.
    fn sharing(&self, flow: &scenario::Flow) -> u32 {
        let shares = |f: &&scenario::Flow| {
            f.source == flow.source && matches!(f.transport, Transport::Udp(_))
        };
        self.scenario.flows.iter().filter(shares).count() as u32
    }

    /// The full queue of a saturated sender whose socket does not hold it back.
    fn backlog(
        &self,
        flow: &scenario::Flow,
        source: NodeId,
        application: &Running,
        start: Instant,
    ) -> Option<Backlog> {
        let mac = &self.world.stack.lower.mac;
        let radio = RadioId::first_of(source);
        let held_back = match &flow.transport {
            Transport::Udp(options) => options.socket_buffer_octets.is_some(),
            Transport::Tcp(_) => true,
        };
        let fills = application.is_saturated()
            && self.world.stack.net.role(source) != Role::Wired
            && mac.lifetime(radio) != NO_LIFETIME
            && !held_back;
        fills.then(|| Backlog::new(mac.queue_limit(radio) / self.sharing(flow), start))
    }

    /// The parameters of data from source to destination, and back.
    fn tcp_configs(
        &self,
        options: &scenario::TcpOptions,
        ends: Ends<NodeId>,
        ip_header: u32,
    ) -> [TcpConfig; 2] {
        // A tunnel's interface has a smaller MTU; either end announces what it can take (RFC 6691).
        let room = |Ends { from, to }: Ends<NodeId>| {
            let net = &self.world.stack.net;
            let found = !options.no_path_mtu_discovery;
            let tunnels = net.tunnels(from).iter();
            let tunnels = tunnels.filter(|end| found && end.takes(to, true));
            tunnels
                .rev()
                .fold(net.mtu(from), |mtu, end| end.longest_segment(mtu))
        };
        let mtu = room(ends).min(room(ends.reversed()));
        let system = |node: NodeId| self.scenario.nodes[node.index()].host.tcp;
        [ends, ends.reversed()].map(|Ends { from, to }| {
            let systems = [system(from), system(to)];
            TcpConfig::of_flow(options, systems, mtu - ip_header - 20)
        })
    }
}
