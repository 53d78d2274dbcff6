//! IP packets and their fragments: takes addresses and payload, gives octets.

use core::net::IpAddr;

use airtoll_wire::ipv4::Ipv4Repr;
use airtoll_wire::ipv6::Ipv6Repr;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address;
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
