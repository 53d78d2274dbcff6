//! Content of frames: takes plaintext bodies of data and management frames and packets of wires,
//! hands key messages to the keyring and steps to the sessions.
//!
//! Opens no frame.

use std::hash::{Hash, Hasher};

use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{Eapol, packet_type};
use airtoll_wire::eapol_key::{DESCRIPTOR_RC4, DESCRIPTOR_WPA, EapolKeyRepr, Message, Rc4KeyRepr};
use airtoll_wire::ieee80211::amsdu::Subframes;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::{algorithm, category};
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Elements, Frame, Management, OciRepr, RsnRepr, element};
use airtoll_wire::ipv4::protocol;
use airtoll_wire::isakmp::HEADER_OCTETS;
use airtoll_wire::isakmp::exchange::{INFORMATIONAL, INFORMATIONAL_V2};
use airtoll_wire::tcp::TcpRepr;
use airtoll_wire::{dhcp, mobile_ipv6, openvpn};
use rustc_hash::FxHasher;

use super::Frames;
use crate::dissect::{self, Content, Dissected, IpEnds, RadiusPacket};
use crate::leaves::Leave;
use crate::link::Wire;
use crate::session::steps::Protocol;
use crate::session::{Announced, Event, KeyMessage, LeaveAll, Sequence, Step};
use crate::slot::Slot;

/// Multi-Link element of an authentication frame up to the MLD address: type Basic, which has no other
/// field there (IEEE 802.11be-2024, 9.3.3.11).
const MLD_ELEMENT: [u8; 6] = [255, 10, 107, 0, 0, 7];
/// Most stations that wait for a router's advertisement.
const MAX_SOLICITORS: usize = 256;
/// Most layers of ESP around a datagram that are opened.
const MAX_ESP: usize = 16;

/// A message that sets up a tunnel or a binding.
#[derive(Debug, Clone, Copy)]
struct TunnelMessage {
    protocol: Protocol,
    /// Opcode of OpenVPN.
    opcode: u8,
    /// Digest of its octets and ends.
    digest: u64,
}

impl TunnelMessage {
    fn new(protocol: Protocol, opcode: u8, octets: &[u8], ends: Option<IpEnds>) -> Self {
        let mut hasher = FxHasher::default();
        (octets, ends).hash(&mut hasher);
        Self {
            protocol,
            opcode,
            digest: hasher.finish(),
        }
    }

    const fn step(self) -> Step {
        Step::Tunnel(self.protocol, self.opcode)
    }
}

/// A datagram as tunnels see it.
#[derive(Debug, Default)]
struct Tunnelled {
    /// It is one of the tunnel whose form it has.
    is: bool,
    /// Messages of handshakes in it.
    messages: Vec<TunnelMessage>,
}

impl Tunnelled {
    fn of(protocol: Protocol, octets: &[u8], ends: Option<IpEnds>) -> Self {
        Self {
            is: true,
            messages: vec![TunnelMessage::new(protocol, 0, octets, ends)],
        }
    }

    fn without_messages(is: bool) -> Self {
        Self {
            is,
            messages: Vec::new(),
        }
    }
}

