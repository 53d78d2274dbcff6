//! Key messages into keys: takes EAPOL-Key frames in the order of the capture, gives pairwise and
//! group keys to the keyring.
//!
//! Source: IEEE 802.11-2020 clauses 12.7.6 (4-way) and 12.7.7 (group), IEEE 802.11be-2024 for several links. A pairwise key counts only once a MIC or a wrapped key proved it,
//! but for FT without a group key, where the first data frame is the proof.

use std::collections::VecDeque;

use airtoll_security::keys::mic::KeyMic;
use airtoll_security::keys::pairwise::{Ptk, pmk_from_msk};
use airtoll_security::keys::wrap;
use airtoll_security::{AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::Eapol;
use airtoll_wire::eapol_key::{
    DESCRIPTOR_RC4, DESCRIPTOR_WPA, EapolKeyRepr, KeyInformation, Message,
};
use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::ft::MdeRepr;
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Elements, OciRepr, RsnRepr};
use airtoll_wire::key_data::{self, KeyData};
use zeroize::Zeroizing;

use super::choices::{Choice, choices};
use super::ft::{FtHolder, ft_holder, ft_ptk};
use super::{HandshakeNonces, Keyring};
use crate::decrypt::traffic::TrafficKey;
use crate::keys::Secret;

/// Nonces and second messages that are remembered per pair: retransmissions and lost frames mix
/// a few exchanges.
const REMEMBERED: usize = 4;
/// Pairwise transient keys remembered per pair for group key messages.
const MAX_PTKS: usize = 16;
/// Longest key message that is remembered.
const MAX_MESSAGE: usize = 2048;

/// State of the key messages between an access point and a station.
#[derive(Debug, Default)]
pub struct Handshake {
    anonces: VecDeque<[u8; 32]>,
    seconds: VecDeque<Second>,
    waiting: Option<Vec<u8>>,
    ptks: VecDeque<Proven>,
    pub(crate) ft: Option<FtHolder>,
    /// The station's own choice, of its association request.
    pub(crate) chosen: Option<RsnRepr>,
}

impl Handshake {
    /// Whether messages 1 and 2 were seen and no key makes the MIC of any message 2.
    pub(in crate::decrypt) fn is_refuted(&self) -> bool {
        !self.anonces.is_empty() && !self.seconds.is_empty() && self.ptks.is_empty()
    }
}

/// The OCI KDE in key data (IEEE 802.11-2020, 12.7.2).
fn operating_channel(key_data: &[u8]) -> Option<OciRepr> {
    key_data::iterate(key_data).find_map(|item| match item {
        KeyData::Oci(octets) => OciRepr::parse(octets).ok(),
        _ => None,
    })
}

#[derive(Debug, Clone)]
struct Second {
    snonce: [u8; 32],
    frame: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Proven {
    anonce: [u8; 32],
    snonce: [u8; 32],
    ptk: Ptk,
    mic: KeyMic,
    group: Option<CipherSuite>,
}

impl Keyring {
    /// Learns from an EAPOL packet of type Key between two stations; gives the operating channel
    /// information in it, where the key data are readable.
    pub fn learn_key_message(
        &mut self,
        from: MacAddress,
        to: MacAddress,
        packet: &Eapol<'_>,
    ) -> Option<OciRepr> {
        let body = packet.body();
        if body.first() == Some(&DESCRIPTOR_RC4) {
            self.learn_rc4_key(from, to, packet);
            return None;
        }
        let mic_len = EapolKeyRepr::guess_mic_len(body)?;
        let key = EapolKeyRepr::parse(body, mic_len).ok()?;
        let clear =
            !key.information.has(KeyInformation::ENCRYPTED) && key.descriptor != DESCRIPTOR_WPA;
        let channel = clear.then(|| operating_channel(key.data)).flatten();
        if packet.octets().len() > MAX_MESSAGE || self.given.is_empty() {
            return channel;
        }
        let authenticator = key.information.has(KeyInformation::ACK);
        if !key.information.has(KeyInformation::ENCRYPTED) {
            let (own, other) = if authenticator {
                (from, to)
            } else {
                (to, from)
            };
            self.learn_link_kdes(own, other, authenticator, key.data);
        }
        match key.message() {
            Message::FourWay(1) => self.first(from, to, *key.nonce),
            Message::FourWay(2) => self.second(from, to, *key.nonce, packet.octets()),
            Message::FourWay(3) => {
                self.first(from, to, *key.nonce);
                return self.group_key(from, to, packet.octets()).or(channel);
            }
            Message::FourWay(_) if *key.nonce != [0; 32] => {
                // Some stations repeat their nonce in message 4: as good as message 2.
                self.second(from, to, *key.nonce, packet.octets());
            }
            Message::Group(1) => return self.group_key(from, to, packet.octets()).or(channel),
            _ => {}
        }
        channel
    }

