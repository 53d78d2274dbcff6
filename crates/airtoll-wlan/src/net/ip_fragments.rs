//! IP fragments: packets that are longer than the MTU of the node that sends them.
//!
//! Takes a packet; gives its fragments, and the packet once the last of them is there. Fragments
//! are not retransmitted: a packet that lacks one is lost.

use airtoll_units::Duration;

use super::Net;
use crate::context::{Action, Context};
use crate::id::{NodeId, PacketId};
use crate::lower::Lower;
use crate::packet::{Loss, Packet, Tunnelled};

/// The fragments of one packet.
#[derive(Debug, Clone, Copy)]
pub(super) struct FragmentGroup {
    pub left: u16,
    pub failed: Option<Loss>,
    pub whole: Packet,
}

/// IPv6 fragment header (RFC 8200 section 4.5).
const FRAGMENT_HEADER: u32 = 8;

/// Octets of the IP headers of a fragment.
struct FragmentHeaders {
    /// That of IP.
    header: u32,
    /// IPv6 extension header.
    extra: u32,
}

fn headers(ipv6: bool) -> FragmentHeaders {
    let (header, extra) = if ipv6 { (40, FRAGMENT_HEADER) } else { (20, 0) };
    FragmentHeaders { header, extra }
}

/// The most data of a packet that a fragment of at most `mtu` octets carries (RFC 791 section 3.2, RFC
/// 8200 section 4.5).
fn most_data(mtu: u32, ipv6: bool) -> u32 {
    let FragmentHeaders { header, extra } = headers(ipv6);
    (mtu - header - extra) / 8 * 8
}

/// Lengths of the packets that one of `ip_octets` octets becomes at `mtu`.
pub(crate) fn fragment_lengths(ip_octets: u32, mtu: u32, ipv6: bool) -> Vec<u32> {
    if ip_octets <= mtu {
        return vec![ip_octets];
    }
    let FragmentHeaders { header, extra } = headers(ipv6);
    let (body, most) = (ip_octets - header, most_data(mtu, ipv6));
    let mut lengths = vec![header + extra + most; (body / most) as usize];
    if body % most > 0 {
        lengths.push(header + extra + body % most);
    }
    lengths
}

/// Whether fragments enter the tunnels of the node that makes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// They do not.
    None,
    /// They do; the node sends the packet itself.
    Own,
    /// They do; the node forwards the packet.
    Forwarded,
}

impl Net {
    /// How many packets a node's radio or wire gets for one of `ip_octets` octets that the node sends
    /// itself: its tunnels and its MTU may make fragments of it.
    pub fn packets_of(&self, node: NodeId, to: NodeId, ip_octets: u32, ipv6: bool) -> u32 {
        let mtu = self.own_tunnel_mtu(node, to).unwrap_or(u32::MAX);
        let inner = fragment_lengths(ip_octets, mtu, ipv6);
        let packets = inner.into_iter().map(|inner| {
            let (outer, ipv6) = self.outermost(node, to, (inner, ipv6));
            fragment_lengths(outer, self.nodes[node].mtu, ipv6).len() as u32
        });
        packets.sum()
    }

    /// Splits a packet that is longer than `mtu` (RFC 791 section 3.2, RFC 8200 section 4.5).
    pub(super) fn fragment(
        &mut self,
        lower: &mut Lower,
        node: NodeId,
        packet: PacketId,
        (mtu, entry): (u32, Entry),
        work: Duration,
    ) {
        let whole = lower.cx.packets.remove(packet);
        let ipv6 = self.has_ipv6_header(&whole);
        let FragmentHeaders { header, extra } = headers(ipv6);
        let per_fragment = most_data(mtu, ipv6);
        let mut body = whole.ip_octets - header;
        let count = body.div_ceil(per_fragment);
        let group = self.fragments.insert(FragmentGroup {
            left: count as u16,
            failed: None,
            whole,
        });
        let mut payload = whole.payload;
        let mut tunnel = whole.tunnel_octets;
        for i in 0..count {
            let data = body.min(per_fragment);
            body -= data;
            let ip_octets = header + extra + data;
            // Only the first fragment carries the inner headers.
            let inner = if i > 0 {
                0
            } else {
                let outer = if whole.tunnelled.is_none() { header } else { 0 };
                whole.ip_octets - whole.tunnel_octets - whole.payload - outer
            };
            let share = payload.min(data.saturating_sub(inner));
            payload -= share;
            let security = tunnel.min(ip_octets - share);
            tunnel -= security;
            let piece = lower.cx.packets.insert(Packet {
                ip_octets,
                payload: share,
                tunnel_octets: security,
                group: Some(group),
                offset: i * per_fragment,
                tunnelled: whole.tunnelled.map(|t| Tunnelled { under: None, ..t }),
                held: whole.held && i + 1 == count,
                ..whole
            });
            let effort = if i == 0 {
                work
            } else {
                lower.device.transmit_time(node, ip_octets)
            };
            match entry {
                Entry::None => self.dispatch(lower, node, piece, effort),
                Entry::Own | Entry::Forwarded => {
                    let own = entry == Entry::Own;
                    let effort = effort + self.encapsulate(lower, node, piece, own);
                    self.dispatch_own(lower, node, piece, effort);
                }
            }
        }
    }

    /// Gives the whole packet once its last fragment is here.
    pub(super) fn reassemble(&mut self, cx: &mut Context, packet: PacketId) -> Option<PacketId> {
        let piece = cx.packets.remove(packet);
        let group = piece.group?;
        let state = &mut self.fragments[group];
        state.left -= 1;
        if state.left > 0 {
            return None;
        }
        let FragmentGroup { failed, whole, .. } = self.fragments.remove(group);
        let whole = cx.packets.insert(Packet {
            left: piece.left,
            arrived: piece.arrived,
            held: false,
            ..whole
        });
        if let Some(cause) = failed {
            self.lose_whole(cx, whole, cause);
            return None;
        }
        Some(whole)
    }

    /// Drops a packet, and the packet that it was a fragment of once its last fragment is dropped.
    pub(super) fn lose_whole(&mut self, cx: &mut Context, packet: PacketId, cause: Loss) {
        let p = cx.packets[packet];
        self.drop_layers(&p);
        let Some(group) = p.group else {
            cx.act(Action::Lost { packet, cause });
            return;
        };
        cx.packets.remove(packet);
        let state = &mut self.fragments[group];
        state.left -= 1;
        let cause = *state.failed.get_or_insert(cause);
        if state.left == 0 {
            let whole = self.fragments.remove(group).whole;
            let whole = cx.packets.insert(whole);
            self.lose_whole(cx, whole, cause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fragment_lengths;

    #[test]
    fn fragments_carry_multiples_of_eight_octets() {
        assert_eq!(fragment_lengths(1_500, 1_500, true), [1_500]);
        assert_eq!(fragment_lengths(1_508, 1_500, true), [1_496, 68]);
        assert_eq!(fragment_lengths(3_028, 1_500, false), [1_500, 1_500, 68]);
        // The body is a multiple of what a fragment carries.
        assert_eq!(fragment_lengths(2_980, 1_500, false), [1_500, 1_500]);
    }
}
