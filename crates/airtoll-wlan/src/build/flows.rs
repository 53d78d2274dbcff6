//! Flows: their applications, transports and the socket buffers of their senders.

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use super::Builder;
use crate::flow::{Application, Connection, Flow, RequestResponse, Step};
use crate::id::{FlowId, NodeId, RadioId};
use crate::mac::{Backlog, NO_LIFETIME, RateControl};
use crate::net::Route;
use crate::scenario::{self, Arrivals, Dns, IpVersion, Pattern, Role, ScenarioError, Transport};
use crate::transport::TcpConfig;

impl Builder<'_> {
    pub(super) fn add_flows(&mut self) -> Result<(), ScenarioError> {
        for (i, flow) in self.scenario.flows.iter().enumerate() {
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
            let ip_header = match flow.ip {
                IpVersion::Ipv4 => 20,
                IpVersion::Ipv6 => 40,
            };
            let start = Instant::ZERO + Duration::from_secs_f64(flow.start_s);
            let application = application(flow, start);
            let payload = match application {
                Application::Saturated { payload }
                | Application::Paced { payload, .. }
                | Application::Transfer { payload, .. } => payload,
                Application::RequestResponse(_) => 1,
            };
            let connection = match &flow.transport {
                Transport::Udp(_) => None,
                Transport::Tcp(options) => {
                    let ends = (source, destination);
                    let configs = self.tcp_configs(options, ends, ip_header);
                    for config in &configs {
                        config
                            .validate()
                            .map_err(|problem| ScenarioError::Invalid {
                                field: format!("flows[{i}].transport.{}", problem.field),
                                value: problem.value.to_string(),
                                allowed: problem.allowed.to_owned(),
                            })?;
                    }
                    let rooms = [source, destination].map(|node| self.local_room(node));
                    Some(Box::new(Connection::new(configs, rooms)))
                }
            };
            let room = self.room(flow, source, payload);
            if let Some(backlog) = self.backlog(flow, source, start) {
                self.world
                    .stack
                    .lower
                    .mac
                    .set_backlog(FlowId::new(i as u32), backlog);
            }
            let stream = self.flow_stream(&flow.name);
            self.world.stack.lower.cx.observers.add_flow();
            self.world.stack.flow.add(Flow {
                name: flow.name.clone(),
                station: flow.station.clone(),
                source,
                destination,
                ip_header,
                category: flow.access_category as u8,
                application,
                connection,
                voice: match flow.pattern {
                    Pattern::Voip { interval_ms, .. } => {
                        Some(Duration::from_secs_f64(interval_ms / 1e3))
                    }
                    _ => None,
                },
                start,
                stop: flow
                    .stop_s
                    .map_or(Instant::MAX, |s| Instant::ZERO + Duration::from_secs_f64(s)),
                held: 0,
                room,
                blocked: false,
                next_number: 0,
                stream,
            });
        }
        Ok(())
    }

    fn flow_stream(&self, name: &str) -> Stream {
        self.streams.named(&format!("flow/{name}"))
    }

    /// How many datagrams of a flow may be between application and air.
    fn room(&self, flow: &scenario::Flow, source: NodeId, payload: u32) -> u32 {
        let Transport::Udp(options) = &flow.transport else {
            return u32::MAX;
        };
        if let Some(octets) = options.socket_buffer_octets {
            return (octets / payload).max(1);
        }
        if !matches!(
            flow.pattern,
            Pattern::Saturated { .. } | Pattern::Transfer { .. }
        ) {
            return u32::MAX;
        }
        if self.world.stack.net.role(source) == Role::Wired {
            return 64;
        }
        // Twice what one PPDU takes, so that the radio never waits for the application, and no
        // more than the queue holds, because a local application is held back by a full queue.
        let mac = &self.world.stack.lower.mac;
        let radio = RadioId::first_of(source);
        let links = || mac.first_links(radio).map(|link| mac.link(link));
        let window = links()
            .filter_map(|link| match &link.rate {
                RateControl::Fixed(mode) => Some(mac.mode(*mode).window),
                _ => mac.modes().iter().map(|m| m.window).max(),
            })
            .max()
            .unwrap_or(1);
        let amsdu = match links().next() {
            Some(link) => link.amsdu_octets / payload.max(1) + 1,
            None => 1,
        };
        (2 * window * amsdu + 8)
            .min(mac.queue_limit(radio) / self.sharing(flow))
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
    fn backlog(&self, flow: &scenario::Flow, source: NodeId, start: Instant) -> Option<Backlog> {
        let mac = &self.world.stack.lower.mac;
        let radio = RadioId::first_of(source);
        let held_back = match &flow.transport {
            Transport::Udp(options) => options.socket_buffer_octets.is_some(),
            Transport::Tcp(_) => true,
        };
        let fills = matches!(flow.pattern, Pattern::Saturated { .. })
            && self.world.stack.net.role(source) != Role::Wired
            && mac.lifetime(radio) != NO_LIFETIME
            && !held_back;
        fills.then(|| Backlog::new(mac.queue_limit(radio) / self.sharing(flow), start))
    }

    /// The parameters of data from source to destination, and back.
    fn tcp_configs(
        &self,
        options: &scenario::TcpOptions,
        (source, destination): (NodeId, NodeId),
        ip_header: u32,
    ) -> [TcpConfig; 2] {
        // A tunnel's interface has a smaller MTU; either end announces what it can take (RFC 6691).
        let room = |from: NodeId, to: NodeId| {
            let net = &self.world.stack.net;
            let ends = net.tunnels(from).iter().filter(|end| end.takes(to, true));
            ends.rev()
                .fold(net.mtu(from), |mtu, end| end.longest_inner(mtu))
        };
        let mtu = room(source, destination).min(room(destination, source));
        let system = |node: NodeId| self.scenario.nodes[node.index()].host.tcp;
        [(source, destination), (destination, source)].map(|(from, to)| {
            let systems = [system(from), system(to)];
            TcpConfig::of_flow(options, systems, mtu - ip_header - 20)
        })
    }
}