/// Protocols found in the body of a data frame.
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
        let mut carried = 0;
        for subframe in Subframes::new(plain) {
            carried += 14 + subframe.msdu.len();
            let found = self.msdu(slot, frame, subframe.msdu, airtime_ns);
            all.eapol |= found.eapol;
            all.eap |= found.eap;
            all.header_octets += 14 + found.header_octets;
        }
        // Subframes but the last are padded to four octets, which are no payload.
        all.header_octets += plain.len().saturating_sub(carried);
        all
    }

    fn msdu(&mut self, slot: &Slot, frame: &Frame<'_>, msdu: &[u8], airtime_ns: u64) -> Found {
        let Dissected {
            content,
            header_octets,
            ends,
        } = dissect::msdu(msdu);
        let content = self.of_interest(content, ends);
        let mut found = Found {
            header_octets,
            ..Found::default()
        };
        let roles = self.roles(frame);
        let from_station = roles.station.is_some() && frame.transmitter() == roles.station;
        let Roles { station, ap } = self.associated(roles);
        if let (Some(station), Some(IpEnds { from: source, .. }), true) =
            (station, ends, from_station)
        {
            self.sessions.learn_owner(source, station);
        }
        let mut channel = None;
        let step = match &content {
            Content::Other => return found,
            Content::Eapol {
                octets,
                packet_type: kind,
                eap,
                early,
            } => {
                found.eapol = true;
                found.eap = eap.is_some();
                if *kind == packet_type::KEY
                    && !early
                    && let (Some(from), Some(to)) = (frame.transmitter(), frame.receiver())
                {
                    channel = self.learn_key_message(from, to, octets);
                }
                eapol_step(*kind, octets, *eap, *early)
            }
            Content::Radius(packet, octets) => {
                found.eap = packet.eap.is_some();
                self.radius(slot, packet, octets);
                return found;
            }
            Content::Encapsulated(octets) => {
                self.keyring.learn_tdls(octets);
                return found;
            }
            Content::Dhcp(..) | Content::Configures | Content::Solicits | Content::Arp(..) => {
                let from = station.filter(|_| from_station);
                let receiver = station.filter(|_| !from_station);
                // A message of a client to all is sent once more by the AP.
                let relayed = receiver.is_none() && from.is_none();
                let ends = HardwareEnds { from, to: receiver };
                self.configures(slot, &content, ends, ap, relayed, false);
                return found;
            }
            _ => {
                let tunnelled = self.tunnel(&content, ends);
                let (Some(station), Some(bssid)) = (station, ap) else {
                    return found;
                };
                for tunnel in tunnelled.messages {
                    if self.sessions.is_new(tunnel.digest, station) {
                        let air = OnAir {
                            station,
                            bssid,
                            from_station,
                            airtime_ns,
                        };
                        self.enter_air(slot, frame, air, None, tunnel.step());
                    }
                }
                return found;
            }
        };
        let (Some(station), Some(bssid)) = (station, ap) else {
            return found;
        };
        if let Step::FourWay(KeyMessage {
            choice: Some(rsn), ..
        }) = &step
        {
            self.keyring.learn_suite(station, bssid, rsn);
        }
        let air = OnAir {
            station,
            bssid,
            from_station,
            airtime_ns,
        };
        self.enter_air(slot, frame, air, channel, step);
        found
    }

    /// Enters a step that a frame of the air is.
    fn enter_air(
        &mut self,
        slot: &Slot,
        frame: &Frame<'_>,
        air: OnAir,
        channel: Option<OciRepr>,
        step: Step,
    ) {
        let OnAir {
            station,
            bssid,
            from_station,
            airtime_ns,
        } = air;
        // Messages of tunnels are compared whole.
        let sequence = match step {
            Step::Tunnel(..) => None,
            _ => Sequence::of(frame),
        };
        self.event(Event {
            time_ns: slot.time_ns,
            frame: slot.frame,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station,
            sequence,
            protected: frame.control().protected(),
            wired: false,
            channel,
            heard_mhz: slot.frequency_mhz(),
            step,
        });
    }

    fn learn_key_message(
        &mut self,
        from: MacAddress,
        to: MacAddress,
        octets: &[u8],
    ) -> Option<OciRepr> {
        let packet = Eapol::new(octets).ok()?;
        self.keyring.learn_key_message(from, to, &packet)
    }

    /// A segment of TCP is of interest if OpenVPN may be in it.
    fn of_interest<'a>(&self, content: Content<'a>, ends: Option<IpEnds>) -> Content<'a> {
        match content {
            Content::Tcp(octets) if !self.tunnels.may_hold_openvpn(octets, ends) => Content::Other,
            content => content,
        }
    }

    /// The messages of a tunnel's handshake that a datagram holds. An ESP packet that opens may hold such
    /// a datagram, or another tunnel's packet.
    fn tunnel(&mut self, content: &Content<'_>, ends: Option<IpEnds>) -> Tunnelled {
        let Content::Esp(octets) = content else {
            return self.handshake(content, ends);
        };
        let mut tunnelled = Tunnelled::without_messages(true);
        let mut opened = self.tunnels.esp(octets, ends);
        for _ in 1..MAX_ESP {
            let Some((inside, next_header)) = opened.take() else {
                break;
            };
            let dissected = match next_header {
                protocol::IPIP | protocol::IPV6 => dissect::wire(Wire::Ip, &inside),
                // Transport mode.
                other => dissect::Dissected {
                    ends,
                    ..dissect::transport(other, &inside)
                },
            };
            match &dissected.content {
                Content::Esp(octets) => opened = self.tunnels.esp(octets, dissected.ends),
                content => tunnelled.messages = self.handshake(content, dissected.ends).messages,
            }
        }
        tunnelled
    }

    fn handshake(&mut self, content: &Content<'_>, ends: Option<IpEnds>) -> Tunnelled {
        match content {
            Content::Ike(octets) => {
                self.tunnels.ike(octets);
                ike_version(octets).map_or(Tunnelled::without_messages(true), |version| {
                    Tunnelled::of(version, octets, ends)
                })
            }
            Content::WireGuard { octets, own_port } => {
                match self.tunnels.wireguard(octets, *own_port) {
                    Some(true) => Tunnelled::of(Protocol::WireGuard, octets, ends),
                    told => Tunnelled::without_messages(told.is_some()),
                }
            }
            Content::OpenVpn(octets) => Tunnelled {
                is: true,
                messages: openvpn::control_opcode(octets)
                    .map(|opcode| TunnelMessage::new(Protocol::OpenVpn, opcode, octets, ends))
                    .into_iter()
                    .collect(),
            },
            Content::Tcp(octets) => {
                let segment = TcpRepr::parse(octets).ok();
                let Some(packets) = segment.and_then(|one| self.tunnels.openvpn(&one, ends)) else {
                    return Tunnelled::default();
                };
                let message = |packet: Vec<u8>| {
                    let opcode = openvpn::control_opcode(&packet)?;
                    Some(TunnelMessage::new(Protocol::OpenVpn, opcode, &packet, ends))
                };
                Tunnelled {
                    is: true,
                    messages: packets.into_iter().filter_map(message).collect(),
                }
            }
            // Registration request and reply (RFC 5944 sections 3.3 and 3.4).
            Content::MobileIp(octets @ [1 | 3, ..]) => {
                Tunnelled::of(Protocol::MobileIp, octets, ends)
            }
            Content::MobileIp(_) => Tunnelled::without_messages(true),
            Content::MobileIpV6(octets) => match mobile_ipv6::message_type(octets) {
                Ok(mobile_ipv6::message::BINDING_ERROR) | Err(_) => {
                    Tunnelled::without_messages(true)
                }
                Ok(_) => Tunnelled::of(Protocol::MobileIp, octets, ends),
            },
            _ => Tunnelled::default(),
        }
    }

    /// Messages that configure a host, and addresses that name their owner. `ends`: the station that
    /// sent or receives the frame; `relayed`: the AP sends what a station sent to all.
    fn configures(
        &mut self,
        slot: &Slot,
        content: &Content<'_>,
        ends: HardwareEnds,
        bssid: Option<MacAddress>,
        relayed: bool,
        wired: bool,
    ) {
        let HardwareEnds { from, to } = ends;
        match (content, to) {
            (Content::Dhcp(message), _) => {
                let station = self.keyring.station_of(message.client);
                let of_client = !matches!(
                    message.message,
                    dhcp::message::OFFER | dhcp::message::ACK | dhcp::message::NAK
                );
                if !(relayed && of_client) {
                    self.sessions.dhcp(slot.time_ns, station, message, wired);
                }
                if message.message == dhcp::message::ACK {
                    self.sessions.learn_owner(message.yours.into(), station);
                    self.sessions.answered(slot.time_ns, station);
                }
            }
            (Content::Configures, Some(station)) => self.sessions.answered(slot.time_ns, station),
            // An advertisement to all answers every station of the BSS that asked.
            (Content::Configures, None) if from.is_none() => {
                for station in std::mem::take(&mut self.solicitors) {
                    if Some(station.1) == bssid || bssid.is_none() {
                        self.sessions.answered(slot.time_ns, station.0);
                    } else {
                        self.solicitors.push(station);
                    }
                }
            }
            (Content::Solicits, _) => {
                if let (Some(station), Some(bssid)) = (from, bssid)
                    && self.solicitors.len() < MAX_SOLICITORS
                {
                    self.solicitors.push((station, bssid));
                }
            }
            (Content::Arp(station, address), _) => {
                let station = self.keyring.station_of(*station);
                if from.is_none_or(|from| from == station) {
                    self.sessions.learn_owner((*address).into(), station);
                }
            }
            _ => {}
        }
    }

    fn radius(&mut self, slot: &Slot, packet: &RadiusPacket, octets: &[u8]) {
        if let Some(msk) = self.tunnels.radius(packet, octets) {
            self.keyring.add_msk(msk);
        }
        self.sessions.radius(slot.time_ns, slot.frame, packet);
    }

    fn announced(&self, bssid: MacAddress) -> Announced {
        self.keyring
            .bss(bssid)
            .map(|bss| Announced {
                ssid: bss.ssid.clone(),
                rsn: bss.rsn.clone().or_else(|| bss.wpa.clone()),
                privacy: bss.privacy,
            })
            .unwrap_or_default()
    }

    fn event(&mut self, mut event: Event) {
        let ends = self.keyring.associated(event.station, event.bssid);
        (event.station, event.bssid) = (ends.station, ends.bssid);
        let announced = self.announced(event.bssid);
        self.sessions.enter(&event, &announced);
    }

    /// A protected authentication frame that stays closed: the third message of shared-key
    /// authentication is encrypted under the WEP key (IEEE 802.11-2020, 12.3.3.3).
    pub(super) fn closed_authentication(
        &mut self,
        slot: &Slot,
        frame: &Frame<'_>,
        airtime_ns: u64,
    ) {
        let body = [1, 0, 3, 0, 0, 0];
        self.management(slot, frame, &body, airtime_ns);
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
        let mut channel = None;
        let step = match parsed {
            Management::Beacon {
                capability,
                elements,
                ..
            } => {
                self.keyring
                    .learn_bss(bssid, Some(capability & 0x10 != 0), &elements);
                self.keyring.learn_frequency(bssid, slot.frequency_mhz());
                self.keyring.learn_links(bssid, to, &elements);
                self.sessions.announces(bssid);
                if kind == subtype::BEACON {
                    return;
                }
                Step::Probe
            }
            Management::ProbeRequest { .. } => Step::Probe,
            Management::AssociationRequest {
                capability,
                elements,
                ..
            } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring.learn_association(station, bssid, &elements);
                self.keyring.learn_choice(station, bssid, &elements);
                self.keyring.learn_fils_association(station, bssid);
                channel = self.keyring.learn_ft_association(station, bssid, &elements);
                let (choice, wpa) = suites(&elements).unzip();
                if let Some(rsn) = &choice {
                    self.keyring.learn_suite(station, bssid, rsn);
                }
                Step::AssociationRequest {
                    choice,
                    wpa: wpa.unwrap_or(false),
                    privacy: capability & 0x10 != 0,
                }
            }
            Management::AssociationResponse {
                status, elements, ..
            } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring
                    .learn_association_response(station, bssid, &elements);
                channel = self.keyring.learn_ft_association(station, bssid, &elements);
                self.keyring.learn_fils_response(station, bssid, body);
                Step::AssociationResponse(status)
            }
            Management::Authentication {
                algorithm,
                transaction,
                status,
                rest,
            } => {
                self.learn_authentication_links(from, to, algorithm, rest);
                self.keyring
                    .learn_fils(station, bssid, algorithm, from_station, rest);
                Step::Authentication(algorithm, transaction, status)
            }
            Management::Leave { reason } => {
                let deauthentication = kind == subtype::DEAUTHENTICATION;
                let addresses = LeaveAddresses { from, to, bssid };
                self.leaves(slot, addresses, deauthentication, reason);
                Step::Leave(deauthentication, reason)
            }
            Management::Action {
                category: category::FT,
                ..
            } => Step::FtAction,
            Management::Action { .. } | Management::Other => return,
        };
        if station.is_group() {
            return;
        }
        self.event(Event {
            time_ns: slot.time_ns,
            frame: slot.frame,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station,
            sequence: Sequence::of(frame),
            protected: frame.control().protected(),
            wired: false,
            channel,
            heard_mhz: slot.frequency_mhz(),
            step,
        });
    }

    /// Counts a deauthentication or disassociation; one for all stations of a BSS ends their sessions.
    fn leaves(
        &mut self,
        slot: &Slot,
        addresses: LeaveAddresses,
        deauthentication: bool,
        code: u16,
    ) {
        let LeaveAddresses { from, to, bssid } = addresses;
        self.counts.leaves.enter(
            Leave {
                bssid,
                from_station: from != bssid,
                to_all: to.is_group(),
                deauthentication,
                code,
            },
            slot.time_ns,
            slot.frame,
        );
        if to.is_group() && from == bssid {
            let leave = LeaveAll {
                time_ns: slot.time_ns,
                frame: slot.frame,
                bssid,
                deauthentication,
                code,
            };
            self.sessions.leave_all(&leave, self.bip_fits);
        }
    }

    /// Reads a packet of a wire.
    pub(super) fn wire(&mut self, slot: &Slot, wire: Wire, packet: &[u8]) -> Found {
        self.counts.wired += 1;
        let mut found = Found::default();
        let whole;
        let dissected = match dissect::fragment(wire, packet) {
            None => dissect::wire(wire, packet),
            Some(ip) => match self.datagrams.join(&ip) {
                None => return found,
                Some(joined) => {
                    whole = joined;
                    let mut dissected = dissect::transport(ip.protocol, &whole);
                    dissected.ends = Some(IpEnds {
                        from: ip.source.into(),
                        to: ip.destination.into(),
                    });
                    dissected
                }
            },
        };
        let ends = dissected.ends;
        let content = self.of_interest(dissected.content, ends);
        match &content {
            Content::Eapol {
                octets,
                packet_type: kind,
                eap,
                early,
            } => {
                found.eapol = true;
                found.eap = eap.is_some();
                let HardwareEnds { from, to } = hardware_ends(wire, packet);
                if let Some(from) = from.filter(|_| !early) {
                    let event = Event {
                        step: eapol_step(*kind, octets, *eap, *early),
                        ..wired_event(slot)
                    };
                    let announced = to.map_or_else(Announced::default, |to| {
                        let seen = self.announced(from);
                        if seen.ssid.is_empty() {
                            self.announced(to)
                        } else {
                            seen
                        }
                    });
                    self.sessions.enter_wired(event, from, to, &announced);
                }
            }
            Content::Radius(radius, octets) => {
                self.counts.radius_frames += 1;
                found.eap = radius.eap.is_some();
                self.radius(slot, radius, octets);
            }
            Content::Dhcp(..) | Content::Configures | Content::Solicits | Content::Arp(..) => {
                let to = hardware_ends(wire, packet).to;
                let ends = HardwareEnds {
                    from: None,
                    to: to.filter(|to| !to.is_group()),
                };
                self.configures(slot, &content, ends, None, false, true);
            }
            Content::AgentDiscovery(advertises) => {
                self.counts.mobile_ip_frames += 1;
                self.agent_discovery(slot, *advertises, ends);
            }
            Content::Other | Content::Encapsulated(_) => {}
            content => {
                let tunnelled = self.tunnel(content, ends);
                let count = match content {
                    Content::Ike(_) => &mut self.counts.ike_frames,
                    Content::MobileIp(_) | Content::MobileIpV6(_) => {
                        &mut self.counts.mobile_ip_frames
                    }
                    Content::WireGuard { .. } => &mut self.counts.wireguard_frames,
                    Content::OpenVpn(_) | Content::Tcp(_) => &mut self.counts.openvpn_frames,
                    Content::Esp(_) => &mut self.counts.esp_frames,
                    _ => return found,
                };
                *count += u64::from(tunnelled.is);
                for tunnel in tunnelled.messages {
                    for station in self.parties(wire, packet, ends) {
                        if self.sessions.is_new(tunnel.digest, station) {
                            self.wired_tunnel(slot, station, tunnel.step());
                        }
                    }
                }
            }
        }
        self.count(found);
        found
    }

    /// The stations that a packet of a wire is of and for: by their IP addresses, or else by
    /// their hardware addresses.
    fn parties(&self, wire: Wire, packet: &[u8], ends: Option<IpEnds>) -> Vec<MacAddress> {
        let owned = ends.into_iter().flat_map(|ends| [ends.from, ends.to]);
        let mut stations: Vec<_> = owned.filter_map(|end| self.sessions.owner(end)).collect();
        if stations.is_empty() {
            let HardwareEnds { from, to } = hardware_ends(wire, packet);
            stations.extend([from, to].into_iter().flatten());
        }
        stations.dedup();
        stations
    }

    fn wired_tunnel(&mut self, slot: &Slot, station: MacAddress, step: Step) {
        let mut event = Event {
            station,
            step,
            ..wired_event(slot)
        };
        self.sessions.tunnel(&mut event, &Announced::default());
    }

    fn agent_discovery(&mut self, slot: &Slot, advertises: bool, ends: Option<IpEnds>) {
        let stations = if advertises {
            self.sessions.take_solicitors()
        } else {
            let station = ends.and_then(|ends| self.sessions.owner(ends.from));
            station.inspect(|station| self.sessions.solicits(*station));
            station.into_iter().collect()
        };
        for station in stations {
            self.wired_tunnel(slot, station, Step::Tunnel(Protocol::MobileIp, 0));
        }
    }

    /// The MLD address at the end of an authentication frame: behind scalar, element and confirm of
    /// SAE, whose lengths its group decides, the element is found from the end.
    fn learn_authentication_links(
        &mut self,
        from: MacAddress,
        to: MacAddress,
        algorithm: u16,
        rest: &[u8],
    ) {
        let at = rest.len().saturating_sub(MLD_ELEMENT.len() + 6);
        let tail = rest.get(at..).unwrap_or(&[]);
        let elements = match algorithm {
            algorithm::SAE if tail.starts_with(&MLD_ELEMENT) => tail,
            algorithm::SAE => return,
            _ => rest,
        };
        self.keyring.learn_links(from, to, &Elements::new(elements));
    }

    /// Those of a session, where both are known.
    pub(super) fn associated(&self, roles: Roles) -> Roles {
        match (roles.station, roles.ap) {
            (Some(station), Some(ap)) => {
                let ends = self.keyring.associated(station, ap);
                Roles {
                    station: Some(ends.station),
                    ap: Some(ends.bssid),
                }
            }
            _ => roles,
        }
    }

    /// Station and AP of a data frame. Of one with four addresses the AP is the end that is known
    /// as one, and the receiver where neither is.
    pub(super) fn roles(&self, frame: &Frame<'_>) -> Roles {
        let control = frame.control();
        let unicast = |address: Option<MacAddress>| address.filter(|a| !a.is_group());
        let is_ap = |address: MacAddress| self.keyring.bss(address).is_some();
        let from_ap =
            control.from_ds() && (!control.to_ds() || frame.transmitter().is_some_and(is_ap));
        let (station, ap) = match (control.to_ds(), from_ap) {
            (_, true) => (unicast(frame.receiver()), frame.transmitter()),
            (true, false) => (frame.transmitter(), unicast(frame.receiver())),
            (false, false) => (frame.transmitter(), unicast(frame.address3())),
        };
        Roles { station, ap }
    }
}