    fn first(&mut self, authenticator: MacAddress, supplicant: MacAddress, anonce: [u8; 32]) {
        let Some(pair) = self.pair_mut(authenticator, supplicant) else {
            return;
        };
        let handshake = &mut pair.handshake;
        if handshake.anonces.front() == Some(&anonce) {
            return;
        }
        handshake.anonces.retain(|known| *known != anonce);
        handshake.anonces.push_front(anonce);
        handshake.anonces.truncate(REMEMBERED);
        let seconds = handshake.seconds.clone();
        for second in seconds {
            if self.prove(authenticator, supplicant, &anonce, &second) {
                break;
            }
        }
    }

    fn second(
        &mut self,
        supplicant: MacAddress,
        authenticator: MacAddress,
        snonce: [u8; 32],
        frame: &[u8],
    ) {
        let Some(pair) = self.pair_mut(authenticator, supplicant) else {
            return;
        };
        let second = Second {
            snonce,
            frame: frame.to_vec(),
        };
        let handshake = &mut pair.handshake;
        if handshake
            .seconds
            .iter()
            .any(|known| known.frame == second.frame)
        {
            return;
        }
        handshake.seconds.push_front(second.clone());
        handshake.seconds.truncate(REMEMBERED);
        let anonces = handshake.anonces.clone();
        for anonce in anonces {
            if self.prove(authenticator, supplicant, &anonce, &second) {
                break;
            }
        }
    }

    /// Tries every PMK on one pair of nonces; on success the pairwise key is there.
    fn prove(
        &mut self,
        authenticator: MacAddress,
        supplicant: MacAddress,
        anonce: &[u8; 32],
        second: &Second,
    ) -> bool {
        let Some(pair) = self.pair_mut(authenticator, supplicant) else {
            return false;
        };
        let known = |proven: &Proven| proven.anonce == *anonce && proven.snonce == second.snonce;
        if pair.handshake.ptks.iter().any(known) {
            return true;
        }
        let Some(body) = second.frame.get(4..) else {
            return false;
        };
        let Some(mic_len) = EapolKeyRepr::guess_mic_len(body) else {
            return false;
        };
        let Ok(key) = EapolKeyRepr::parse(body, mic_len) else {
            return false;
        };
        let version = key.information.version();
        let mut holder = pair.handshake.ft.clone();
        let mut chosen = pair.handshake.chosen.clone();
        let mut fte_holder = None;
        for item in key_data::iterate(key.data) {
            let KeyData::Element(element) = item else {
                continue;
            };
            match element.id {
                id::RSN => chosen = RsnRepr::parse(element.body).ok().or(chosen),
                id::VENDOR => {
                    if let Some((OUI_WPA, 1, body)) = element.vendor() {
                        chosen = RsnRepr::parse_wpa(body).ok().or(chosen);
                    }
                }
                id::FAST_TRANSITION => fte_holder = Some(element.body),
                _ => {}
            }
        }
        let mde = Elements::new(key.data)
            .find_id(id::MOBILITY_DOMAIN)
            .and_then(|body| MdeRepr::parse(body).ok());
        if let (Some(fte), Some(mde)) = (fte_holder, mde) {
            holder = ft_holder(fte, mde.mdid, mic_len.max(16)).or(holder);
        }
        let announced = self.bss(authenticator).cloned().unwrap_or_default();
        let [aa, spa] = self.key_addresses([authenticator, supplicant]);
        let choices = choices(chosen.as_ref(), announced.rsn.as_ref(), version, mic_len);
        let mut ssids = vec![announced.ssid.clone()];
        if announced.ssid.is_empty() {
            ssids = self.given.ssids.clone();
        }
        for choice in choices {
            let Ok(mic) = KeyMic::of(choice.akm, choice.hash, version) else {
                continue;
            };
            if mic.octets() != mic_len {
                continue;
            }
            for pmk in self.masters(choice.akm, &announced.ssid) {
                let made: Vec<Ptk> = if choice.akm.is_ft() {
                    let Some(holder) = &holder else { break };
                    ssids
                        .iter()
                        .filter_map(|ssid| {
                            ft_ptk(
                                choice,
                                &pmk,
                                ssid,
                                holder,
                                authenticator,
                                supplicant,
                                anonce,
                                &second.snonce,
                            )
                        })
                        .collect()
                } else {
                    Ptk::derive(
                        choice.akm,
                        choice.hash,
                        choice.cipher,
                        &pmk,
                        aa,
                        spa,
                        anonce,
                        &second.snonce,
                    )
                    .into_iter()
                    .collect()
                };
                for ptk in made {
                    if mic.verify_frame(ptk.kck(), &second.frame) == Ok(true) {
                        let nonces = HandshakeNonces {
                            anonce: *anonce,
                            snonce: second.snonce,
                        };
                        self.proven(authenticator, supplicant, nonces, ptk, mic, choice);
                        return true;
                    }
                }
            }
        }
        false
    }