fn application(flow: &scenario::Flow, start: Instant) -> Application {
    let paced = |payload: u32, interval_ns: f64, poisson| Application::Paced {
        payload,
        interval_ns,
        poisson,
        due_ns: start.as_nanos() as f64,
    };
    match flow.pattern {
        Pattern::Saturated { payload_octets } => Application::Saturated {
            payload: payload_octets,
        },
        Pattern::Paced {
            payload_octets,
            rate_bps,
            arrivals,
        } => paced(
            payload_octets,
            f64::from(payload_octets) * 8e9 / rate_bps,
            arrivals == Arrivals::Poisson,
        ),
        Pattern::Transfer {
            octets,
            payload_octets,
        } => Application::Transfer {
            payload: payload_octets,
            done: false,
            left: octets,
            total: octets,
        },
        Pattern::Voip {
            payload_octets,
            interval_ms,
        } => paced(payload_octets, interval_ms * 1e6, false),
        Pattern::RequestResponse {
            request_octets,
            response_octets,
            server_s,
            think_s,
            count,
            retry_s,
        } => Application::RequestResponse(RequestResponse::new(
            vec![Step {
                request: request_octets,
                response: response_octets,
                server: Duration::from_secs_f64(server_s),
            }],
            Duration::from_secs_f64(think_s),
            Duration::from_secs_f64(retry_s),
            count,
        )),
        Pattern::Dns(dns) => {
            let over_tls = matches!(flow.transport, Transport::Tcp(_));
            let mut lookups = RequestResponse::new(
                lookup(&dns, over_tls),
                Duration::from_secs_f64(dns.think_s),
                Duration::from_secs_f64(dns.retry_s),
                dns.count,
            );
            lookups.reconnects = over_tls;
            lookups.counts_waits = true;
            Application::RequestResponse(lookups)
        }
    }
}

/// Octets of the length before a DNS message on a stream (RFC 1035 section 4.2.2).
const DNS_LENGTH: u32 = 2;
/// Octets that a TLS 1.3 record adds: header 5, content type 1, authentication tag 16 (RFC 8446
/// section 5.2).
const TLS_RECORD: u32 = 22;

/// The steps of one lookup: query and answer over UDP; over TLS the handshake before them, and the
/// query behind the client's Finished.
fn lookup(dns: &Dns, over_tls: bool) -> Vec<Step> {
    let server = Duration::from_secs_f64(dns.server_s);
    if !over_tls {
        return vec![Step {
            request: dns.query_octets,
            response: dns.answer_octets,
            server,
        }];
    }
    let framed = |message: u32| DNS_LENGTH + message + TLS_RECORD;
    vec![
        Step {
            request: dns.client_hello_octets,
            response: dns.server_flight_octets,
            server: Duration::ZERO,
        },
        Step {
            request: dns.client_finished_octets + framed(dns.query_octets),
            response: framed(dns.answer_octets),
            server,
        },
    ]
}
