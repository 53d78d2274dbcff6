//! What is inside of frames: takes plaintext bodies of data and management frames and packets of
//! wires, hands key messages to the keyring and steps to the sessions.
//!
//! Never opens a frame.

use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{Eapol, packet_type};
use airtoll_wire::eapol_key::{DESCRIPTOR_RC4, EapolKeyRepr, Message, Rc4KeyRepr};
use airtoll_wire::ieee80211::amsdu::Subframes;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::category;
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Elements, Frame, Management, RsnRepr, element};

use super::Frames;
use crate::analysis::Slot;
use crate::dissect::{self, Content, Dissected};
use crate::link::Wire;
use crate::session::{Announced, Event, Step};

/// What was found in the body of a data frame.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    pub(super) eapol: bool,
    pub(super) eap: bool,
    /// Octets of LLC, network and transport headers.
    pub(super) header_octets: usize,
}

impl Frames<'_> {
    /// Reads the plaintext body of a data frame.
    pub(super) fn body(
        &mut self,
        slot: &Slot,
        frame: &Frame<'_>,
        plain: &[u8],
        airtime_ns: u64,
    ) -> Found {
        let control = frame.control();
        let fragment = frame.fragment_number().unwrap_or(0);
        if control.more_fragments() || fragment != 0 {
            return match self
                .fragments
                .join(frame, plain, fragment, control.more_fragments())
            {
                Some(whole) => self.msdu(slot, frame, &whole, airtime_ns),
                None => Found::default(),
            };
        }
        // The bit alone decides (IEEE 802.11-2020, 9.2.4.5.9), also for a body that begins as LLC
        // does: such a frame is an attack on the bit, and no receiver may take it for one MSDU.
        if !frame.is_amsdu() {
            return self.msdu(slot, frame, plain, airtime_ns);
        }
        let mut all = Found::default();
        for subframe in Subframes::new(plain) {
            let found = self.msdu(slot, frame, subframe.msdu, airtime_ns);
            all.eapol |= found.eapol;
            all.eap |= found.eap;
            all.header_octets += 14 + found.header_octets;
        }
        all
    }

    fn msdu(&mut self, slot: &Slot, frame: &Frame<'_>, msdu: &[u8], airtime_ns: u64) -> Found {
        let Dissected {
            content,
            header_octets,
        } = dissect::msdu(msdu);
        let mut found = Found {
            header_octets,
            ..Found::default()
        };
        let step = match &content {
            Content::Other => return found,
            Content::Eapol {
                octets,
                packet_type: kind,
                eap,
            } => {
                found.eapol = true;
                found.eap = eap.is_some();
                match (*kind, eap) {
                    (packet_type::EAP, Some(eap)) => Step::Eap(*eap),
                    (packet_type::START, _) => Step::Start,
                    (packet_type::LOGOFF, _) => Step::Logoff,
                    (packet_type::KEY, _) => self.key_message(frame, octets),
                    _ => Step::OtherEapol,
                }
            }
            Content::Radius(packet) => {
                found.eap = packet.eap.is_some();
                self.sessions.radius(slot.time_ns, packet);
                return found;
            }
            Content::Ike => Step::Ike,
            Content::MobileIp => Step::MobileIp,
            Content::Encapsulated(octets) => {
                self.keyring.learn_tdls(octets);
                return found;
            }
        };
        let (station, ap) = self.roles(frame);
        let (Some(station), Some(bssid)) = (station, ap) else {
            return found;
        };
        self.event(Event {
            time_ns: slot.time_ns,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station: frame.transmitter() == Some(station),
            retry: frame.control().retry(),
            step,
        });
        found
    }

    fn key_message(&mut self, frame: &Frame<'_>, octets: &[u8]) -> Step {
        let Ok(packet) = Eapol::new(octets) else {
            return Step::OtherEapol;
        };
        if let (Some(from), Some(to)) = (frame.transmitter(), frame.receiver()) {
            self.keyring.learn_key_message(from, to, &packet);
        }
        let body = packet.body();
        if body.first() == Some(&DESCRIPTOR_RC4) {
            let message = Rc4KeyRepr::parse(body);
            return Step::DynamicWep(message.map_or(0, |message| message.key_length));
        }
        let key = EapolKeyRepr::guess_mic_len(body)
            .and_then(|mic_len| EapolKeyRepr::parse(body, mic_len).ok());
        let choice = key.as_ref().and_then(|key| {
            let elements = Elements::new(key.data);
            let second = key.message() == Message::FourWay(2);
            suites(&elements).filter(|_| second)
        });
        match key.map(|key| key.message()) {
            Some(Message::FourWay(number)) => Step::FourWay(number, choice),
            Some(Message::Group(number)) => Step::Group(number),
            Some(Message::Request) => Step::KeyRequest,
            None => Step::OtherEapol,
        }
    }

    fn event(&mut self, event: Event) {
        let announced = self
            .keyring
            .bss(event.bssid)
            .map(|bss| Announced {
                ssid: bss.ssid.clone(),
                rsn: bss.rsn.clone().or_else(|| bss.wpa.clone()),
                privacy: bss.privacy,
            })
            .unwrap_or_default();
        self.sessions.enter(&event, &announced);
    }

    pub(super) fn management(
        &mut self,
        slot: &Slot,
        frame: &Frame<'_>,
        body: &[u8],
        airtime_ns: u64,
    ) {
        let kind = frame.control().subtype();
        let (Some(to), Some(from), Some(bssid)) =
            (frame.receiver(), frame.transmitter(), frame.address3())
        else {
            return;
        };
        let Ok(parsed) = Management::parse(kind, body) else {
            return;
        };
        let from_station = from != bssid;
        let station = if from_station { from } else { to };
        let step = match parsed {
            Management::Beacon {
                capability,
                elements,
                ..
            } => {
                self.keyring
                    .learn_bss(bssid, Some(capability & 0x10 != 0), &elements);
                if kind == subtype::BEACON {
                    return;
                }
                Step::Probe
            }
            Management::ProbeRequest { .. } => Step::Probe,
            Management::AssociationRequest { elements, .. } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring.learn_choice(station, bssid, &elements);
                self.keyring.learn_ft_association(station, bssid, &elements);
                association(&elements)
            }
            Management::AssociationResponse {
                status, elements, ..
            } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring.learn_ft_association(station, bssid, &elements);
                Step::AssociationResponse(status)
            }
            Management::Authentication {
                algorithm,
                transaction,
                status,
                ..
            } => Step::Authentication(algorithm, transaction, status),
            Management::Leave { reason } => Step::Leave(kind == subtype::DEAUTHENTICATION, reason),
            Management::Action {
                category: category::FT,
                ..
            } => Step::FtAction,
            Management::Action { .. } | Management::Other => return,
        };
        let event = Event {
            time_ns: slot.time_ns,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station,
            retry: frame.control().retry(),
            step,
        };
        if station.is_group() {
            return;
        }
        self.event(event);
    }

    /// Reads a packet of a wire.
    pub(super) fn wire(&mut self, slot: &Slot, wire: Wire, octets: &[u8]) -> Found {
        self.counts.wired += 1;
        let mut found = Found::default();
        let whole;
        let dissected = match dissect::fragment(wire, octets) {
            None => dissect::wire(wire, octets),
            Some(ip) => match self.datagrams.join(&ip) {
                None => return found,
                Some(joined) => {
                    whole = joined;
                    dissect::transport(ip.protocol, &whole)
                }
            },
        };
        match dissected.content {
            Content::Eapol { eap, .. } => {
                found.eapol = true;
                found.eap = eap.is_some();
            }
            Content::Radius(packet) => {
                self.counts.radius_frames += 1;
                found.eap = packet.eap.is_some();
                self.sessions.radius(slot.time_ns, &packet);
            }
            Content::Ike => self.counts.ike_frames += 1,
            Content::MobileIp => self.counts.mobile_ip_frames += 1,
            Content::Other | Content::Encapsulated(_) => {}
        }
        self.count(found);
        found
    }

    /// Station and AP of a data frame. Of one with four addresses the AP is the end that is known
    /// as one, and the receiver where neither is.
    pub(super) fn roles(&self, frame: &Frame<'_>) -> (Option<MacAddress>, Option<MacAddress>) {
        let control = frame.control();
        let unicast = |address: Option<MacAddress>| address.filter(|a| !a.is_group());
        let is_ap = |address: MacAddress| self.keyring.bss(address).is_some();
        let from_ap =
            control.from_ds() && (!control.to_ds() || frame.transmitter().is_some_and(is_ap));
        match (control.to_ds(), from_ap) {
            (_, true) => (unicast(frame.receiver()), frame.transmitter()),
            (true, false) => (frame.transmitter(), unicast(frame.receiver())),
            (false, false) => (frame.transmitter(), unicast(frame.address3())),
        }
    }
}

fn association(elements: &Elements<'_>) -> Step {
    match suites(elements) {
        Some((suites, wpa)) => Step::AssociationRequest(Some(suites), wpa),
        None => Step::AssociationRequest(None, false),
    }
}

/// The suites that elements name, and whether the WPA element does.
fn suites(elements: &Elements<'_>) -> Option<(Box<RsnRepr>, bool)> {
    if let Some(body) = elements.find_id(element::id::RSN)
        && let Ok(rsn) = RsnRepr::parse(body)
    {
        return Some((Box::new(rsn), false));
    }
    let body = elements.find_vendor(OUI_WPA, 1)?;
    let wpa = RsnRepr::parse_wpa(body).ok()?;
    Some((Box::new(wpa), true))
}
