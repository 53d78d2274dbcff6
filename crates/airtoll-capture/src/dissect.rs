//! Content of an MSDU or of a packet of a wire: takes octets after the MAC header, gives EAPOL,
//! EAP, RADIUS, tunnels, Mobile IP and messages that configure a host, and how many octets are
//! headers.
//!
//! Keeps no state: fragments must be put together before, and what only looks like a tunnel's message
//! is for [`crate::tunnels`] to tell.

use std::net::{IpAddr, Ipv4Addr};

use airtoll_security::EapMethod;
use airtoll_wire::ah::{self, AhView};
use airtoll_wire::dhcp::{self, DhcpView};
use airtoll_wire::eap::{Code, EapView};
use airtoll_wire::eapol::packet_type;
use airtoll_wire::ethernet::EthernetRepr;
use airtoll_wire::ipv4::{self, Ipv4Repr, protocol};
use airtoll_wire::ipv6::{self, Ipv6Repr};
use airtoll_wire::llc::{self, SnapRepr, ethertype};
use airtoll_wire::radius::{RadiusRepr, attribute};
use airtoll_wire::tcp;
use airtoll_wire::tls::{self, RecordView};
use airtoll_wire::udp::UdpRepr;
use airtoll_wire::{MacAddress, mobile_ipv6, openvpn, wireguard, wps};

/// Most authentication headers in front of a payload that are skipped.
const MAX_AH: usize = 4;
/// Method type of expanded EAP methods (RFC 3748 section 5.7).
const EXPANDED: u8 = 254;

/// How a packet of a wire begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// Ethernet header.
    Ethernet,
    /// A cooked capture: any link, with EtherType and sender given apart.
    Cooked {
        /// EtherType.
        ethertype: u16,
        /// Hardware address of the sender, if it is one of six octets.
        sender: Option<MacAddress>,
    },
    /// IP header.
    Ip,
}

/// An EAP packet as far as it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Eap {
    /// Code: request, response, success or failure; `None` if it is another or too short.
    pub code: Option<Code>,
    /// Method of a request or response.
    pub method: Option<u8>,
    /// TLS version that a server hello in it names.
    pub tls_version: Option<u16>,
    /// Description of a TLS alert in clear in it.
    pub alert: Option<u8>,
    /// Type of the message of Wi-Fi Protected Setup that it is; 0 where the message names none.
    pub wps: Option<u8>,
}

/// A RADIUS packet as far as sessions need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RadiusPacket {
    /// Code.
    pub code: u8,
    /// Identifier, the same in request and response.
    pub identifier: u8,
    /// The client's UDP port.
    pub client_port: u16,
    /// The EAP packet in its EAP-Message attributes.
    pub eap: Option<Eap>,
    /// Calling-Station-Id as an address.
    pub station: Option<MacAddress>,
    /// Called-Station-Id as an address and an SSID (RFC 3580 section 3.20).
    pub called: Option<Called>,
}

/// The AP and the SSID that RADIUS names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// Address of the AP.
    pub bssid: MacAddress,
    ssid: [u8; 32],
    ssid_len: u8,
}

impl Called {
    /// Reads `00-10-A4-23-19-C0:SSID`.
    fn parse(text: &[u8]) -> Option<Self> {
        let address = std::str::from_utf8(text.get(..17)?).ok()?;
        let rest = match text.get(17) {
            Some(b':') => &text[18..],
            _ => &[],
        };
        let rest = &rest[..rest.len().min(32)];
        let mut ssid = [0; 32];
        ssid[..rest.len()].copy_from_slice(rest);
        Some(Self {
            bssid: address.parse().ok()?,
            ssid,
            ssid_len: rest.len() as u8,
        })
    }

    /// The SSID; empty if it is not named.
    pub fn ssid(&self) -> &[u8] {
        &self.ssid[..usize::from(self.ssid_len)]
    }
}