    pub(in crate::decrypt) fn proven(
        &mut self,
        authenticator: MacAddress,
        supplicant: MacAddress,
        nonces: HandshakeNonces,
        ptk: Ptk,
        mic: KeyMic,
        choice: Choice,
    ) {
        if let Some(key) = TrafficKey::new(choice.cipher, None, ptk.tk()) {
            self.add_pairwise(authenticator, supplicant, key);
        }
        let Some(pair) = self.pair_mut(authenticator, supplicant) else {
            return;
        };
        pair.handshake.ptks.push_front(Proven {
            anonce: nonces.anonce,
            snonce: nonces.snonce,
            ptk,
            mic,
            group: choice.group,
        });
        pair.handshake.ptks.truncate(MAX_PTKS);
        if let Some(waiting) = pair.handshake.waiting.take() {
            self.group_key(authenticator, supplicant, &waiting);
        }
    }

    /// PMKs (or XXKeys) of an AKM.
    pub(in crate::decrypt) fn masters(&mut self, akm: AkmSuite, ssid: &[u8]) -> Vec<Secret> {
        let mut list = self.pmks(ssid);
        for msk in &self.given.msks {
            list.extend(pmk_from_msk(akm, msk));
        }
        list
    }

    /// Message 3 or a group message 1: takes the group keys out of its key data, and gives the
    /// operating channel information in them.
    fn group_key(
        &mut self,
        authenticator: MacAddress,
        supplicant: MacAddress,
        frame: &[u8],
    ) -> Option<OciRepr> {
        let body = frame.get(4..)?;
        let mic_len = EapolKeyRepr::guess_mic_len(body)?;
        let key = EapolKeyRepr::parse(body, mic_len).ok()?;
        let pair = self.pair_mut(authenticator, supplicant)?;
        let proven = pair
            .handshake
            .ptks
            .iter()
            .find(|p| {
                p.mic.octets() == mic_len && p.mic.verify_frame(p.ptk.kck(), frame) == Ok(true)
            })
            .cloned();
        let Some(proven) = proven else {
            pair.handshake.waiting = Some(frame.to_vec());
            return None;
        };
        let wpa = key.descriptor == DESCRIPTOR_WPA;
        let group_message = !key.information.has(KeyInformation::PAIRWISE);
        let encrypted = key.information.has(KeyInformation::ENCRYPTED) || (wpa && group_message);
        let data = if !encrypted {
            Zeroizing::new(key.data.to_vec())
        } else if key.information.version() == 1 {
            let mut data = Zeroizing::new(key.data.to_vec());
            wrap::rc4_key_data(proven.ptk.kek(), key.iv, &mut data);
            data
        } else {
            wrap::unwrap(proven.ptk.kek(), key.data).ok()?
        };
        if wpa {
            if group_message {
                let len = usize::from(key.key_length).min(data.len());
                let id = key.information.wpa_key_index();
                self.add_gtk(authenticator, id, &data[..len], proven.group);
            }
            return None;
        }
        self.learn_link_kdes(authenticator, supplicant, true, &data);
        for item in key_data::iterate(&data) {
            let owner = match item {
                KeyData::MloGtk { link, .. }
                | KeyData::MloIgtk { link, .. }
                | KeyData::MloBigtk { link, .. } => self.on_link(authenticator, link),
                _ => None,
            };
            match item {
                KeyData::Gtk { key_id, key, .. } => {
                    self.add_gtk(authenticator, key_id, key, proven.group);
                }
                KeyData::Igtk { key, .. } | KeyData::Bigtk { key, .. } => {
                    self.add_igtk(authenticator, key)
                }
                KeyData::MloGtk { key_id, key, .. } => {
                    if let Some(owner) = owner {
                        self.add_gtk(owner, key_id, key, proven.group);
                    }
                }
                KeyData::MloIgtk { key, .. } | KeyData::MloBigtk { key, .. } => {
                    if let Some(owner) = owner {
                        self.add_igtk(owner, key);
                    }
                }
                _ => {}
            }
        }
        operating_channel(&data)
    }

    pub(in crate::decrypt) fn add_gtk(
        &mut self,
        owner: MacAddress,
        key_id: u8,
        octets: &[u8],
        group: Option<CipherSuite>,
    ) {
        let announced = self
            .bss(owner)
            .and_then(|bss| bss.rsn.as_ref().or(bss.wpa.as_ref()))
            .and_then(|rsn| CipherSuite::from_selector(rsn.group?.0));
        let told = group
            .or(announced)
            .filter(|suite| suite.key_octets() == octets.len());
        let suites: &[CipherSuite] = match (told.as_ref(), octets.len()) {
            (Some(suite), _) => std::slice::from_ref(suite),
            (None, 5) => &[CipherSuite::Wep40],
            (None, 13) => &[CipherSuite::Wep104],
            (None, 16) => &[CipherSuite::Gcmp128, CipherSuite::Ccmp128],
            (None, 32) => &[
                CipherSuite::Ccmp256,
                CipherSuite::Gcmp256,
                CipherSuite::Tkip,
            ],
            _ => &[],
        };
        for suite in suites {
            if let Some(key) = TrafficKey::new(*suite, Some(key_id), octets) {
                self.add_group(owner, key);
            }
        }
    }
}
