//! The 4-way handshake and the group key handshake (802.11-2020, 12.7.6 and 12.7.7), the
//! authenticator's end; the supplicant's is in `key_supplicant`.
//!
//! Takes a [`Link`], a PMK and the elements of the association; gives EAPOL-Key frames with the
//! RSN or the WPA descriptor, and keys. Retries and reason codes are those of hostapd's
//! defaults (four transmissions of messages 1 and 3). Never chooses when to retry.

use airtoll_wire::eapol::{Eapol, EapolRepr, packet_type};
use airtoll_wire::eapol_key::{DESCRIPTOR_RSN, DESCRIPTOR_WPA, EapolKeyRepr, KeyInformation};
use airtoll_wire::ieee80211::RsnRepr;
use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::ieee80211::ft::FteRepr;
use airtoll_wire::key_data::{KeyData, pad_for_wrap};

use super::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use super::failure::{Code, Failure, reason};
use super::link::{Link, algorithm_of, element, leaving_reason, record_kdf};
use super::operation::HashAlgorithm;
use super::primitives::written;
use crate::akm::AkmSuite;
use crate::keys::{FtIdentity, KeyMic, PmkR0, Ptk, wrap};
use crate::suite::CipherSuite;

/// Transmissions of a message before the authenticator gives up (hostapd's
/// wpa_pairwise_update_count and wpa_group_update_count).
const TRANSMISSIONS: u8 = 4;

/// What each end brings to a key handshake.
#[derive(Debug, Clone)]
pub struct KeyConfig {
    /// The link.
    pub link: Link,
    /// PMK; with FT the XXKey (PSK, PMK of SAE, or part of the MSK).
    pub pmk: Vec<u8>,
    /// Identifier that message 1 carries.
    pub pmkid: Option<[u8; 16]>,
    /// RSN or WPA element that the station sent in its (re)association request.
    pub station_element: Vec<u8>,
    /// RSN or WPA element of the AP's beacons.
    pub access_point_element: Vec<u8>,
}

/// Group keys that an AP hands to all of its stations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupKeys {
    /// GTK.
    pub gtk: Vec<u8>,
    /// IGTK; empty without management frame protection.
    pub igtk: Vec<u8>,
    /// Key ID of the GTK, 1 or 2; that of the IGTK is three more.
    pub key_id: u8,
}

/// A PTK and, with FT, the names on the way to it.
#[derive(Clone)]
pub(super) struct Derived {
    pub ptk: Ptk,
    pub pmk_r0: Option<PmkR0>,
    pub r1_name: Option<[u8; 16]>,
    pub r1_key: Option<Vec<u8>>,
}

impl KeyConfig {
    pub(super) fn akm(&self) -> AkmSuite {
        self.link.akm.unwrap_or(AkmSuite::Psk)
    }

    pub(super) fn descriptor_version(&self) -> u8 {
        self.akm()
            .descriptor_version(self.link.pairwise == CipherSuite::Tkip)
    }

    pub(super) fn mic(&self) -> KeyMic {
        KeyMic::of(self.akm(), self.link.akm_hash(), self.descriptor_version())
            .unwrap_or(KeyMic::HmacSha1)
    }

    pub(super) fn mic_octets(&self) -> usize {
        self.mic().octets()
    }

    /// The PTK of these nonces, with the work named.
    pub(super) fn derive(
        &self,
        context: &mut Context<'_>,
        anonce: &[u8; 32],
        snonce: &[u8; 32],
    ) -> Option<Derived> {
        let (akm, hash, link) = (self.akm(), self.link.akm_hash(), &self.link);
        let ptk_octets = akm.kck_octets(hash) + akm.kek_octets(hash) + link.pairwise.key_octets();
        if let (true, Some(domain)) = (akm.is_ft(), &link.mobility_domain) {
            let identity = FtIdentity {
                ssid: &link.ssid,
                mobility_domain: domain.identifier,
                r0_key_holder: &domain.r0_key_holder,
                station: link.station,
            };
            let input = link.ssid.len() + domain.r0_key_holder.len() + 15;
            record_kdf(context, hash, self.pmk.len(), input, hash.octets() + 16);
            record_kdf(context, hash, hash.octets(), 17, hash.octets());
            record_kdf(context, hash, hash.octets(), 82, ptk_octets);
            context.record_hash(algorithm_of(hash), 4);
            let r0 = PmkR0::derive(akm, hash, &self.pmk, &identity).ok()?;
            let r1 = r0.r1(link.access_point);
            let (ptk, _) = r1
                .ptk(
                    link.pairwise,
                    link.access_point,
                    link.station,
                    anonce,
                    snonce,
                )
                .ok()?;
            return Some(Derived {
                ptk,
                r1_name: Some(r1.name()),
                r1_key: Some(r1.key().to_vec()),
                pmk_r0: Some(r0),
            });
        }
        record_kdf(context, hash, self.pmk.len(), 99, ptk_octets);
        let ptk = Ptk::derive(
            akm,
            hash,
            link.pairwise,
            &self.pmk,
            link.access_point,
            link.station,
            anonce,
            snonce,
        )
        .ok()?;
        Some(Derived {
            ptk,
            pmk_r0: None,
            r1_name: None,
            r1_key: None,
        })
    }