/// Kind of a payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content<'a> {
    /// EAPOL of any type.
    Eapol {
        /// The packet, from its version octet on, padding included.
        octets: &'a [u8],
        /// Packet type; 255 where the frame ends before it.
        packet_type: u8,
        /// The EAP packet in it.
        eap: Option<Eap>,
        /// It is for another AP of the network (EtherType 88-C7).
        early: bool,
    },
    /// RADIUS over UDP, and its octets.
    Radius(RadiusPacket, &'a [u8]),
    /// ISAKMP or IKEv2, from its header on.
    Ike(&'a [u8]),
    /// ESP, from its SPI on.
    Esp(&'a [u8]),
    /// WireGuard, from its type on; on its own port, or by the type and the length of its message.
    WireGuard {
        /// The message.
        octets: &'a [u8],
        /// A port is that of WireGuard.
        own_port: bool,
    },
    /// OpenVPN over UDP, from its opcode on.
    OpenVpn(&'a [u8]),
    /// A TCP segment with octets, from its header on.
    Tcp(&'a [u8]),
    /// Mobile IP registration.
    MobileIp(&'a [u8]),
    /// Mobility Header of Mobile IPv6.
    MobileIpV6(&'a [u8]),
    /// ICMP agent discovery (RFC 5944 section 2): an advertisement (true) or a solicitation.
    AgentDiscovery(bool),
    /// DHCP message of an Ethernet client.
    Dhcp(DhcpView),
    /// DHCPv6 reply, router or neighbour advertisement to the receiver.
    Configures,
    /// Router solicitation.
    Solicits,
    /// ARP: sender's hardware and protocol address.
    Arp(MacAddress, Ipv4Addr),
    /// 802.11 data encapsulation (FT remote frames, TDLS), from the payload type on.
    Encapsulated(&'a [u8]),
    /// Anything else.
    Other,
}

/// IP addresses of the sender and the receiver of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IpEnds {
    /// Sender.
    pub from: IpAddr,
    /// Receiver.
    pub to: IpAddr,
}

/// A payload and the octets of headers in front of application data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dissected<'a> {
    /// Kind of the payload.
    pub content: Content<'a>,
    /// Octets of LLC, network and transport headers.
    pub header_octets: usize,
    /// IP addresses of sender and receiver, where the content is of use with them.
    pub ends: Option<IpEnds>,
}

/// Reads an 802.11 MSDU.
pub fn msdu(octets: &[u8]) -> Dissected<'_> {
    // Some Atheros captures keep two octets of padding in front of LLC.
    let padded = matches!(octets, [0, 0, 0xaa, 0xaa, 0x03, ..]);
    let octets = if padded { &octets[2..] } else { octets };
    match SnapRepr::parse(octets) {
        Ok(snap) if snap.is_ethertype() => {
            let mut dissected = payload(snap.ethertype, snap.payload);
            dissected.header_octets += llc::LEN;
            dissected
        }
        _ => Dissected {
            content: Content::Other,
            header_octets: octets.len().min(3),
            ends: None,
        },
    }
}

/// Reads a packet of a wire, without FCS.
pub fn wire(wire: Wire, octets: &[u8]) -> Dissected<'_> {
    match network(wire, octets) {
        Some((kind, octets)) => payload(kind, octets),
        None => Dissected {
            content: Content::Other,
            header_octets: 0,
            ends: None,
        },
    }
}

/// Octets of the IPv6 header of a packet and of its extension headers, as that of a fragment, before
/// `payload` octets.
fn ipv6_headers(octets: &[u8], payload: usize) -> usize {
    let stated = match octets.get(4..6) {
        Some(&[high, low]) => usize::from(u16::from_be_bytes([high, low])),
        _ => 0,
    };
    let whole = (ipv6::LEN + stated).min(octets.len());
    whole.saturating_sub(payload).max(ipv6::LEN)
}

/// The IPv4 fragment of UDP that a packet of a wire is, if it is one.
pub fn fragment(wire: Wire, octets: &[u8]) -> Option<Ipv4Repr<'_>> {
    let (kind, octets) = network(wire, octets)?;
    let ip = (kind == ethertype::IPV4).then(|| Ipv4Repr::parse(octets).ok())??;
    (ip.is_fragment() && ip.protocol == protocol::UDP).then_some(ip)
}

/// EtherType and network layer of a packet of a wire.
pub(crate) fn network(wire: Wire, octets: &[u8]) -> Option<(u16, &[u8])> {
    match wire {
        Wire::Cooked { ethertype, .. } => Some((ethertype, octets)),
        Wire::Ip if octets.first().is_some_and(|first| first >> 4 == 6) => {
            Some((ethertype::IPV6, octets))
        }
        Wire::Ip => Some((ethertype::IPV4, octets)),
        Wire::Ethernet => {
            let frame = EthernetRepr::parse(octets).ok()?;
            Some((frame.ethertype, frame.payload))
        }
    }
}

fn payload(kind: u16, octets: &[u8]) -> Dissected<'_> {
    let plain = |content, header_octets| Dissected {
        content,
        header_octets,
        ends: None,
    };
    match kind {
        ethertype::EAPOL | ethertype::PREAUTHENTICATION => {
            plain(eapol(octets, kind == ethertype::PREAUTHENTICATION), 0)
        }
        ethertype::IPV4 => match Ipv4Repr::parse(octets) {
            Ok(ip) => {
                let mut inner = if ip.is_fragment() && ip.fragment_offset != 0 {
                    plain(Content::Other, 0)
                } else {
                    transport(ip.protocol, ip.payload)
                };
                inner.header_octets += ipv4::LEN;
                if inner.content != Content::Other {
                    inner.ends = Some(IpEnds {
                        from: ip.source.into(),
                        to: ip.destination.into(),
                    });
                }
                inner
            }
            Err(_) => plain(Content::Other, octets.len().min(ipv4::LEN)),
        },
        ethertype::IPV6 => match Ipv6Repr::parse(octets) {
            Ok(ip) => {
                let mut inner = if ip.later_fragment {
                    plain(Content::Other, 0)
                } else {
                    transport(ip.protocol, ip.payload)
                };
                inner.header_octets += ipv6_headers(octets, ip.payload.len());
                if inner.content != Content::Other {
                    inner.ends = Some(IpEnds {
                        from: ip.source.into(),
                        to: ip.destination.into(),
                    });
                }
                inner
            }
            Err(_) => plain(Content::Other, octets.len().min(ipv6::LEN)),
        },
        ethertype::IEEE80211_DATA_ENCAPSULATION => plain(Content::Encapsulated(octets), 0),
        // ARP and the like are wholly overhead of the network, not payload.
        ethertype::ARP => {
            let content = airtoll_wire::arp::ArpRepr::parse(octets).map_or(Content::Other, |arp| {
                Content::Arp(arp.sender, arp.sender_ip)
            });
            plain(content, octets.len())
        }
        _ => plain(Content::Other, 0),
    }
}

fn eapol(octets: &[u8], early: bool) -> Content<'_> {
    let kind = octets.get(1).copied().unwrap_or(255);
    let body = octets.get(4..).unwrap_or(&[]);
    let declared = octets
        .get(2..4)
        .map_or(0, |two| usize::from(u16::from_be_bytes([two[0], two[1]])));
    let body = &body[..body.len().min(declared)];
    let eap = (kind == packet_type::EAP && !body.is_empty()).then(|| eap(body));
    Content::Eapol {
        octets,
        packet_type: kind,
        eap,
        early,
    }
}

