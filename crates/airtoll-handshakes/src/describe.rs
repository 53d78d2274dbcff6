//! Protocol and name of a message in the terms of its standard, read from its octets.
//!
//! Takes a [`Message`]; gives a protocol and a name. Never decrypts: an encrypted payload is
//! named by what stands outside it.

use airtoll_security::EapMethod;
use airtoll_wire::eap::{Code, EapRepr, method};
use airtoll_wire::eapol::{Eapol, packet_type};
use airtoll_wire::eapol_key::{self, EapolKeyRepr, Rc4KeyRepr};
use airtoll_wire::ieee80211::Management;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::algorithm;
use airtoll_wire::isakmp::{self, IsakmpView, exchange};
use airtoll_wire::radius::{RadiusView, code};
use airtoll_wire::{mobile_ipv4, openvpn, wireguard};

use crate::exchange::{Carrier, Message};
use crate::link::agreed::read_management;
use crate::tunnel::encapsulation::{PORT, uncarried};
use crate::tunnel::wireguard::{EMPTY_DATA, INIT_CONF, INIT_HELLO, RESP_HELLO, ROSENPASS_PORT};

/// Protocol and name of a message; octets that cannot be read are "malformed".
#[must_use]
pub fn describe(message: &Message) -> (&'static str, String) {
    match message.carrier {
        Carrier::Management => ("802.11", management(message)),
        Carrier::Eapol => eapol(&message.octets),
        Carrier::Radius => ("RADIUS", radius(&message.octets)),
        Carrier::Udp(isakmp::PORT | PORT) => match uncarried(message) {
            Some((_, octets)) => isakmp(octets),
            None => ("IKE", malformed()),
        },
        Carrier::Udp(wireguard::PORT) => ("WireGuard", wireguard(&message.octets)),
        Carrier::Udp(openvpn::PORT) => (
            "OpenVPN",
            crate::tunnel::openvpn::name(&message.octets).to_owned(),
        ),
        Carrier::Udp(mobile_ipv4::PORT) => ("Mobile IP", registration(&message.octets)),
        Carrier::Udp(ROSENPASS_PORT) => ("Rosenpass", rosenpass(&message.octets)),
        Carrier::Udp(port) => ("UDP", format!("port {port}")),
        Carrier::Icmp => ("Mobile IP", icmp(&message.octets)),
        Carrier::DistributionSystem => ("FT over the DS", remote(&message.octets)),
    }
}

fn malformed() -> String {
    "malformed".to_string()
}

fn management(message: &Message) -> String {
    let Some((kind, body)) = read_management(message) else {
        return "authentication (protected)".to_string();
    };
    let name = match kind {
        subtype::ASSOCIATION_REQUEST => "association request",
        subtype::ASSOCIATION_RESPONSE => "association response",
        subtype::REASSOCIATION_REQUEST => "reassociation request",
        subtype::REASSOCIATION_RESPONSE => "reassociation response",
        subtype::DISASSOCIATION => "disassociation",
        subtype::DEAUTHENTICATION => "deauthentication",
        subtype::AUTHENTICATION => "authentication",
        subtype::ACTION => "FT action",
        _ => "management",
    };
    match body {
        Management::Authentication {
            algorithm,
            transaction,
            status,
            ..
        } => {
            let kind = match algorithm {
                algorithm::OPEN => "open",
                algorithm::SHARED_KEY => "shared key",
                algorithm::FT => "FT",
                algorithm::SAE if transaction == 1 => "SAE commit",
                algorithm::SAE => "SAE confirm",
                _ => "other",
            };
            match status {
                0 | 126 => format!("{name}: {kind}, {transaction}"),
                _ => format!("{name}: {kind}, {transaction}, status {status}"),
            }
        }
        Management::AssociationResponse { status, .. } if status != 0 => {
            format!("{name}, status {status}")
        }
        Management::Leave { reason } => format!("{name}, reason {reason}"),
        _ => name.to_string(),
    }
}

fn remote(octets: &[u8]) -> String {
    let name = match octets.get(1) {
        Some(0) => "remote request",
        Some(1) => "remote response",
        _ => "malformed",
    };
    name.to_string()
}

