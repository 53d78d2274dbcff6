//! The 4-way handshake and the group key handshake (802.11-2020, 12.7.6 and 12.7.7), the
//! authenticator's end; the supplicant's is in `key_supplicant`.
//!
//! Takes a [`KeyConfig`]; gives EAPOL-Key frames with the
//! RSN or the WPA descriptor, and keys. Retries and reason codes are those of hostapd's
//! defaults (four transmissions of messages 1 and 3). Never chooses when to retry.

use airtoll_wire::eapol_key::{EapolKeyRepr, KeyInformation};
use airtoll_wire::key_data::KeyData;

use crate::exchange::{Carrier, Context, Message, Party, Peer, Secrets, Status};
use crate::failure::{Code, Failure, reason};
use crate::link::agreed::{element, leaving_reason};
use crate::link::key_frame::{Derived, KeyFields, read_key, secrets, security_element, with_pmkid};
pub use crate::link::key_frame::{GroupKeys, KeyConfig};
use crate::octets::written;
use airtoll_security::keys::Ptk;
use airtoll_security::suite::CipherSuite;

/// Transmissions of a message before the authenticator gives up (hostapd's
/// wpa_pairwise_update_count and wpa_group_update_count).
const TRANSMISSIONS: u8 = 4;

/// The message for which the authenticator waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Message2,
    Message4,
    Group2,
    Done,
}

/// The AP's end of both handshakes.
pub struct KeyAuthenticator {
    config: KeyConfig,
    anonce: [u8; 32],
    derived: Option<Derived>,
    /// One set for each link, by increasing link ID.
    group: Vec<GroupKeys>,
    given: bool,
    replay_counter: u64,
    outstanding: Vec<u64>,
    sent: u8,
    mic_failed: bool,
    channel_differs: bool,
    rekey: bool,
    /// Transmissions of message 1 of a group key handshake.
    group_transmissions: u8,
    phase: Phase,
    failure: Option<Failure>,
}

impl KeyAuthenticator {
    /// A 4-way handshake; with WPA version 1 the group key handshake follows it.
    #[must_use]
    pub const fn new(config: KeyConfig) -> Self {
        Self {
            config,
            anonce: [0; 32],
            derived: None,
            group: Vec::new(),
            given: false,
            replay_counter: 0,
            outstanding: Vec::new(),
            sent: 0,
            mic_failed: false,
            channel_differs: false,
            rekey: false,
            group_transmissions: TRANSMISSIONS,
            phase: Phase::Message2,
            failure: None,
        }
    }

    /// A group key handshake under keys of an earlier 4-way handshake; `replay_counter` is the
    /// last one used.
    #[must_use]
    pub fn group_rekey(config: KeyConfig, ptk: Ptk, replay_counter: u64) -> Self {
        Self {
            derived: Some(Derived {
                ptk,
                pmk_r0: None,
                r1_name: None,
                r1_key: None,
            }),
            replay_counter,
            rekey: true,
            phase: Phase::Group2,
            ..Self::new(config)
        }
    }

    /// Distributes these keys instead of drawing its own: one set for each link, by increasing link ID.
    #[must_use]
    pub fn handing_out(mut self, keys: Vec<GroupKeys>) -> Self {
        self.group = keys;
        self.given = true;
        self
    }

    /// Transmits message 1 of a group key handshake so often at most (hostapd's
    /// `wpa_group_update_count`).
    #[must_use]
    pub const fn transmitting(mut self, transmissions: u8) -> Self {
        self.group_transmissions = transmissions;
        self
    }

    /// The PTK, once derived.
    #[must_use]
    pub fn ptk(&self) -> Option<&Ptk> {
        self.derived.as_ref().map(|derived| &derived.ptk)
    }

