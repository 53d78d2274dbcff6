//! Keys of a recorded trial: takes the keys that stations, access points and gateways agreed on, or
//! draws those that exist from the start; gives ciphers to the recorder and rows to the key log.

use std::collections::{BTreeMap, BTreeSet};

use airtoll_engine::{Stream, Streams};
use airtoll_handshakes::link::multi_link::link_address;
use airtoll_handshakes::{Negotiation, SecretName, Secrets};
use airtoll_security::{CipherSuite, TunnelSuite};
use airtoll_wire::MacAddress;

use super::View;
use super::cipher::{GroupIntegrity, LinkCipher};
use super::recorder::Recorder;
use super::tunnel::{self, TunnelCipher, TunnelDirection};
use super::{Key, hex};
use crate::address::{self, Locator};
use crate::id::{Ends, NodeId, Pair, RadioId, TunnelId};
use crate::net::TunnelEnd;
use crate::scenario::{Role, Scenario};

/// IDs and radios of the links of an access point.
fn links_of(view: &View<'_>, access_point: NodeId) -> Vec<(u8, RadioId)> {
    let radios = view.mac().radios_of_device(RadioId::first_of(access_point));
    (0..).zip(radios).collect()
}

impl Recorder {
    pub(super) fn draw_link_keys(
        &mut self,
        scenario: &Scenario,
        view: &View<'_>,
        streams: &Streams,
    ) {
        let mut shared: BTreeMap<(RadioId, CipherSuite), Vec<u8>> = BTreeMap::new();
        let mut passphrases = BTreeSet::new();
        for radio in view.medium().radios() {
            let station = &scenario.nodes[view.medium().host_of(radio).index()];
            if station.role != Role::Station || station.cipher == CipherSuite::Open {
                continue;
            }
            let Some(access_point) = view.first_neighbour(radio) else {
                continue;
            };
            let suite = station.cipher;
            let wep = matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104);
            let negotiation = view.join.negotiation(radio);
            if let Some(passphrase) = negotiation.and_then(Negotiation::passphrase) {
                passphrases.insert((negotiation.map(|n| n.link().ssid.clone()), passphrase));
            }
            let fixed = negotiation.and_then(Negotiation::wep_key);
            if negotiation.is_some() && fixed.is_none() {
                // Its key comes with its key handshake.
                continue;
            }
            let key = if wep {
                shared
                    .entry((access_point, suite))
                    .or_insert_with(|| {
                        let name = format!("key/{}/{}", suite.name(), access_point);
                        let key = fixed
                            .unwrap_or_else(|| draw(&mut streams.named(&name), suite.key_octets()));
                        self.sink.key(&Key::Wep {
                            index: "0".to_owned(),
                            key: hex(&key),
                        });
                        key
                    })
                    .clone()
            } else {
                draw(
                    &mut streams.named(&format!("key/{}", station.name)),
                    suite.key_octets(),
                )
            };
            if !wep {
                self.sink.key(&Key::Tk {
                    key: hex(&key),
                    station: self.mac_of(view, radio).to_string(),
                    bssid: self.mac_of(view, access_point).to_string(),
                    name: station.name.clone(),
                });
            }
            let pair = Pair {
                station: radio,
                access_point,
            };
            self.install(view, pair, suite, &key);
        }
        for (node, access_point) in view.net().nodes().zip(&scenario.nodes) {
            let link = view.mac().group_link(RadioId::first_of(node));
            let suite = link.map_or(access_point.cipher, |link| view.mac().link(link).cipher());
            if access_point.role != Role::AccessPoint || suite == CipherSuite::Open {
                continue;
            }
            if self.group_keys(view, node) {
                continue;
            }
            let radio = RadioId::first_of(node);
            match shared.get(&(radio, suite)) {
                // All nodes have the one key.
                Some(key) => self.install_group(view, radio, suite, (0, key)),
                None => {
                    let name = format!("group-key/{}", access_point.name);
                    let key = draw(&mut streams.named(&name), suite.key_octets());
                    self.install_group(view, radio, suite, (1, &key));
                }
            }
        }
        for (ssid, passphrase) in passphrases {
            self.sink.key(&Key::Passphrase {
                ssid: String::from_utf8_lossy(&ssid.unwrap_or_default()).into_owned(),
                passphrase: passphrase.to_owned(),
            });
        }
    }

    /// An access point encrypts group-addressed frames with the keys that its stations have by now;
    /// `false` where no station joins, or none has keys.
    pub fn group_keys(&mut self, view: &View<'_>, access_point: NodeId) -> bool {
        let mut any = false;
        for (link, radio) in links_of(view, access_point) {
            let Some((suite, keys)) = view.join.group_keys(access_point, link) else {
                continue;
            };
            any = true;
            self.install_group(view, radio, suite, (keys.key_id, &keys.gtk));
            let bssid = self.mac_of(view, radio);
            if let Some(suite) = view.join.beacon_integrity(access_point, link) {
                let key_id = u16::from(keys.key_id) + 5;
                self.install_beacon_key((radio, 0), bssid, suite, (key_id, &keys.bigtk));
            }
            let management = view.join.group_management(access_point, link);
            let Some(management) = management.filter(|_| !keys.igtk.is_empty()) else {
                continue;
            };
            let key_id = u16::from(keys.key_id) + 3;
            self.sink.key(&Key::Igtk {
                index: key_id.to_string(),
                key: hex(&keys.igtk),
                bssid: bssid.to_string(),
            });
            if let Some(groups) = GroupIntegrity::new(management, &keys.igtk, key_id) {
                self.integrity.insert(radio, groups);
            }
        }
        any
    }

    /// Keys of protected beacons. Those of networks whose stations join come with their handshakes.
    pub(super) fn draw_beacon_keys(
        &mut self,
        scenario: &Scenario,
        view: &View<'_>,
        streams: &Streams,
    ) {
        for (node, access_point) in view.net().nodes().zip(&scenario.nodes) {
            let radio = RadioId::first_of(node);
            let Some((suite, networks)) = self.protected_beacons(radio) else {
                continue;
            };
            for (link, radio) in links_of(view, node) {
                // Devices that have joined from the start have one address, and one key for it.
                if link > 0 && scenario.associations.is_empty() {
                    continue;
                }
                let joins = view.join.group_keys(node, link).is_some();
                let open = |number: &u32| self.is_open(radio, *number);
                let numbers: Vec<u32> = (u32::from(joins)..networks).filter(|n| !open(n)).collect();
                for number in numbers {
                    let own = match link {
                        0 => format!("beacon-key/{}/{number}", access_point.name),
                        link => format!("beacon-key/{}/{number}/link-{link}", access_point.name),
                    };
                    let key = draw(&mut streams.named(&own), suite.key_octets());
                    let bssid = link_address(address::bssid(node, number), link);
                    self.install_beacon_key((radio, number), bssid, suite, (6, &key));
                }
            }
        }
    }

    fn install_beacon_key(
        &mut self,
        (access_point, number): (RadioId, u32),
        bssid: MacAddress,
        suite: CipherSuite,
        (key_id, key): (u16, &[u8]),
    ) {
        self.sink.key(&Key::Bigtk {
            index: key_id.to_string(),
            key: hex(key),
            bssid: bssid.to_string(),
        });
        if let Some(integrity) = GroupIntegrity::new(suite, key, key_id) {
            self.beacon_integrity
                .insert((access_point, number), integrity);
        }
    }

    fn install_group(
        &mut self,
        view: &View<'_>,
        access_point: RadioId,
        suite: CipherSuite,
        (key_id, key): (u8, &[u8]),
    ) {
        let bssid = self.mac_of(view, access_point);
        let index = key_id.to_string();
        // Key 0 is the static WEP key, which is there already.
        if key_id > 0 && matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104) {
            self.sink.key(&Key::Wep {
                index,
                key: hex(key),
            });
        } else if key_id > 0 {
            self.sink.key(&Key::Gtk {
                index,
                key: hex(key),
                bssid: bssid.to_string(),
            });
        }
        if let Some(cipher) = LinkCipher::new(suite, key, bssid) {
            self.ciphers
                .insert((access_point, None), cipher.with_id(key_id));
        }
    }

    /// Uses a pairwise key in both directions from now on.
    fn install(&mut self, view: &View<'_>, pair: Pair<RadioId>, suite: CipherSuite, key: &[u8]) {
        let devices = self.link_addresses(view, pair);
        let Pair {
            station,
            access_point,
        } = pair;
        for (from, to) in [(station, access_point), (access_point, station)] {
            if let Some(cipher) = LinkCipher::new(suite, key, self.mac_of(view, access_point)) {
                self.ciphers
                    .insert((from, Some(to)), cipher.between(devices));
            }
        }
    }

    /// A station and its access point are done with a stage of their negotiation.
    pub fn agreed(&mut self, view: &View<'_>, pair: Pair<RadioId>, secrets: &Secrets) {
        let Pair {
            station,
            access_point,
        } = pair;
        let ends = (
            self.mac_of(view, station).to_string(),
            self.mac_of(view, access_point).to_string(),
        );
        let name = view.net().name(view.medium().host_of(station));
        let Some(suite) = view.first_cipher(station) else {
            return;
        };
        if let Some(pmk) = secrets.get(&SecretName::Pmk) {
            self.sink.key(&Key::Pmk {
                key: hex(pmk),
                station: ends.0.clone(),
                bssid: ends.1.clone(),
                name: name.to_owned(),
            });
        }
        if let Some(key) = secrets.get(&SecretName::Tk) {
            self.sink.key(&Key::Tk {
                key: hex(key),
                station: ends.0,
                bssid: ends.1,
                name: name.to_owned(),
            });
            self.install(view, pair, suite, key);
        } else if let Some(key) = secrets.get(&SecretName::WepKey) {
            self.sink.key(&Key::Wep {
                index: "0".to_owned(),
                key: hex(key),
            });
            self.install(view, pair, suite, key);
        }
    }

    /// A station and its gateway agreed on the keys of their next tunnel.
    pub fn tunnel_agreed(
        &mut self,
        view: &View<'_>,
        (station, outside): (NodeId, Locator),
        secrets: &Secrets,
    ) {
        let tunnels = view.net().tunnels(station);
        if tunnels.is_empty() {
            return;
        }
        let agreed = self.agreed_tunnels.entry(station).or_default();
        // A station that rejoins agrees on all of them again.
        let number = TunnelId::new((*agreed % tunnels.len()) as u32);
        *agreed += 1;
        let end = &tunnels[number];
        let (Some(encapsulation), Some(spis)) =
            (end.encapsulation(), secrets.get(&SecretName::TunnelSpis))
        else {
            return;
        };
        let far = far_end(view, station, number);
        // WireGuard's initiator confirms the key with an empty message (its paper, section 5.4.6).
        let earlier = u64::from(encapsulation.suite == TunnelSuite::WireGuard);
        for (ends, at, name, spi, earlier) in [
            (
                Ends {
                    from: outside,
                    to: end.peer().into(),
                },
                Some((station, number)),
                SecretName::TunnelForward,
                spis.first_chunk(),
                earlier,
            ),
            (
                Ends {
                    from: end.peer().into(),
                    to: outside,
                },
                far,
                SecretName::TunnelBackward,
                spis.last_chunk(),
                0,
            ),
        ] {
            let (Some(key), Some(spi)) = (secrets.get(&name), spi) else {
                continue;
            };
            let spi = u32::from_be_bytes(*spi);
            self.sink
                .key(&TunnelCipher::row(encapsulation, ends, spi, key));
            let cipher = TunnelCipher::new(encapsulation, ends, spi, key);
            debug_assert!(cipher.is_some(), "{encapsulation:?}: {} octets", key.len());
            if let Some(cipher) = cipher {
                let Some(at) = at else { continue };
                let taken = taken(view, at);
                let cipher = cipher.after(earlier).since(taken);
                self.tunnels.entry(at).or_default().begin(taken, cipher);
            }
        }
    }

    /// A station's tunnels go on from another address.
    pub fn tunnels_moved(&mut self, view: &View<'_>, (station, outside): (NodeId, Locator)) {
        for number in view.net().tunnels(station).ids() {
            let before = self.tunnels.get(&(station, number));
            let Some(cipher) = before.and_then(TunnelDirection::last) else {
                continue;
            };
            let cipher = cipher.between(Ends {
                from: outside,
                ..cipher.ends()
            });
            self.goes_on((station, number), view, cipher);
        }
    }

    /// The far ends of a station's tunnels know its new address.
    pub fn gateway_follows(&mut self, view: &View<'_>, (station, outside): (NodeId, Locator)) {
        for number in view.net().tunnels(station).ids() {
            let Some(far) = far_end(view, station, number) else {
                continue;
            };
            let before = self.tunnels.get(&far);
            let Some(cipher) = before.and_then(TunnelDirection::last) else {
                continue;
            };
            let cipher = cipher.between(Ends {
                to: outside,
                ..cipher.ends()
            });
            self.goes_on(far, view, cipher);
        }
    }

    fn goes_on(&mut self, at: (NodeId, TunnelId), view: &View<'_>, cipher: TunnelCipher) {
        self.sink.key(&cipher.own_row());
        let direction = self.tunnels.entry(at).or_default();
        direction.begin(taken(view, at), cipher);
    }

    pub(super) fn draw_tunnel_keys(&mut self, view: &View<'_>, streams: &Streams) {
        let joins = |node: NodeId| view.join.negotiates_tunnels(node);
        for node in view.net().nodes() {
            for (number, end) in view.net().tunnels(node).pairs() {
                let Some(encapsulation) = end.encapsulation() else {
                    continue;
                };
                if joins(node) || joins(end.peer()) {
                    // Its keys come with its handshake.
                    continue;
                }
                let ends = Ends {
                    from: node.into(),
                    to: end.peer().into(),
                };
                let name = format!("tunnel/{node}/{number}");
                let mut stream = streams.named(&name);
                let octets = tunnel::key_octets(encapsulation.suite);
                let key = draw(&mut stream, octets.encryption + octets.integrity);
                // SPIs below 256 are reserved (RFC 4303 section 2.1).
                let index = stream.up_to(u32::MAX - 256) + 256;
                self.sink
                    .key(&TunnelCipher::row(encapsulation, ends, index, &key));
                if let Some(cipher) = TunnelCipher::new(encapsulation, ends, index, &key) {
                    let at = (node, number);
                    self.tunnels.entry(at).or_default().begin(0, cipher);
                }
            }
        }
    }
}

/// Node and number of the far end of a station's tunnel. The far node lists its tunnels to a host
/// in the order in which the host lists its tunnels to that node.
fn far_end(view: &View<'_>, station: NodeId, number: TunnelId) -> Option<(NodeId, TunnelId)> {
    let tunnels = view.net().tunnels(station);
    let peer = tunnels[number].peer();
    let before = tunnels.as_slice()[..number.index()]
        .iter()
        .filter(|t| t.peer() == peer);
    let far = view
        .net()
        .tunnels(peer)
        .pairs()
        .filter(|(_, t)| t.peer() == station)
        .nth(before.count());
    far.map(|(number, _)| (peer, number))
}

/// Packets that a tunnel has taken at this end.
fn taken(view: &View<'_>, (node, number): (NodeId, TunnelId)) -> u32 {
    let tunnels = view.net().tunnels(node);
    tunnels.get(number).map_or(0, TunnelEnd::taken)
}

fn draw(stream: &mut Stream, octets: usize) -> Vec<u8> {
    (0..octets).map(|_| stream.up_to(255) as u8).collect()
}