/// Reads a transport header and what follows, behind authentication headers.
pub fn transport(kind: u8, octets: &[u8]) -> Dissected<'_> {
    let (mut kind, mut octets) = (kind, octets);
    let mut header_octets = 0;
    for _ in 0..MAX_AH {
        if kind != ah::PROTOCOL {
            break;
        }
        let Ok(header) = AhView::new(octets) else {
            break;
        };
        header_octets += header.header_len;
        (kind, octets) = (header.protocol, header.payload);
    }
    let mut dissected = Dissected {
        content: Content::Other,
        header_octets: 0,
        ends: None,
    };
    match kind {
        protocol::UDP => {
            dissected.header_octets = airtoll_wire::udp::LEN;
            if let Ok(udp) = UdpRepr::parse(octets) {
                dissected.content = datagram(&udp);
            }
        }
        protocol::TCP => {
            let offset = octets
                .get(12)
                .map_or(0, |octet| usize::from(octet >> 4) * 4);
            dissected.header_octets = offset.max(tcp::LEN);
            if octets.len() > dissected.header_octets {
                dissected.content = Content::Tcp(octets);
            }
        }
        protocol::ICMP => {
            dissected.header_octets = 8;
            dissected.content = match octets.first() {
                Some(9) => Content::AgentDiscovery(true),
                Some(10) => Content::AgentDiscovery(false),
                _ => Content::Other,
            };
        }
        protocol::ICMPV6 => {
            dissected.header_octets = 8;
            // Types of RFC 4861 section 4.
            dissected.content = match octets.first() {
                Some(133) => Content::Solicits,
                Some(134 | 136) => Content::Configures,
                _ => Content::Other,
            };
        }
        protocol::ESP => {
            dissected.header_octets = 8;
            dissected.content = Content::Esp(octets);
        }
        mobile_ipv6::PROTOCOL => {
            dissected.header_octets = octets.len();
            dissected.content = Content::MobileIpV6(octets);
        }
        _ => {}
    }
    dissected.header_octets += header_octets;
    dissected
}

