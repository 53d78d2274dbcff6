//! The 4-way handshake and the group key handshake (802.11-2020, 12.7.6 and 12.7.7), the
//! supplicant's end.
//!
//! Takes a [`KeyConfig`] and EAPOL-Key frames; gives EAPOL-Key frames and keys. A replayed or
//! altered frame changes nothing; a repeated message 3 is answered without installing the keys
//! again (Vanhoef and Piessens, CCS 2017, show why).

use std::collections::BTreeMap;

use airtoll_wire::eapol_key::{EapolKeyRepr, KeyInformation};
use airtoll_wire::key_data::{KeyData, iterate};

use crate::exchange::{Carrier, Context, Message, Party, Peer, Status};
use crate::failure::{Code, Failure, reason};
use crate::link::agreed::{failure_of_reason, leaving_reason};
use crate::link::key_frame::{
    Derived, KeyConfig, KeyFields, read_key, secrets, security_element, with_pmkid,
};
use crate::link::key_handshake::GroupKeys;
use airtoll_security::keys::Ptk;

/// Time-outs that a supplicant sits through before it leaves: it outlasts the authenticator's
/// four transmissions of two messages, and the group key handshake of WPA version 1.
const PATIENCE: u8 = 14;

/// One of the group keys of a link.
type Part = fn(&mut GroupKeys) -> &mut Vec<u8>;

/// The station's end of both handshakes.
pub struct KeySupplicant {
    config: KeyConfig,
    snonce: Option<[u8; 32]>,
    anonce: [u8; 32],
    derived: Option<Derived>,
    /// Keys of each link by its ID; those of link 0 without multi-link association.
    group: BTreeMap<u8, GroupKeys>,
    highest_counter: Option<u64>,
    pairwise_done: bool,
    group_done: bool,
    waited: u8,
    channel_differs: bool,
    failure: Option<Failure>,
}

impl KeySupplicant {
    /// Waits for message 1.
    #[must_use]
    pub const fn new(config: KeyConfig) -> Self {
        Self {
            config,
            snonce: None,
            anonce: [0; 32],
            derived: None,
            group: BTreeMap::new(),
            highest_counter: None,
            pairwise_done: false,
            group_done: false,
            waited: 0,
            channel_differs: false,
            failure: None,
        }
    }

    /// Waits for a group key under keys of an earlier 4-way handshake.
    #[must_use]
    pub fn group_rekey(config: KeyConfig, ptk: Ptk, replay_counter: u64) -> Self {
        Self {
            derived: Some(Derived {
                ptk,
                pmk_r0: None,
                r1_name: None,
                r1_key: None,
            }),
            highest_counter: Some(replay_counter),
            pairwise_done: true,
            ..Self::new(config)
        }
    }

    fn answer(
        &self,
        context: &mut Context<'_>,
        key: &EapolKeyRepr<'_>,
        information: u16,
        nonce: &[u8; 32],
        data: &[u8],
    ) {
        let Some(derived) = &self.derived else {
            return;
        };
        let wpa1 = self.config.link.is_wpa1();
        let fields = KeyFields {
            information: information | KeyInformation::MIC,
            key_length: if wpa1 { key.key_length } else { 0 },
            replay_counter: key.replay_counter,
            nonce,
            iv: [0; 16],
            data,
        };
        let frame = self.config.frame(context, &fields, Some(derived.ptk.kck()));
        context.send(Party::Station, Party::AccessPoint, Carrier::Eapol, frame);
    }

    fn message_1(&mut self, key: &EapolKeyRepr<'_>, context: &mut Context<'_>) {
        if let (Some(expected), Some(KeyData::Pmkid(found))) = (
            self.config.pmkid,
            iterate(key.data).find(|item| matches!(item, KeyData::Pmkid(_))),
        ) && expected != *found
        {
            return;
        }
        let link = &self.config.link;
        if !link.confirms_links(Party::AccessPoint, key.data, false) {
            return;
        }
        let snonce = match self.snonce {
            Some(snonce) => snonce,
            None => context.random(),
        };
        self.snonce = Some(snonce);
        if self.derived.is_none() || self.anonce != *key.nonce {
            self.anonce = *key.nonce;
            self.derived = self.config.derive(context, &self.anonce, &snonce);
        }
        let name = self.derived.as_ref().and_then(|d| d.r1_name);
        let mut data = with_pmkid(&self.config.station_element, name);
        data.extend(self.config.link.operating_channel_kde(Party::Station));
        if name.is_some() {
            data.extend(self.config.link.mobility_element());
            data.extend(self.config.ft_element());
        }
        data.extend(self.config.link.extension_element());
        data.extend(self.config.link.selection_element());
        data.extend(self.config.link.mld_kde(Party::Station));
        data.extend(self.config.link.link_kdes(Party::Station));
        self.answer(context, key, KeyInformation::PAIRWISE, &snonce, &data);
    }

    fn message_3(&mut self, key: &EapolKeyRepr<'_>, context: &mut Context<'_>) {
        let Some(derived) = self.derived.clone() else {
            return;
        };
        if self.anonce != *key.nonce {
            return;
        }
        let wpa1 = self.config.link.is_wpa1();
        let data = if wpa1 {
            key.data.to_vec()
        } else {
            let kek = derived.ptk.kek();
            match self.config.open_key_data(context, kek, key.iv, key.data) {
                Some(data) => data,
                None => return,
            }
        };
        let link = &self.config.link;
        let same = if link.multi_link.is_some() {
            link.confirms_links(Party::AccessPoint, &data, true)
        } else {
            let expected = with_pmkid(&self.config.access_point_element, derived.r1_name);
            security_element(&data, wpa1) == expected
        };
        if !same {
            let number = reason::ELEMENT_DIFFERS;
            self.config
                .link
                .send_deauthentication(context, Party::Station, number);
            self.failure = Some(Failure::ElementMismatch {
                code: Code::Reason(number),
            });
            return;
        }
        if !self.admits_channel_of(&data) {
            return;
        }
        if !self.pairwise_done && !wpa1 && !self.install_group(&data) {
            return;
        }
        self.pairwise_done = true;
        let secure = if wpa1 { 0 } else { KeyInformation::SECURE };
        let information = KeyInformation::PAIRWISE | secure;
        let data = self.config.link.mld_kde(Party::Station);
        self.answer(context, key, information, &[0; 32], &data);
    }