    /// The FT element of the initial association, unprotected (13.4.2).
    pub(super) fn ft_element(&self) -> Vec<u8> {
        let Some(domain) = &self.link.mobility_domain else {
            return Vec::new();
        };
        let zero = [0; 32];
        let fte = FteRepr {
            mic_control: [0, 0],
            mic: &zero[..self.mic_octets().min(32)],
            anonce: &zero,
            snonce: &zero,
            r1kh_id: Some(self.link.access_point.octets()),
            gtk: None,
            r0kh_id: Some(&domain.r0_key_holder),
            igtk: None,
        };
        element(id::FAST_TRANSITION, &written(|o| fte.emit(o)))
    }

    /// An EAPOL-Key frame; `kck` puts its MIC in.
    pub(super) fn frame(
        &self,
        context: &mut Context<'_>,
        fields: &KeyFields<'_>,
        kck: Option<&[u8]>,
    ) -> Vec<u8> {
        let zero = [0; 32];
        let mic_octets = self.mic_octets();
        let body = EapolKeyRepr {
            descriptor: if self.link.is_wpa1() {
                DESCRIPTOR_WPA
            } else {
                DESCRIPTOR_RSN
            },
            information: KeyInformation(fields.information | u16::from(self.descriptor_version())),
            key_length: fields.key_length,
            replay_counter: fields.replay_counter,
            nonce: fields.nonce,
            iv: &fields.iv,
            rsc: [0; 8],
            mic: &zero[..mic_octets],
            data: fields.data,
        };
        let body = written(|out| body.emit(out));
        let mut frame = written(|out| {
            EapolRepr {
                // As hostapd and wpa_supplicant have it unless they are told otherwise.
                version: if fields.information & KeyInformation::ACK != 0 {
                    2
                } else {
                    1
                },
                packet_type: packet_type::KEY,
                body: &body,
            }
            .emit(out);
        });
        if let Some(kck) = kck {
            self.record_mic(context, frame.len());
            if let Ok(mic) = self.mic().of_frame(kck, &frame) {
                let at = EapolKeyRepr::MIC_OFFSET;
                frame[at..at + mic_octets].copy_from_slice(mic.as_slice());
            }
        }
        frame
    }

    /// Whether a frame's MIC is right.
    pub(super) fn verify(&self, context: &mut Context<'_>, kck: &[u8], frame: &[u8]) -> bool {
        self.record_mic(context, frame.len());
        self.mic().verify_frame(kck, frame).unwrap_or(false)
    }

    /// Encrypts key data; gives them with the IV that RC4 needs.
    pub(super) fn seal_key_data(
        &self,
        context: &mut Context<'_>,
        kek: &[u8],
        mut data: Vec<u8>,
    ) -> (Vec<u8>, [u8; 16]) {
        if self.descriptor_version() == 1 {
            let iv: [u8; 16] = context.random();
            context.rc4(&[&iv, kek].concat(), 256, &mut data);
            return (data, iv);
        }
        if !(self.link.is_wpa1() && data.len().is_multiple_of(8)) {
            pad_for_wrap(&mut data);
        }
        record_key_wrap(context, kek.len(), data.len());
        (wrap::wrap(kek, &data).unwrap_or_default(), [0; 16])
    }

