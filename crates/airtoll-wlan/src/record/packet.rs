//! IP packets of flows: takes a packet of the simulated view, gives its octets.
//!
//! Octets depend on the packet alone, so that it reads the same on every hop and in every
//! retransmission. Payloads are made up: datagrams carry their number and the time at which they
//! were sent, streams the digits of the offset. Voice has RTP headers (RFC 3550).

use core::net::IpAddr;

use airtoll_wire::ipv4::protocol;
use airtoll_wire::tcp::{TcpRepr, flag};
use airtoll_wire::udp::UdpRepr;

use super::View;
use super::ip::wrap;
use super::tcp_options::{ack_options, segment_options};
use super::{signal, stream};
use crate::address;
use crate::application::End;
use crate::flow::{Carried, Connection, Flow};
use crate::id::{Ends, FlowId, SegmentId};
use crate::packet::{Carries, Packet};

/// The whole packet of a flow before any tunnel; `fragile` says that it may be fragmented.
pub(super) fn octets(view: &View<'_>, p: &Packet, fragile: bool) -> Vec<u8> {
    if let Carries::Piece { stream, piece } = p.carries {
        return stream::packet(view, (stream, piece), p, fragile);
    }
    let Some(number) = p.flow() else {
        return signal::packet(view, p, fragile);
    };
    let flow = view.flow(number);
    let ends = flow.ends(p.reverse);
    let six = flow.is_ipv6();
    let ends = Ends {
        from: address::ip(ends.from, six),
        to: address::ip(ends.to, six),
    };
    let mut segment = Vec::with_capacity(p.ip_octets as usize);
    let kind = if let (Some(connection), Carries::Segment { place, .. }) =
        (flow.connection(), p.carries)
    {
        tcp(connection, (number, place), p, ends, &mut segment);
        protocol::TCP
    } else {
        udp((flow, number), p, ends, &mut segment);
        protocol::UDP
    };
    let class = traffic_class(p.category);
    let mut out = Vec::with_capacity(segment.len() + 40);
    wrap(
        ends.from,
        ends.to,
        kind,
        class,
        fragile.then_some(p.mark() as u16),
        &segment,
        &mut out,
    );
    out
}

/// DSCP of an access category as Wi-Fi networks map it (RFC 8325): CS1, best effort, AF41, EF.
const fn traffic_class(category: u8) -> u8 {
    match category {
        0 => 8 << 2,
        2 => 34 << 2,
        3 => 46 << 2,
        _ => 0,
    }
}

/// Ports of a packet from the client of a flow to its server.
const fn ports(flow: FlowId, voice: bool) -> Ends<u16> {
    let flow = flow.number();
    if voice {
        let port = 16_384 + (flow * 2 % 16_384) as u16;
        return Ends {
            from: port,
            to: port,
        };
    }
    Ends {
        from: 49_152 + (flow % 16_384) as u16,
        to: 5_201,
    }
}

fn digits(from: u64, count: usize, out: &mut Vec<u8>) {
    let first = (from % 10) as usize;
    out.extend((first..first + count).map(|n| b'0' + (n % 10) as u8));
}

fn udp((flow, number): (&Flow, FlowId), p: &Packet, ends: Ends<IpAddr>, out: &mut Vec<u8>) {
    let count = p.payload as usize;
    let mut payload = Vec::with_capacity(count);
    if flow.speech().is_some() && count >= 12 {
        // Version 2, payload type 0 (PCMU), 8 kHz.
        payload.extend_from_slice(&[0x80, 0]);
        payload.extend_from_slice(&(p.mark() as u16).to_be_bytes());
        let samples = u32::try_from(count - 12).unwrap_or(0);
        payload.extend_from_slice(&p.mark().wrapping_mul(samples).to_be_bytes());
        payload.extend_from_slice(&(number.number() + 1).to_be_bytes());
    } else {
        let us = p.created.as_nanos() / 1_000;
        payload.extend_from_slice(&p.mark().to_be_bytes());
        payload.extend_from_slice(&((us / 1_000_000) as u32).to_be_bytes());
        payload.extend_from_slice(&((us % 1_000_000) as u32).to_be_bytes());
    }
    payload.truncate(count);
    digits(0, count - payload.len(), &mut payload);
    let ports = ports(number, flow.speech().is_some());
    let ports = if p.reverse { ports.reversed() } else { ports };
    UdpRepr {
        source: ports.from,
        destination: ports.to,
        payload: &payload,
    }
    .emit(ends.from, ends.to, out);
}

fn tcp(
    connection: &Connection,
    (flow, place): (FlowId, SegmentId),
    p: &Packet,
    ends: Ends<IpAddr>,
    out: &mut Vec<u8>,
) {
    let carried = connection.carried(place);
    // The end whose data the packet carries or acknowledges.
    let end = match carried {
        Carried::Segment(end, ..) | Carried::Ack(end, ..) => end,
    };
    let ports = ports(flow, false);
    let ports = if p.reverse { ports.reversed() } else { ports };
    let (source, destination) = (ports.from, ports.to);
    let scale = connection.window_scale(end);
    let config = connection.config(End::Source);
    // Number of an offset in the stream of an end.
    let number = |end: End, offset: u64| {
        initial_sequence(flow, end)
            .wrapping_add(1)
            .wrapping_add(offset as u32)
    };
    let other = end.other();
    let mut options = Vec::new();
    let mut payload = Vec::new();
    let mut repr = match &carried {
        Carried::Segment(_, segment, rides, known) => {
            segment_options(config, segment, scale, &mut options);
            digits(segment.sequence, segment.payload as usize, &mut payload);
            let mut repr = TcpRepr {
                source,
                destination,
                sequence: number(end, segment.sequence),
                acknowledgement: number(other, *known),
                flags: flag::ACK,
                window: u16::MAX >> scale.min(8),
                options: &[],
                payload: &[],
            };
            if segment.syn {
                repr.sequence = initial_sequence(flow, end);
                (repr.acknowledgement, repr.flags) = (0, flag::SYN);
                repr.window = u16::MAX;
            } else if segment.payload > 0 {
                repr.flags |= flag::PSH;
            }
            if let Some(ack) = rides {
                repr.window = u16::try_from(ack.window >> scale).unwrap_or(u16::MAX);
            }
            repr
        }
        Carried::Ack(_, ack, sent) => {
            let initial = initial_sequence(flow, end);
            ack_options(config, ack, p.created, initial, scale, &mut options);
            let window = if ack.syn {
                ack.window
            } else {
                ack.window >> scale
            };
            TcpRepr {
                source,
                destination,
                sequence: if ack.syn {
                    initial_sequence(flow, other)
                } else {
                    number(other, *sent)
                },
                acknowledgement: number(end, ack.acknowledged),
                flags: if ack.syn {
                    flag::SYN | flag::ACK
                } else {
                    flag::ACK
                },
                window: u16::try_from(window).unwrap_or(u16::MAX),
                options: &[],
                payload: &[],
            }
        }
    };
    repr.options = &options;
    repr.payload = &payload;
    repr.emit(ends.from, ends.to, out);
}

/// Initial sequence number of the stream of an end of a flow.
const fn initial_sequence(flow: FlowId, end: End) -> u32 {
    (flow.number() * 2 + end.index() as u32 + 1).wrapping_mul(0x9e37_79b1)
}