    fn group_1(&mut self, key: &EapolKeyRepr<'_>, context: &mut Context<'_>) {
        let Some(derived) = self.derived.clone() else {
            return;
        };
        let kek = derived.ptk.kek();
        let Some(data) = self.config.open_key_data(context, kek, key.iv, key.data) else {
            return;
        };
        if !self.admits_channel_of(&data) {
            return;
        }
        let mut information = KeyInformation::SECURE;
        if self.config.link.is_wpa1() {
            let mut gtk = data;
            gtk.truncate(usize::from(key.key_length));
            self.group.entry(0).or_default().gtk = gtk;
            self.group_done = true;
            information |= u16::from(key.information.wpa_key_index()) << 4;
        } else if !self.install_group(&data) {
            return;
        }
        let data = self.config.link.operating_channel_kde(Party::Station);
        self.answer(context, key, information, &[0; 32], &data);
    }

    /// Whether key data name our channel. A message that names another one is discarded without an
    /// answer (12.2.9), so that only the end of the association tells of it.
    fn admits_channel_of(&mut self, data: &[u8]) -> bool {
        let admitted = self.config.link.admits_channel_of(Party::Station, data);
        self.channel_differs = !admitted;
        admitted
    }

    fn install_group(&mut self, data: &[u8]) -> bool {
        let multi_link = self.config.link.multi_link.is_some();
        let ids = self.config.link.link_ids();
        for item in iterate(data) {
            let of_link = matches!(
                item,
                KeyData::MloGtk { .. } | KeyData::MloIgtk { .. } | KeyData::MloBigtk { .. }
            );
            if of_link != multi_link {
                continue;
            }
            let (link, octets, part): (u8, &[u8], Part) = match item {
                KeyData::Gtk { key, .. } => (0, key, |keys| &mut keys.gtk),
                KeyData::Igtk { key, .. } => (0, key, |keys| &mut keys.igtk),
                KeyData::Bigtk { key, .. } => (0, key, |keys| &mut keys.bigtk),
                KeyData::MloGtk { link, key, .. } => (link, key, |keys| &mut keys.gtk),
                KeyData::MloIgtk { link, key, .. } => (link, key, |keys| &mut keys.igtk),
                KeyData::MloBigtk { link, key, .. } => (link, key, |keys| &mut keys.bigtk),
                _ => continue,
            };
            if ids.contains(&link) {
                *part(self.group.entry(link).or_default()) = octets.to_vec();
            }
        }
        let expected = self.config.link.group.key_octets();
        let complete = |id| {
            let keys = self.group.get(id);
            keys.is_some_and(|keys| keys.gtk.len() == expected)
        };
        self.group_done = ids.iter().all(complete);
        self.group_done
    }
}

impl Peer for KeySupplicant {
    fn party(&self) -> Party {
        Party::Station
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.failure.is_some() {
            return;
        }
        if let Some(number) = leaving_reason(message) {
            let done = self.pairwise_done && self.group_done;
            self.failure = Some(match failure_of_reason(number) {
                failure if self.channel_differs => Failure::WrongChannel {
                    code: failure.code(),
                },
                // Reason 15 before message 3 means that the AP did not accept our MIC; after it,
                // that message 4 never arrived.
                Failure::WrongPassphrase { code } if self.pairwise_done || done => {
                    Failure::PeerTimeout { code }
                }
                failure => failure,
            });
            return;
        }
        let Some((key, frame)) = read_key(message, self.config.mic_octets()) else {
            return;
        };
        let info = key.information;
        let fresh = self
            .highest_counter
            .is_none_or(|highest| key.replay_counter > highest);
        if !info.has(KeyInformation::ACK) || !fresh {
            return;
        }
        if !info.has(KeyInformation::MIC) {
            if info.has(KeyInformation::PAIRWISE) && !self.pairwise_done {
                self.message_1(&key, context);
            }
            return;
        }
        let Some(derived) = self.derived.clone() else {
            return;
        };
        if !self.config.verify(context, derived.ptk.kck(), frame) {
            return;
        }
        self.highest_counter = Some(key.replay_counter);
        if info.has(KeyInformation::PAIRWISE) {
            self.message_3(&key, context);
        } else if self.pairwise_done {
            self.group_1(&key, context);
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        self.waited += 1;
        if self.waited > PATIENCE {
            let number = reason::LEAVING;
            self.config
                .link
                .send_deauthentication(context, Party::Station, number);
            let code = Code::Reason(number);
            self.failure = Some(if self.channel_differs {
                Failure::WrongChannel { code }
            } else {
                Failure::PeerTimeout { code }
            });
        }
    }

    fn status(&self) -> Status {
        match self.failure {
            Some(failure) => Status::Failed(failure),
            None if self.pairwise_done && self.group_done => Status::Established(secrets(
                &self.config,
                self.derived.as_ref(),
                self.group.values(),
            )),
            None => Status::Waiting,
        }
    }
}

#[cfg(test)]
mod tests;
