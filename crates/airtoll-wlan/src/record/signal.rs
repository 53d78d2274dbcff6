//! Messages of negotiations: takes one under way, gives its frame or IP packet with the octets
//! that its party composed.

use airtoll_handshakes::Carrier;
use airtoll_handshakes::tunnel::wireguard::ROSENPASS_PORT;
use airtoll_wire::ipv4::protocol;
use airtoll_wire::openvpn::PORT as OPENVPN_PORT;
use airtoll_wire::udp::UdpRepr;

use super::View;
use super::cipher::{GroupIntegrity, LinkCipher};
use super::frame::{DataFrame, Msdu, MsduEnds};
use super::ip::wrap;
use crate::address;
use crate::id::Ends;
use crate::packet::Packet;

/// EtherType of EAPOL (IEEE 802.1X-2020, table 11-1).
const EAPOL: u16 = 0x888e;
/// EtherType of pre-authentication (IEEE 802.11-2020, 12.6.10.2).
const PREAUTHENTICATION: u16 = 0x88c7;
/// EtherType of frames between access points (IEEE 802.11-2020, annex H).
const REMOTE: u16 = 0x890d;
/// Source port of a client, where the protocol names none.
const ASKING_PORT: u16 = 49_152;
/// RADIUS authentication (RFC 2865 section 3).
const RADIUS: u16 = 1812;
/// Ports of IKE, OpenVPN, WireGuard and Rosenpass, whose messages have the addresses of the tunnel.
const TUNNELS: [u16; 5] = [500, 4_500, OPENVPN_PORT, 51_820, ROSENPASS_PORT];
/// Protocol number of ICMP.
const ICMP: u8 = 1;

/// The management or EAPOL frame that a packet stands for, without FCS; an EAPOL frame has this
/// destination and source.
pub(super) fn frame(
    view: &View<'_>,
    p: &Packet,
    (header, ends): (&DataFrame, MsduEnds),
    cipher: Option<&mut LinkCipher>,
    groups: Option<&mut GroupIntegrity>,
) -> Vec<u8> {
    let Some(signal) = p.signal().and_then(|s| view.join.signal(s)) else {
        return Vec::new();
    };
    let mut octets = signal.message().octets.clone();
    if signal.message().carrier == Carrier::Management {
        let control = (header.sequence << 4) as u16;
        if let Some(field) = octets.get_mut(22..24) {
            field.copy_from_slice(&control.to_le_bytes());
        }
        if !signal.is_protected() {
            return octets;
        }
        return match (groups, cipher) {
            (Some(groups), _) => groups.protect(octets),
            (None, Some(cipher)) => robust(&octets, cipher),
            (None, None) => octets,
        };
    }
    let msdu = Msdu {
        destination: ends.destination,
        source: ends.source,
        ethertype: EAPOL,
        payload: octets,
    };
    header.compose(&[msdu], cipher.filter(|_| signal.is_protected()))
}

/// Whether a packet stands for a management frame.
pub(super) fn is_management(view: &View<'_>, p: &Packet) -> bool {
    let signal = p.signal().and_then(|s| view.join.signal(s));
    signal.is_some_and(|signal| signal.message().carrier == Carrier::Management)
}

/// A management frame under the pairwise key (12.6.19, 12.5.3.3).
fn robust(frame: &[u8], cipher: &mut LinkCipher) -> Vec<u8> {
    const HEADER: usize = 24;
    let (header, body) = frame.split_at(HEADER.min(frame.len()));
    let mut out = header.to_vec();
    out.resize(out.len() + cipher.header_octets(), 0);
    out.extend_from_slice(body);
    out.resize(out.len() + cipher.trailer_octets(), 0);
    cipher.seal(&mut out);
    out
}

/// EtherType and octets of the packet of pre-authentication, or between access points, that a
/// packet stands for; `None` for any other packet.
pub(super) fn ahead(view: &View<'_>, p: &Packet) -> Option<(u16, Vec<u8>)> {
    if p.layer().is_some() {
        return None;
    }
    let message = view.join.signal(p.signal()?)?.message();
    let ethertype = match message.carrier {
        Carrier::Eapol => PREAUTHENTICATION,
        Carrier::DistributionSystem => REMOTE,
        _ => return None,
    };
    Some((ethertype, message.octets.clone()))
}

/// The IP packet of a message on a wire or in a data frame; `fragile` says that it may be
/// fragmented.
pub(super) fn packet(view: &View<'_>, p: &Packet, fragile: bool) -> Vec<u8> {
    let id = p.signal();
    let of_tunnels =
        |carrier: Carrier| matches!(carrier, Carrier::Udp(port) if TUNNELS.contains(&port));
    let ends = id.and_then(|s| {
        if of_tunnels(view.join.signal(s)?.message().carrier) {
            return view.join.outside(s);
        }
        let Ends { from, to } = view.join.ends(s)?;
        Some(Ends {
            from: from.into(),
            to: to.into(),
        })
    });
    let (Some(signal), Some(Ends { from, to })) = (id.and_then(|s| view.join.signal(s)), ends)
    else {
        return vec![0; p.ip_octets as usize];
    };
    let message = signal.message();
    let (from, to) = (address::ip(from, false), address::ip(to, false));
    let asks = message.from < message.to;
    let ports = |server: u16| {
        if asks {
            (ASKING_PORT, server)
        } else {
            (server, ASKING_PORT)
        }
    };
    let mut segment = Vec::new();
    let mut kind = protocol::UDP;
    let (source, destination) = match message.carrier {
        Carrier::Icmp => {
            kind = ICMP;
            segment.clone_from(&message.octets);
            (0, 0)
        }
        Carrier::Udp(port) => (port, port),
        _ => ports(RADIUS),
    };
    if kind == protocol::UDP {
        UdpRepr {
            source,
            destination,
            payload: &message.octets,
        }
        .emit(from, to, &mut segment);
    }
    let mut out = Vec::with_capacity(segment.len() + 20);
    let identification = fragile.then_some(p.mark() as u16);
    wrap(from, to, kind, 0, identification, &segment, &mut out);
    out
}