/// The step that an EAPOL packet is.
fn eapol_step(kind: u8, octets: &[u8], eap: Option<dissect::Eap>, early: bool) -> Step {
    match (kind, eap) {
        _ if early => Step::PreAuthentication,
        (packet_type::EAP, Some(eap)) => Step::Eap(eap),
        (packet_type::START, _) => Step::Start,
        (packet_type::LOGOFF, _) => Step::Logoff,
        (packet_type::KEY, _) => key_step(octets),
        _ => Step::OtherEapol,
    }
}

fn key_step(octets: &[u8]) -> Step {
    let Ok(packet) = Eapol::new(octets) else {
        return Step::OtherEapol;
    };
    let body = packet.body();
    if body.first() == Some(&DESCRIPTOR_RC4) {
        let message = Rc4KeyRepr::parse(body);
        return Step::DynamicWep(message.map_or(0, |message| message.key_length));
    }
    let key = EapolKeyRepr::guess_mic_len(body)
        .and_then(|mic_len| EapolKeyRepr::parse(body, mic_len).ok());
    let Some(key) = key else {
        return Step::OtherEapol;
    };
    let wpa = key.descriptor == DESCRIPTOR_WPA;
    match key.message() {
        Message::FourWay(number) => Step::FourWay(KeyMessage {
            number,
            replay_counter: key.replay_counter,
            wpa,
            choice: suites(&Elements::new(key.data))
                .filter(|_| number == 2)
                .map(|(choice, _)| choice),
        }),
        Message::Group(number) => Step::Group(number, wpa, key.replay_counter),
        Message::Request => Step::KeyRequest,
    }
}

