//! IP packets of flows: takes a packet of the simulated view, gives its octets.
//!
//! Octets depend on the packet alone, so that it reads the same on every hop and in every
//! retransmission. Payloads are made up: datagrams carry their number and the time at which they
//! were sent, streams the digits of the offset. Voice has RTP headers (RFC 3550).

use core::net::IpAddr;

use airtoll_units::Instant;
use airtoll_wire::ipv4::{Ipv4Repr, protocol};
use airtoll_wire::ipv6::Ipv6Repr;
use airtoll_wire::tcp::{TcpRepr, flag};
use airtoll_wire::udp::UdpRepr;

use super::View;
use super::{signal, stream};
use crate::address;
use crate::application::End;
use crate::flow::{Carried, Connection, Flow};
use crate::id::{FlowId, SegmentId};
use crate::packet::{Carries, Packet};
use crate::transport::{Ack, Segment, TcpConfig};

/// The whole packet of a flow before any tunnel; `fragile` says that it may be fragmented.
pub(super) fn octets(view: &View<'_>, p: &Packet, fragile: bool) -> Vec<u8> {
    if let Carries::Piece { stream, piece } = p.carries {
        return stream::packet(view, (stream, piece), p, fragile);
    }
    let Some(number) = p.flow() else {
        return signal::packet(view, p, fragile);
    };
    let flow = view.flow(number);
    let (from, to) = flow.ends(p.reverse);
    let six = flow.is_ipv6();
    let (from, to) = (address::ip(from, six), address::ip(to, six));
    let mut segment = Vec::with_capacity(p.ip_octets as usize);
    let kind = if let (Some(connection), Carries::Segment { place, .. }) =
        (flow.connection(), p.carries)
    {
        tcp(connection, (number, place), p, (from, to), &mut segment);
        protocol::TCP
    } else {
        udp((flow, number), p, (from, to), &mut segment);
        protocol::UDP
    };
    let class = traffic_class(p.category);
    let mut out = Vec::with_capacity(segment.len() + 40);
    wrap(
        from,
        to,
        kind,
        class,
        fragile.then_some(p.mark() as u16),
        &segment,
        &mut out,
    );
    out
}

/// Appends an IP packet; `fragile` is the identification of one that may be fragmented.
pub(super) fn wrap(
    from: IpAddr,
    to: IpAddr,
    kind: u8,
    class: u8,
    fragile: Option<u16>,
    payload: &[u8],
    out: &mut Vec<u8>,
) {
    match (from, to) {
        (IpAddr::V4(from), IpAddr::V4(to)) => Ipv4Repr {
            traffic_class: class,
            identification: fragile.unwrap_or(0),
            dont_fragment: fragile.is_none(),
            ..Ipv4Repr::new(from, to, kind, payload)
        }
        .emit(out),
        (IpAddr::V6(from), IpAddr::V6(to)) => Ipv6Repr {
            traffic_class: class,
            ..Ipv6Repr::new(from, to, kind, payload)
        }
        .emit(out),
        _ => {}
    }
}