    fn draw_group_keys(&mut self, context: &mut Context<'_>) {
        if self.given {
            return;
        }
        let link = &self.config.link;
        // The nonce and the KDF of 12.7.1.4 count as what they are made of: random octets.
        let mut drawn = |cipher: Option<CipherSuite>| {
            cipher.map_or_else(Vec::new, |cipher| {
                context.random_octets(cipher.key_octets())
            })
        };
        self.group = (0..link.links())
            .map(|_| GroupKeys {
                gtk: drawn(Some(link.group)),
                igtk: drawn(link.group_management()),
                bigtk: drawn(link.beacon_integrity()),
                key_id: if self.rekey { 2 } else { 1 },
            })
            .collect();
    }

    fn transmit(&mut self, context: &mut Context<'_>) {
        self.replay_counter += 1;
        self.outstanding.push(self.replay_counter);
        self.sent += 1;
        let frame = match self.phase {
            Phase::Message2 => self.message_1(context),
            Phase::Message4 => self.message_3(context),
            Phase::Group2 => self.group_1(context),
            Phase::Done => return,
        };
        context.send(Party::AccessPoint, Party::Station, Carrier::Eapol, frame);
    }

    fn enter(&mut self, phase: Phase, context: &mut Context<'_>) {
        self.phase = phase;
        self.sent = 0;
        self.outstanding.clear();
        self.transmit(context);
    }

    fn fields<'a>(&self, information: u16, nonce: &'a [u8; 32], data: &'a [u8]) -> KeyFields<'a> {
        KeyFields {
            information,
            key_length: u16::try_from(self.config.link.pairwise.key_octets()).unwrap_or(0),
            replay_counter: self.replay_counter,
            nonce,
            iv: [0; 16],
            data,
        }
    }

    fn message_1(&self, context: &mut Context<'_>) -> Vec<u8> {
        let mut data = match self.config.pmkid {
            Some(pmkid) if !self.config.link.is_wpa1() => {
                written(|out| KeyData::Pmkid(&pmkid).emit(out))
            }
            _ => Vec::new(),
        };
        data.extend(self.config.link.mld_kde(Party::AccessPoint));
        let information = KeyInformation::PAIRWISE | KeyInformation::ACK;
        let fields = self.fields(information, &self.anonce, &data);
        self.config.frame(context, &fields, None)
    }

    fn message_3(&self, context: &mut Context<'_>) -> Vec<u8> {
        let Some(derived) = &self.derived else {
            return Vec::new();
        };
        let mut information = KeyInformation::PAIRWISE
            | KeyInformation::INSTALL
            | KeyInformation::ACK
            | KeyInformation::MIC;
        let mut data = with_pmkid(&self.config.access_point_element, derived.r1_name);
        let mut iv = [0; 16];
        if !self.config.link.is_wpa1() {
            information |= KeyInformation::SECURE | KeyInformation::ENCRYPTED;
            if self.config.link.multi_link.is_some() {
                // The elements of every link are in its MLO Link KDE.
                data = self.config.link.mld_kde(Party::AccessPoint);
                data.extend(self.config.link.link_kdes(Party::AccessPoint));
            } else {
                data.extend(self.config.link.repeated_extension());
                data.extend(self.config.link.mobility_element());
            }
            data.extend(self.group_kdes());
            data.extend(self.config.link.operating_channel_kde(Party::AccessPoint));
            if derived.r1_name.is_some() {
                data.extend(self.config.ft_element());
                // Timeout interval elements (9.4.2.48) as hostapd has them unless it is told
                // otherwise: no reassociation deadline, and a key lifetime of 14 days.
                data.extend(element(56, &[1, 0, 0, 0, 0]));
                data.extend(element(56, &[2, 0, 0x75, 0x12, 0]));
            }
            (data, iv) = self.config.seal_key_data(context, derived.ptk.kek(), data);
        }
        let mut fields = self.fields(information, &self.anonce, &data);
        fields.iv = iv;
        self.config.frame(context, &fields, Some(derived.ptk.kck()))
    }