    /// Decrypts key data.
    pub(super) fn open_key_data(
        &self,
        context: &mut Context<'_>,
        kek: &[u8],
        iv: &[u8; 16],
        data: &[u8],
    ) -> Option<Vec<u8>> {
        if self.descriptor_version() == 1 {
            let mut data = data.to_vec();
            context.rc4(&[&iv[..], kek].concat(), 256, &mut data);
            return Some(data);
        }
        record_key_wrap(context, kek.len(), data.len().saturating_sub(8));
        Some(wrap::unwrap(kek, data).ok()?.to_vec())
    }

    fn record_mic(&self, context: &mut Context<'_>, octets: usize) {
        let hash = match self.mic() {
            KeyMic::AesCmac => {
                // One block for the subkeys, then one per 16 octets.
                context.record_aes(16, 1 + octets.div_ceil(16));
                return;
            }
            KeyMic::HmacMd5 => HashAlgorithm::Md5,
            KeyMic::HmacSha1 => HashAlgorithm::Sha1,
            KeyMic::HmacSha256 => HashAlgorithm::Sha256,
            KeyMic::HmacSha384 => HashAlgorithm::Sha384,
            KeyMic::HmacSha512 => HashAlgorithm::Sha512,
        };
        context.record_hash(hash, hash.hmac_blocks(self.mic_octets(), octets));
    }
}

/// The fields of an EAPOL-Key frame that differ from message to message.
pub(super) struct KeyFields<'a> {
    pub information: u16,
    pub key_length: u16,
    pub replay_counter: u64,
    pub nonce: &'a [u8; 32],
    pub iv: [u8; 16],
    pub data: &'a [u8],
}

/// Reads an EAPOL-Key message.
pub(super) fn read_key<'a>(
    message: &'a Message,
    mic_octets: usize,
) -> Option<(EapolKeyRepr<'a>, &'a [u8])> {
    if message.carrier != Carrier::Eapol {
        return None;
    }
    let packet = Eapol::new(&message.octets).ok()?;
    if packet.packet_type() != packet_type::KEY {
        return None;
    }
    let key = EapolKeyRepr::parse(packet.body(), mic_octets).ok()?;
    Some((key, packet.octets()))
}

/// The whole first element with this identifier in key data, WPA's vendor element included.
pub(super) fn security_element(data: &[u8], wpa1: bool) -> Vec<u8> {
    Elements::new(data)
        .find(|e| {
            if wpa1 {
                e.vendor().is_some_and(|(oui, kind, _)| {
                    oui == airtoll_wire::ieee80211::suite::OUI_WPA && kind == 1
                })
            } else {
                e.id == id::RSN
            }
        })
        .map(|e| element(e.id, e.body))
        .unwrap_or_default()
}

/// AES key wrap (RFC 3394 section 2.2.1): six rounds over each 64-bit block.
fn record_key_wrap(context: &mut Context<'_>, kek_octets: usize, octets: usize) {
    context.record_aes(kek_octets, 6 * (octets / 8));
}

/// An RSN element with the name of a PMK-R1 in it (13.4.2); one that cannot be read stays as it is.
pub(super) fn with_pmkid(whole: &[u8], name: Option<[u8; 16]>) -> Vec<u8> {
    let parsed = whole.get(2..).and_then(|body| RsnRepr::parse(body).ok());
    match (parsed, name) {
        (Some(mut element), Some(name)) => {
            element.pmkids = vec![name];
            written(|out| element.emit_element(out))
        }
        _ => whole.to_vec(),
    }
}