fn eapol(octets: &[u8]) -> (&'static str, String) {
    let Ok(packet) = Eapol::new(octets) else {
        return ("EAPOL", malformed());
    };
    match packet.packet_type() {
        packet_type::EAP => ("EAP", eap(packet.body())),
        packet_type::START => ("EAP", "EAPOL-Start".to_string()),
        packet_type::KEY => ("EAPOL-Key", key(packet.body())),
        _ => ("EAPOL", malformed()),
    }
}

fn eap(octets: &[u8]) -> String {
    let Ok(packet) = EapRepr::parse(octets) else {
        return malformed();
    };
    let code = match packet.code {
        Code::Request => "Request",
        Code::Response => "Response",
        Code::Success => return "EAP-Success".to_string(),
        Code::Failure => return "EAP-Failure".to_string(),
    };
    let method = match packet.body.map(|(method, _)| method) {
        Some(method::IDENTITY) => "Identity",
        Some(method::NAK) => "Nak",
        Some(number) => EapMethod::from_number(number).map_or("other", EapMethod::title),
        None => "other",
    };
    format!("EAP-{code}/{method}")
}

fn key(body: &[u8]) -> String {
    if let Ok(key) = Rc4KeyRepr::parse(body) {
        return if key.is_unicast() {
            "WEP unicast key".to_string()
        } else {
            "WEP broadcast key".to_string()
        };
    }
    let message = EapolKeyRepr::guess_mic_len(body)
        .and_then(|octets| EapolKeyRepr::parse(body, octets).ok())
        .map(|key| key.message());
    match message {
        Some(eapol_key::Message::FourWay(number)) => format!("4-way message {number}"),
        Some(eapol_key::Message::Group(number)) => format!("group key message {number}"),
        Some(eapol_key::Message::Request) => "request".to_string(),
        None => malformed(),
    }
}

fn radius(octets: &[u8]) -> String {
    let name = match RadiusView::new(octets).map(|view| view.code()) {
        Ok(code::ACCESS_REQUEST) => "Access-Request",
        Ok(code::ACCESS_CHALLENGE) => "Access-Challenge",
        Ok(code::ACCESS_ACCEPT) => "Access-Accept",
        Ok(code::ACCESS_REJECT) => "Access-Reject",
        _ => "malformed",
    };
    name.to_string()
}

fn isakmp(octets: &[u8]) -> (&'static str, String) {
    let Ok(view) = IsakmpView::new(octets) else {
        return ("IKE", malformed());
    };
    let header = view.header();
    let protocol = if header.version >= 0x20 {
        "IKEv2"
    } else {
        "IKEv1"
    };
    let name = match header.exchange {
        exchange::IDENTITY_PROTECTION => "main mode",
        exchange::QUICK_MODE => "quick mode",
        exchange::IKE_SA_INIT => "IKE_SA_INIT",
        exchange::IKE_AUTH => "IKE_AUTH",
        exchange::INFORMATIONAL_V2 => "INFORMATIONAL",
        exchange::IKE_INTERMEDIATE => "IKE_INTERMEDIATE",
        _ => "other",
    };
    (protocol, name.to_string())
}

fn wireguard(octets: &[u8]) -> String {
    let name = match octets.first() {
        Some(1) => "handshake initiation",
        Some(2) => "handshake response",
        Some(3) => "cookie reply",
        Some(4) => "keepalive",
        _ => "malformed",
    };
    name.to_string()
}

fn rosenpass(octets: &[u8]) -> String {
    let name = match octets.first() {
        Some(&INIT_HELLO) => "InitHello",
        Some(&RESP_HELLO) => "RespHello",
        Some(&INIT_CONF) => "InitConf",
        Some(&EMPTY_DATA) => "EmptyData",
        _ => "malformed",
    };
    name.to_string()
}

fn registration(octets: &[u8]) -> String {
    let name = match octets.first() {
        Some(1) => "registration request",
        Some(3) => "registration reply",
        _ => "malformed",
    };
    name.to_string()
}

fn icmp(octets: &[u8]) -> String {
    let name = match octets.first() {
        Some(9) => "agent advertisement",
        Some(10) => "agent solicitation",
        _ => "malformed",
    };
    name.to_string()
}