    fn group_kdes(&self) -> Vec<u8> {
        let (transmit, pn) = (false, [0; 6]);
        let multi_link = self.config.link.multi_link.is_some();
        let all = || self.config.link.link_ids().into_iter().zip(&self.group);
        written(|out| {
            for (link, keys) in all() {
                let (key_id, key) = (keys.key_id, &keys.gtk[..]);
                if multi_link {
                    KeyData::MloGtk {
                        link,
                        key_id,
                        transmit,
                        pn,
                        key,
                    }
                    .emit(out);
                } else {
                    KeyData::Gtk {
                        key_id,
                        transmit,
                        key,
                    }
                    .emit(out);
                }
            }
            for (link, keys) in all().filter(|(_, keys)| !keys.igtk.is_empty()) {
                let (key_id, ipn, key) = (u16::from(keys.key_id) + 3, pn, &keys.igtk[..]);
                if multi_link {
                    KeyData::MloIgtk {
                        link,
                        key_id,
                        ipn,
                        key,
                    }
                    .emit(out);
                } else {
                    KeyData::Igtk { key_id, ipn, key }.emit(out);
                }
            }
            for (link, keys) in all().filter(|(_, keys)| !keys.bigtk.is_empty()) {
                let (key_id, ipn, key) = (u16::from(keys.key_id) + 5, pn, &keys.bigtk[..]);
                if multi_link {
                    KeyData::MloBigtk {
                        link,
                        key_id,
                        ipn,
                        key,
                    }
                    .emit(out);
                } else {
                    KeyData::Bigtk { key_id, ipn, key }.emit(out);
                }
            }
        })
    }

    fn group_1(&self, context: &mut Context<'_>) -> Vec<u8> {
        let Some(derived) = &self.derived else {
            return Vec::new();
        };
        let mut information = KeyInformation::ACK | KeyInformation::MIC | KeyInformation::SECURE;
        let data = if self.config.link.is_wpa1() {
            let keys = self.group.first().cloned().unwrap_or_default();
            information |= u16::from(keys.key_id) << 4;
            keys.gtk
        } else {
            information |= KeyInformation::ENCRYPTED;
            let mut data = self.group_kdes();
            data.extend(self.config.link.operating_channel_kde(Party::AccessPoint));
            data
        };
        let octets = data.len();
        let (data, iv) = self.config.seal_key_data(context, derived.ptk.kek(), data);
        let mut fields = self.fields(information, &[0; 32], &data);
        if self.config.link.is_wpa1() {
            fields.key_length = u16::try_from(octets).unwrap_or(0);
            fields.nonce = &self.anonce;
        } else {
            fields.key_length = 0;
        }
        fields.iv = iv;
        self.config.frame(context, &fields, Some(derived.ptk.kck()))
    }

    fn message_2(&mut self, key: &EapolKeyRepr<'_>, frame: &[u8], context: &mut Context<'_>) {
        let Some(derived) = self.config.derive(context, &self.anonce, key.nonce) else {
            return;
        };
        if !self.config.verify(context, derived.ptk.kck(), frame) {
            // 12.7.6.3: silently discarded; only the time-out tells the two ends apart.
            self.mic_failed = true;
            return;
        }
        // 13.4.2: with FT the station adds PMKR1Name to the element of its association.
        let expected = with_pmkid(&self.config.station_element, derived.r1_name);
        let link = &self.config.link;
        if security_element(key.data, link.is_wpa1()) != expected
            || !link.confirms_links(Party::Station, key.data, true)
        {
            self.fail(
                context,
                Failure::ElementMismatch {
                    code: Code::Reason(reason::ELEMENT_DIFFERS),
                },
            );
            return;
        }
        if !self.admits_channel_of(key.data) {
            return;
        }
        self.derived = Some(derived);
        self.draw_group_keys(context);
        self.enter(Phase::Message4, context);
    }