/// What the authenticator waits for.
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
    gtk: Vec<u8>,
    igtk: Vec<u8>,
    gtk_id: u8,
    given: bool,
    replay_counter: u64,
    outstanding: Vec<u64>,
    sent: u8,
    mic_failed: bool,
    rekey: bool,
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
            gtk: Vec::new(),
            igtk: Vec::new(),
            gtk_id: 1,
            given: false,
            replay_counter: 0,
            outstanding: Vec::new(),
            sent: 0,
            mic_failed: false,
            rekey: false,
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
            gtk_id: 2,
            replay_counter,
            rekey: true,
            phase: Phase::Group2,
            ..Self::new(config)
        }
    }

    /// Hands out these keys in the place of ones of its own.
    #[must_use]
    pub fn handing_out(mut self, keys: GroupKeys) -> Self {
        self.gtk = keys.gtk;
        self.igtk = keys.igtk;
        self.gtk_id = keys.key_id;
        self.given = true;
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
        // The nonce and the KDF of 12.7.1.4 count as what they are made of: random octets.
        self.gtk = context.random_octets(self.config.link.group.key_octets());
        if let Some(cipher) = self.config.link.group_management() {
            self.igtk = context.random_octets(cipher.key_octets());
        }
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
        let data = match self.config.pmkid {
            Some(pmkid) if !self.config.link.is_wpa1() => {
                written(|out| KeyData::Pmkid(&pmkid).emit(out))
            }
            _ => Vec::new(),
        };
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
            data.extend(self.config.link.extension_element());
            data.extend(self.config.link.mobility_element());
            data.extend(self.group_kdes());
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
        written(|out| {
            KeyData::Gtk {
                key_id: self.gtk_id,
                transmit: false,
                key: &self.gtk,
            }
            .emit(out);
            if !self.igtk.is_empty() {
                KeyData::Igtk {
                    key_id: u16::from(self.gtk_id) + 3,
                    ipn: [0; 6],
                    key: &self.igtk,
                }
                .emit(out);
            }
        })
    }

    fn group_1(&self, context: &mut Context<'_>) -> Vec<u8> {
        let Some(derived) = &self.derived else {
            return Vec::new();
        };
        let mut information = KeyInformation::ACK | KeyInformation::MIC | KeyInformation::SECURE;
        let data = if self.config.link.is_wpa1() {
            information |= u16::from(self.gtk_id) << 4;
            self.gtk.clone()
        } else {
            information |= KeyInformation::ENCRYPTED;
            self.group_kdes()
        };
        let (data, iv) = self.config.seal_key_data(context, derived.ptk.kek(), data);
        let mut fields = self.fields(information, &[0; 32], &data);
        if self.config.link.is_wpa1() {
            fields.key_length = u16::try_from(self.gtk.len()).unwrap_or(0);
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
        if security_element(key.data, self.config.link.is_wpa1()) != expected {
            self.fail(
                context,
                Failure::ElementMismatch {
                    code: Code::Reason(reason::ELEMENT_DIFFERS),
                },
            );
            return;
        }
        self.derived = Some(derived);
        self.draw_group_keys(context);
        self.enter(Phase::Message4, context);
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
            self.failure = Some(super::link::failure_of_reason(number));
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
            (Phase::Message4, true) if key.data.is_empty() => {
                if self.config.link.is_wpa1() {
                    self.enter(Phase::Group2, context);
                } else {
                    self.phase = Phase::Done;
                }
            }
            (Phase::Group2, false) => self.phase = Phase::Done,
            _ => {}
        }
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.failure.is_some() || self.phase == Phase::Done {
            return;
        }
        if self.sent < TRANSMISSIONS {
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
            if self.mic_failed {
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
                &self.gtk,
                &self.igtk,
            )),
            _ => Status::Waiting,
        }
    }

    fn agreed(&self) -> Secrets {
        if matches!(self.phase, Phase::Group2 | Phase::Done) {
            secrets(&self.config, self.derived.as_ref(), &self.gtk, &self.igtk)
        } else {
            Secrets::new()
        }
    }
}

/// Everything both ends of a finished handshake know.
pub(super) fn secrets(
    config: &KeyConfig,
    derived: Option<&Derived>,
    gtk: &[u8],
    igtk: &[u8],
) -> Secrets {
    let mut secrets = Secrets::from([(SecretName::Gtk, gtk.to_vec())]);
    if !igtk.is_empty() {
        secrets.insert(SecretName::Igtk, igtk.to_vec());
    }
    if let Some(derived) = derived {
        secrets.insert(SecretName::Kck, derived.ptk.kck().to_vec());
        secrets.insert(SecretName::Kek, derived.ptk.kek().to_vec());
        secrets.insert(SecretName::Tk, derived.ptk.tk().to_vec());
        if let Some(r0) = &derived.pmk_r0 {
            secrets.insert(SecretName::PmkR0, r0.key().to_vec());
        }
        if let Some(r1) = &derived.r1_key {
            secrets.insert(SecretName::PmkR1, r1.clone());
        }
    }
    if !config.pmk.is_empty() {
        secrets.insert(SecretName::Pmk, config.pmk.clone());
    }
    secrets
}