/// One fragment of a packet: the octets of its body from `offset` on (RFC 791 section 3.2, RFC
/// 8200 section 4.5).
pub(super) fn piece(whole: &[u8], identification: u32, offset: usize, octets: usize) -> Vec<u8> {
    let six = whole[0] >> 4 == 6;
    let (header, extra) = if six { (40, 8) } else { (20, 0) };
    let body = &whole[header..];
    let end = (offset + octets - header - extra).min(body.len());
    let more = end < body.len();
    let mut out = whole[..header].to_vec();
    if six {
        let next = out[6];
        let length = (end - offset + extra) as u16;
        out[4..6].copy_from_slice(&length.to_be_bytes());
        out[6] = 44;
        let place = (offset as u16 & 0xfff8) | u16::from(more);
        out.extend_from_slice(&[next, 0]);
        out.extend_from_slice(&place.to_be_bytes());
        out.extend_from_slice(&identification.to_be_bytes());
        out.extend_from_slice(&body[offset..end]);
        return out;
    }
    let Ok(repr) = Ipv4Repr::parse(whole) else {
        return out;
    };
    out.clear();
    Ipv4Repr {
        more_fragments: more,
        fragment_offset: (offset / 8) as u16,
        dont_fragment: false,
        payload: &body[offset..end],
        ..repr
    }
    .emit(&mut out);
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

/// Ports of a flow: client's, server's.
const fn ports(flow: FlowId, voice: bool) -> (u16, u16) {
    let flow = flow.number();
    if voice {
        let port = 16_384 + (flow * 2 % 16_384) as u16;
        return (port, port);
    }
    (49_152 + (flow % 16_384) as u16, 5_201)
}

fn digits(from: u64, count: usize, out: &mut Vec<u8>) {
    let first = (from % 10) as usize;
    out.extend((first..first + count).map(|n| b'0' + (n % 10) as u8));
}

fn udp(
    (flow, number): (&Flow, FlowId),
    p: &Packet,
    (from, to): (IpAddr, IpAddr),
    out: &mut Vec<u8>,
) {
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
    let (client, server) = ports(number, flow.speech().is_some());
    let (source, destination) = if p.reverse {
        (server, client)
    } else {
        (client, server)
    };
    UdpRepr {
        source,
        destination,
        payload: &payload,
    }
    .emit(from, to, out);
}

fn tcp(
    connection: &Connection,
    (flow, place): (FlowId, SegmentId),
    p: &Packet,
    (from, to): (IpAddr, IpAddr),
    out: &mut Vec<u8>,
) {
    let carried = connection.carried(place);
    // The end whose data the packet carries or acknowledges.
    let end = match carried {
        Carried::Segment(end, ..) | Carried::Ack(end, ..) => end,
    };
    let (client, server) = ports(flow, false);
    let (source, destination) = if p.reverse {
        (server, client)
    } else {
        (client, server)
    };
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
    repr.emit(from, to, out);
}

/// Initial sequence number of the stream of an end of a flow.
const fn initial_sequence(flow: FlowId, end: End) -> u32 {
    (flow.number() * 2 + end.index() as u32 + 1).wrapping_mul(0x9e37_79b1)
}

/// RFC 9293 section 3.7.1, RFC 2018 section 2, RFC 7323 sections 2 and 3.
fn syn_options(config: &TcpConfig, scale: u32, times: (Instant, Instant), out: &mut Vec<u8>) {
    out.extend_from_slice(&[2, 4]);
    out.extend_from_slice(&(config.mss.min(65_535) as u16).to_be_bytes());
    match (config.timestamps, config.sack) {
        (true, true) => {
            out.extend_from_slice(&[4, 2, 8, 10]);
            timestamps(times, out);
        }
        (true, false) => {
            out.extend_from_slice(&[1, 1, 8, 10]);
            timestamps(times, out);
        }
        (false, true) => out.extend_from_slice(&[1, 1, 4, 2]),
        (false, false) => {}
    }
    if config.window_scaling {
        out.extend_from_slice(&[1, 3, 3, scale as u8]);
    }
}

fn timestamps((value, echo): (Instant, Instant), out: &mut Vec<u8>) {
    let ms = |at: Instant| (at.as_nanos() / 1_000_000) as u32;
    out.extend_from_slice(&ms(value).to_be_bytes());
    out.extend_from_slice(&ms(echo).to_be_bytes());
}

pub(super) fn segment_options(
    config: &TcpConfig,
    segment: &Segment,
    scale: u32,
    out: &mut Vec<u8>,
) {
    if segment.syn {
        syn_options(config, scale, (segment.sent_at, Instant::ZERO), out);
    } else if config.timestamps {
        out.extend_from_slice(&[1, 1, 8, 10]);
        // The value that the sender would echo is not kept: its own time replaces that.
        timestamps((segment.sent_at, segment.sent_at), out);
    }
}

pub(super) fn ack_options(
    config: &TcpConfig,
    ack: &Ack,
    sent_at: Instant,
    initial: u32,
    scale: u32,
    out: &mut Vec<u8>,
) {
    if ack.syn {
        syn_options(config, scale, (sent_at, ack.echo), out);
        return;
    }
    if config.timestamps {
        out.extend_from_slice(&[1, 1, 8, 10]);
        timestamps((sent_at, ack.echo), out);
    }
    let blocks = ack.sack.as_slice();
    if blocks.is_empty() {
        return;
    }
    out.extend_from_slice(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
    for (start, end) in blocks {
        for edge in [start, end] {
            let edge = initial.wrapping_add(1).wrapping_add(*edge as u32);
            out.extend_from_slice(&edge.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::NodeId;

    #[test]
    fn pieces_put_together_are_the_packet() {
        let node = NodeId::new;
        let from = address::ip(node(0), false);
        let body: Vec<u8> = (0..100).collect();
        for (six, header) in [(false, 20), (true, 40)] {
            let (from, to) = (address::ip(node(0), six), address::ip(node(1), six));
            let mut whole = Vec::new();
            wrap(from, to, 17, 0, Some(9), &body, &mut whole);
            let extra = if six { 8 } else { 0 };
            let first = piece(&whole, 9, 0, header + extra + 64);
            let last = piece(&whole, 9, 64, header + extra + 36);
            assert_eq!(first.len(), header + extra + 64);
            assert_eq!(last.len(), header + extra + 36);
            let mut again = first[header + extra..].to_vec();
            again.extend_from_slice(&last[header + extra..]);
            assert_eq!(again, body);
        }
        assert_eq!(from.to_string(), "10.0.0.1");
    }
}