    /// Whether key data name our channel. A message that names another one is discarded without an
    /// answer (12.2.9), so that only the time-out tells of it.
    fn admits_channel_of(&mut self, data: &[u8]) -> bool {
        let admitted = self.config.link.admits_channel_of(Party::AccessPoint, data);
        self.channel_differs = !admitted;
        admitted
    }

    /// Key data of message 4 are none, or the MLD address of a multi-link association.
    fn is_message_4(&self, data: &[u8]) -> bool {
        let link = &self.config.link;
        match link.multi_link {
            None => data.is_empty(),
            Some(_) => {
                security_element(data, false).is_empty()
                    && link.confirms_links(Party::Station, data, false)
            }
        }
    }

    fn fail(&mut self, context: &mut Context<'_>, failure: Failure) {
        if let Code::Reason(number) = failure.code() {
            self.config
                .link
                .send_deauthentication(context, Party::AccessPoint, number);
        }
        self.failure = Some(failure);
    }
}

impl Peer for KeyAuthenticator {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn start(&mut self, context: &mut Context<'_>) {
        if self.rekey {
            self.draw_group_keys(context);
            if self.config.link.is_wpa1() {
                // The Key Nonce of WPA's descriptor is the group nonce.
                self.anonce = context.random();
            }
        } else {
            self.anonce = context.random();
        }
        self.transmit(context);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.failure.is_some() || self.phase == Phase::Done {
            return;
        }
        if let Some(number) = leaving_reason(message) {
            self.failure = Some(crate::link::agreed::failure_of_reason(number));
            return;
        }
        let Some((key, frame)) = read_key(message, self.config.mic_octets()) else {
            return;
        };
        let info = key.information;
        let answers = info.has(KeyInformation::MIC) && !info.has(KeyInformation::ACK);
        if !answers || !self.outstanding.contains(&key.replay_counter) {
            return;
        }
        let pairwise = info.has(KeyInformation::PAIRWISE);
        if self.phase == Phase::Message2 {
            if pairwise {
                self.message_2(&key, frame, context);
            }
            return;
        }
        let Some(derived) = self.derived.clone() else {
            return;
        };
        if !self.config.verify(context, derived.ptk.kck(), frame) {
            return;
        }
        match (self.phase, pairwise) {
            // A repeated message 2 under the current counter is told by its key data.
            (Phase::Message4, true) if self.is_message_4(key.data) => {
                if self.config.link.is_wpa1() {
                    self.enter(Phase::Group2, context);
                } else {
                    self.phase = Phase::Done;
                }
            }
            (Phase::Group2, false) if self.admits_channel_of(key.data) => self.phase = Phase::Done,
            _ => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.failure.is_some() || self.phase == Phase::Done {
            return;
        }
        let most = match self.phase {
            Phase::Group2 => self.group_transmissions,
            _ => TRANSMISSIONS,
        };
        if self.sent < most {
            self.transmit(context);
            return;
        }
        let number = if self.phase == Phase::Group2 {
            reason::GROUP_KEY_TIMEOUT
        } else {
            reason::FOUR_WAY_TIMEOUT
        };
        let code = Code::Reason(number);
        self.fail(
            context,
            if self.channel_differs {
                Failure::WrongChannel { code }
            } else if self.mic_failed {
                Failure::WrongPassphrase { code }
            } else {
                Failure::PeerTimeout { code }
            },
        );
    }

    fn status(&self) -> Status {
        match (self.failure, self.phase) {
            (Some(failure), _) => Status::Failed(failure),
            (None, Phase::Done) => Status::Established(secrets(
                &self.config,
                self.derived.as_ref(),
                self.group.iter(),
            )),
            _ => Status::Waiting,
        }
    }

    fn agreed(&self) -> Secrets {
        if matches!(self.phase, Phase::Group2 | Phase::Done) {
            secrets(&self.config, self.derived.as_ref(), self.group.iter())
        } else {
            Secrets::new()
        }
    }
}
