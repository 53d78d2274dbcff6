//! Any octets through every parser of the wire crate: refused or read, never more.

#![no_main]

use airtoll_wire::ieee80211::amsdu::Subframes;
use airtoll_wire::ieee80211::ft::{FteRepr, MdeRepr};
use airtoll_wire::ieee80211::management::Sae;
use airtoll_wire::ieee80211::multi_link::inherit;
use airtoll_wire::ieee80211::rsne::parse_rsnxe;
use airtoll_wire::ieee80211::{
    ControlRepr, Elements, Frame, HeaderRepr, Management, MultiLinkRepr, Protection, RsnRepr,
};
use airtoll_wire::{
    ah, arp, avs, capwap, dhcp, eap, eapol, eapol_key, esp, ethernet, gre, icmp, ipv4, ipv6, isakmp,
    key_data, llc, mobile_ipv4, mobile_ipv6, pktap, ppi, prism, radiotap, radius, tcp, tls, tzsp, udp,
    wireguard, wps,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((selector, octets)) = input.split_first() else {
        return;
    };
    match selector % 30 {
        0 => {
            if let Ok(frame) = Frame::new(octets) {
                let _ = (HeaderRepr::parse(&frame), ControlRepr::parse(&frame));
                let _ = (frame.bssid(), frame.source(), frame.destination());
                let _ = Management::parse(frame.control().subtype(), frame.body());
            }
        }
        1 => {
            for element in Elements::new(octets) {
                let _ = (element.extension(), element.vendor());
            }
        }
        2 => {
            if let Ok(repr) = RsnRepr::parse(octets) {
                let mut out = Vec::new();
                repr.emit(&mut out);
            }
            let _ = (RsnRepr::parse_wpa(octets), parse_rsnxe(octets));
        }
        3 => {
            let _ = (FteRepr::parse(octets, 16), FteRepr::parse(octets, 24));
            let _ = (
                MdeRepr::parse(octets),
                Sae::parse(1, octets),
                Sae::parse(2, octets),
            );
        }
        4 => {
            let _ = (
                Protection::parse(octets, true),
                Protection::parse(octets, false),
            );
        }
        5 => assert!(Subframes::new(octets).count() <= octets.len() / 14 + 1),
        6 => {
            let _ = eapol::Eapol::new(octets).map(|packet| packet.body().len());
        }
        7 => {
            if let Some(mic_len) = eapol_key::EapolKeyRepr::guess_mic_len(octets) {
                let _ = eapol_key::EapolKeyRepr::parse(octets, mic_len).map(|key| key.message());
            }
            let _ = eapol_key::Rc4KeyRepr::parse(octets);
        }
        8 => {
            let _ = key_data::iterate(octets).count();
        }
        9 => {
            if let Ok(header) = radiotap::Radiotap::new(octets) {
                let _ = radiotap::RadiotapRepr::parse(&header);
            }
        }
        10 => {
            let _ = prism::PrismRepr::parse(octets);
        }
        11 => {
            let _ = avs::AvsRepr::parse(octets);
        }
        12 => {
            let _ = ppi::PpiRepr::parse(octets);
        }
        13 => {
            let _ = ethernet::EthernetRepr::parse(octets);
        }
        14 => {
            let _ = (arp::ArpRepr::parse(octets), llc::SnapRepr::parse(octets));
        }
        15 => {
            let _ = ipv4::Ipv4Repr::parse(octets);
        }
        16 => {
            let _ = ipv6::Ipv6Repr::parse(octets);
        }
        17 => {
            let _ = udp::UdpRepr::parse(octets);
        }
        18 => {
            let _ = tcp::TcpRepr::parse(octets);
        }
        19 => {
            let _ = icmp::IcmpRepr::parse(octets);
        }
        20 => {
            let _ = (eap::EapRepr::parse(octets), eap::TlsFragment::parse(octets));
        }
        21 => {
            let _ = (eap::SizedValue::parse(octets), eap::LeapData::parse(octets));
        }
        22 => {
            let _ = tls::RecordView::split(octets).map(|(record, _)| record.fragment().len());
            let _ = tls::HandshakeView::split(octets).map(|(message, _)| message.body().len());
        }
        23 => {
            let _ = tls::ClientHelloRepr::parse(octets).map(|hello| hello.extensions.len());
            let _ = tls::ServerHelloRepr::parse(octets).map(|hello| hello.extensions.len());
            let _ = tls::parse_extensions(octets);
            let _ = (
                tls::parse_certificates(octets, false),
                tls::parse_certificates(octets, true),
            );
        }
        24 => {
            let _ = radius::RadiusRepr::parse(octets).map(|packet| packet.attributes.len());
            if let Ok(packet) = radius::RadiusView::new(octets) {
                let place = packet.message_authenticator_at();
                assert!(place.is_none_or(|at| at + 16 <= octets.len()));
            }
        }
        25 => {
            let _ = isakmp::IsakmpView::new(octets).map(|packet| packet.body().len());
            let _ = isakmp::IsakmpRepr::parse(octets).map(|packet| packet.payloads.len());
            if let Some((first, rest)) = octets.split_first() {
                let _ = isakmp::parse_payloads(*first, rest);
            }
            let _ = (
                isakmp::ProposalRepr::parse(octets, false),
                isakmp::ProposalRepr::parse(octets, true),
            );
        }
        26 => {
            let _ = esp::EspView::new(octets).map(|packet| packet.payload().len());
            let _ = esp::split_trailer(octets);
        }
        28 => {
            let elements = Elements::new(octets);
            if let Some(Ok(repr)) = MultiLinkRepr::find(&elements) {
                let mut out = Vec::new();
                repr.emit(&mut out);
                assert!(MultiLinkRepr::find(&Elements::new(&out)).is_some_and(|read| read.is_ok()));
            }
            let _ = MultiLinkRepr::parse(octets);
            let (around, own) = octets.split_at(octets.len() / 2);
            inherit(&mut Vec::new(), around, own);
        }
        29 => {
            let _ = ah::AhView::new(octets).map(|header| header.payload.len());
            let _ = gre::GreView::new(octets).map(|packet| packet.payload.len());
            let _ = capwap::CapwapView::new(octets).map(|packet| packet.frame.len());
            let _ = tzsp::TzspRepr::parse(octets).map(|packet| packet.frame.len());
            let _ = pktap::PktapRepr::parse(octets);
            let _ = (dhcp::DhcpView::parse(octets), mobile_ipv6::message_type(octets));
            let _ = wps::message_type(octets);
        }
        _ => {
            let _ = wireguard::WireGuardRepr::parse(octets);
            let _ = mobile_ipv4::RegistrationRequest::parse(octets);
            let _ = mobile_ipv4::RegistrationReply::parse(octets);
            let _ = mobile_ipv4::AgentAdvertisement::parse(octets);
        }
    }
});