fn datagram<'a>(udp: &UdpRepr<'a>) -> Content<'a> {
    let either = |port: u16| udp.source == port || udp.destination == port;
    let payload = udp.payload;
    if [1645, 1646, 1700, 1812, 1813, 3799].into_iter().any(either) {
        // Servers' ports are below those that clients take.
        radius(payload, udp.source.max(udp.destination))
    } else if either(500) {
        Content::Ike(payload)
    } else if either(4500) {
        // With NAT traversal, IKE follows four zero octets (RFC 3948 section 2.2).
        match payload {
            [0, 0, 0, 0, ike @ ..] => Content::Ike(ike),
            [_, _, _, _, ..] => Content::Esp(payload),
            _ => Content::Other,
        }
    } else if either(434) {
        Content::MobileIp(payload)
    } else if either(wireguard::PORT) {
        Content::WireGuard {
            octets: payload,
            own_port: true,
        }
    } else if either(openvpn::PORT) {
        Content::OpenVpn(payload)
    } else if either(dhcp::CLIENT_PORT) || either(dhcp::SERVER_PORT) {
        DhcpView::parse(payload).map_or(Content::Other, Content::Dhcp)
    } else if udp.destination == 546 && payload.first() == Some(&7) {
        // Reply (RFC 8415 section 7.3).
        Content::Configures
    } else if is_wireguard(payload) {
        Content::WireGuard {
            octets: payload,
            own_port: false,
        }
    } else {
        Content::Other
    }
}

/// Whether a datagram has type, reserved octets and length of a message of WireGuard (WireGuard paper,
/// section 5.4): data are padded to 16 octets, with a header and a tag of 16.
fn is_wireguard(octets: &[u8]) -> bool {
    match octets {
        [1, 0, 0, 0, ..] => octets.len() == wireguard::INITIATION_OCTETS,
        [2, 0, 0, 0, ..] => octets.len() == wireguard::RESPONSE_OCTETS,
        [3, 0, 0, 0, ..] => octets.len() == wireguard::COOKIE_REPLY_OCTETS,
        [4, 0, 0, 0, ..] => octets.len() >= 32 && octets.len().is_multiple_of(16),
        _ => false,
    }
}

fn radius(octets: &[u8], client_port: u16) -> Content<'_> {
    let Ok(packet) = RadiusRepr::parse(octets) else {
        return Content::Other;
    };
    let mut message = Vec::new();
    for (kind, value) in &packet.attributes {
        if *kind == attribute::EAP_MESSAGE {
            message.extend_from_slice(value);
        }
    }
    let station = packet
        .value(attribute::CALLING_STATION_ID)
        .and_then(|text| std::str::from_utf8(text).ok())
        .and_then(|text| text.parse().ok());
    let radius = RadiusPacket {
        code: packet.code,
        identifier: packet.identifier,
        client_port,
        eap: (!message.is_empty()).then(|| eap(&message)),
        station,
        called: packet
            .value(attribute::CALLED_STATION_ID)
            .and_then(Called::parse),
    };
    Content::Radius(radius, octets)
}

fn eap(octets: &[u8]) -> Eap {
    let nothing = Eap {
        code: None,
        method: None,
        tls_version: None,
        alert: None,
        wps: None,
    };
    let Ok(view) = EapView::new(octets) else {
        return nothing;
    };
    let method = view.method();
    let tls = method.is_some_and(EapMethod::type_uses_tls);
    Eap {
        code: Some(view.code()),
        method,
        tls_version: if tls { tls_version(view.data()) } else { None },
        alert: if tls { alert(view.data()) } else { None },
        wps: match method {
            Some(EXPANDED) => wps::message_type(view.data()),
            _ => None,
        },
    }
}