/// Version of an IKE message that negotiates; informational exchanges do not (RFC 2408 section
/// 3.1, RFC 7296 section 3.1).
fn ike_version(octets: &[u8]) -> Option<Protocol> {
    let (version, exchange) = (octets.get(17)? >> 4, *octets.get(18)?);
    if octets.len() < HEADER_OCTETS || matches!(exchange, INFORMATIONAL | INFORMATIONAL_V2) {
        return None;
    }
    Some(if version == 1 {
        Protocol::IkeV1
    } else {
        Protocol::IkeV2
    })
}

/// Sender and receiver of a frame, as far as they are known.
#[derive(Debug, Clone, Copy)]
struct HardwareEnds {
    from: Option<MacAddress>,
    to: Option<MacAddress>,
}

/// Those of a packet of a wire, where its link layer names them.
fn hardware_ends(wire: Wire, packet: &[u8]) -> HardwareEnds {
    let (from, to) = match wire {
        Wire::Ethernet => {
            let address = |at: usize| MacAddress::from_slice(packet.get(at..at + 6)?).ok();
            (address(6), address(0))
        }
        Wire::Cooked { sender, .. } => (sender, None),
        Wire::Ip => (None, None),
    };
    HardwareEnds { from, to }
}

/// Station and AP of a frame, as far as they are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roles {
    pub station: Option<MacAddress>,
    pub ap: Option<MacAddress>,
}

/// A frame of a station and an AP.
#[derive(Debug, Clone, Copy)]
struct OnAir {
    station: MacAddress,
    bssid: MacAddress,
    from_station: bool,
    airtime_ns: u64,
}

/// Addresses of a frame that ends an association.
#[derive(Debug, Clone, Copy)]
struct LeaveAddresses {
    from: MacAddress,
    to: MacAddress,
    bssid: MacAddress,
}

fn wired_event(slot: &Slot) -> Event {
    Event {
        time_ns: slot.time_ns,
        frame: slot.frame,
        airtime_ns: 0,
        octets: slot.original,
        station: MacAddress::default(),
        bssid: MacAddress::default(),
        from_station: false,
        sequence: None,
        protected: false,
        wired: true,
        channel: None,
        heard_mhz: None,
        step: Step::OtherEapol,
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