/// The octets of TLS in the data of EAP-TLS and its like: flags, a length if bit 7 says so, then TLS
/// (RFC 5216 section 3.1).
fn tls_octets(data: &[u8]) -> Option<&[u8]> {
    let (flags, rest) = data.split_first()?;
    if flags & 0x80 != 0 {
        rest.get(4..)
    } else {
        Some(rest)
    }
}

/// Description of an alert in clear among the records of a fragment; encrypted ones are longer.
fn alert(data: &[u8]) -> Option<u8> {
    let mut rest = tls_octets(data)?;
    while let Ok((record, after)) = RecordView::split(rest) {
        if record.content_type() == tls::content::ALERT
            && let [_level, description] = record.fragment()
        {
            return Some(*description);
        }
        rest = after;
    }
    None
}

/// Version that a server hello at the start of an EAP-TLS fragment chooses.
fn tls_version(data: &[u8]) -> Option<u16> {
    use airtoll_wire::tls::{HandshakeView, ServerHelloRepr, content, extension};
    let rest = tls_octets(data)?;
    // A fragmented record still begins with a whole server hello as a rule.
    let fragment = match RecordView::split(rest) {
        Ok((record, _)) if record.content_type() == content::HANDSHAKE => record.fragment(),
        Ok(_) => return None,
        Err(_) if rest.first() == Some(&content::HANDSHAKE) => rest.get(5..)?,
        Err(_) => return None,
    };
    let (hello, _) = HandshakeView::split(fragment).ok()?;
    if hello.message_type() != airtoll_wire::tls::handshake::SERVER_HELLO {
        return None;
    }
    let hello = ServerHelloRepr::parse(hello.body()).ok()?;
    let chosen = hello
        .extensions
        .iter()
        .find(|(kind, _)| *kind == extension::SUPPORTED_VERSIONS)
        .and_then(|(_, value)| value.first_chunk::<2>())
        .map(|two| u16::from_be_bytes(*two));
    Some(chosen.unwrap_or(hello.version))
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_wire::eapol::EapolRepr;
    use proptest::prelude::*;

    #[test]
    fn eap_is_found_in_eapol_and_in_radius() {
        let identity = [1, 7, 0, 5, 1];
        let mut packet = Vec::new();
        EapolRepr {
            version: 2,
            packet_type: packet_type::EAP,
            body: &identity,
        }
        .emit(&mut packet);
        let mut octets = Vec::new();
        SnapRepr::rfc1042(ethertype::EAPOL, &packet).emit(&mut octets);
        match msdu(&octets).content {
            Content::Eapol { eap: Some(eap), .. } => assert_eq!(eap.method, Some(1)),
            other => panic!("{other:?}"),
        }
        let mut radius = Vec::new();
        RadiusRepr {
            code: 1,
            identifier: 1,
            authenticator: [0; 16],
            attributes: vec![(79, identity.to_vec()), (31, b"02-00-00-00-00-01".to_vec())],
        }
        .emit(&mut radius);
        let addresses = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        let mut udp = Vec::new();
        UdpRepr {
            source: 40000,
            destination: 1812,
            payload: &radius,
        }
        .emit(
            std::net::IpAddr::V4(addresses.0),
            std::net::IpAddr::V4(addresses.1),
            &mut udp,
        );
        let mut ip = Vec::new();
        Ipv4Repr::new(addresses.0, addresses.1, 17, &udp).emit(&mut ip);
        let mut frame = Vec::new();
        EthernetRepr {
            destination: MacAddress([2; 6]),
            source: MacAddress([4; 6]),
            ethertype: 0x0800,
            payload: &ip,
        }
        .emit(&mut frame);
        match wire(Wire::Ethernet, &frame).content {
            Content::Radius(RadiusPacket { eap, station, .. }, _) => {
                assert_eq!(eap.unwrap().method, Some(1));
                assert_eq!(station, Some(MacAddress([2, 0, 0, 0, 0, 1])));
            }
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn any_octets_are_dissected(mut octets in proptest::collection::vec(any::<u8>(), 0..200), kind in prop::sample::select(vec![0x0800u16, 0x86dd, 0x888e, 0x0806])) {
            let _ = (msdu(&octets), wire(Wire::Ethernet, &octets), wire(Wire::Ip, &octets), payload(kind, &octets).header_octets);
            octets.splice(0..0, [0xaa, 0xaa, 3, 0, 0, 0, (kind >> 8) as u8, kind as u8]);
            let _ = msdu(&octets);
        }
    }
}
