//! EAPOL-Key frames of the 4-way handshake and the group key handshake (802.11-2020, 12.7.2), and
//! the keys that protect them: what both ends share.
//!
//! Takes a [`KeyConfig`] and nonces; gives frames with their MIC, and reads them. Never decides
//! what is sent: `key_handshake` and `key_supplicant` do.

use airtoll_wire::eapol::{Eapol, EapolRepr, packet_type};
use airtoll_wire::eapol_key::{DESCRIPTOR_RSN, DESCRIPTOR_WPA, EapolKeyRepr, KeyInformation};
use airtoll_wire::ieee80211::RsnRepr;
use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::key_data::pad_for_wrap;

use crate::exchange::{Carrier, Context, Message, Party, SecretName, Secrets};
use crate::link::agreed::{Link, algorithm_of, element, record_kdf};
use crate::link::ft_hierarchy::{below_r0, pmk_r0};
use crate::octets::written;
use crate::operation::HashAlgorithm;
use airtoll_security::akm::AkmSuite;
use airtoll_security::keys::{KeyMic, PmkR0, Ptk, wrap};
use airtoll_security::suite::CipherSuite;

/// Inputs of each end of a key handshake.
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

/// Group keys that an AP hands to all of its stations on a link.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroupKeys {
    /// GTK.
    pub gtk: Vec<u8>,
    /// IGTK; empty without management frame protection.
    pub igtk: Vec<u8>,
    /// BIGTK; empty without beacon protection.
    pub bigtk: Vec<u8>,
    /// Key ID of the GTK, 1 or 2; that of the IGTK is three more, that of the BIGTK five.
    pub key_id: u8,
}

/// A PTK and, with FT, the names on the way to it.
#[derive(Clone)]
pub(crate) struct Derived {
    pub ptk: Ptk,
    pub pmk_r0: Option<PmkR0>,
    pub r1_name: Option<[u8; 16]>,
    pub r1_key: Option<Vec<u8>>,
}

impl KeyConfig {
    pub(crate) fn akm(&self) -> AkmSuite {
        self.link.akm.unwrap_or(AkmSuite::Psk)
    }

    pub(crate) fn descriptor_version(&self) -> u8 {
        self.akm()
            .descriptor_version(self.link.pairwise == CipherSuite::Tkip)
    }

    pub(crate) fn mic(&self) -> KeyMic {
        self.link.key_mic().unwrap_or(KeyMic::HmacSha1)
    }

    pub(crate) fn mic_octets(&self) -> usize {
        self.mic().octets()
    }

    /// The PTK of these nonces, with the work named.
    pub(crate) fn derive(
        &self,
        context: &mut Context<'_>,
        anonce: &[u8; 32],
        snonce: &[u8; 32],
    ) -> Option<Derived> {
        let (akm, hash, link) = (self.akm(), self.link.akm_hash(), &self.link);
        let ptk_octets = akm.kck_octets(hash) + akm.kek_octets(hash) + link.pairwise.key_octets();
        if let (true, Some(domain)) = (akm.is_ft(), &link.mobility_domain) {
            let input = link.ssid.len() + domain.r0_key_holder.len() + 15;
            record_kdf(context, hash, self.pmk.len(), input, hash.octets() + 16);
            let r0 = pmk_r0(link, &self.pmk)?;
            let (r1, ptk) = below_r0(context, link, &r0, anonce, snonce)?;
            context.record_hash(algorithm_of(hash), 4);
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
            link.key_address(Party::AccessPoint),
            link.key_address(Party::Station),
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
    pub(crate) fn ft_element(&self) -> Vec<u8> {
        self.link.key_holder_element(self.mic_octets())
    }

    /// An EAPOL-Key frame; `kck` puts its MIC in.
    pub(crate) fn frame(
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
    pub(crate) fn verify(&self, context: &mut Context<'_>, kck: &[u8], frame: &[u8]) -> bool {
        self.record_mic(context, frame.len());
        self.mic().verify_frame(kck, frame).unwrap_or(false)
    }

    /// Encrypts key data; gives them with the IV that RC4 needs.
    pub(crate) fn seal_key_data(
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
    pub(crate) fn open_key_data(
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
pub(crate) struct KeyFields<'a> {
    pub information: u16,
    pub key_length: u16,
    pub replay_counter: u64,
    pub nonce: &'a [u8; 32],
    pub iv: [u8; 16],
    pub data: &'a [u8],
}

/// Reads an EAPOL-Key message.
pub(crate) fn read_key<'a>(
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
pub(crate) fn security_element(data: &[u8], wpa1: bool) -> Vec<u8> {
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
pub(crate) fn with_pmkid(whole: &[u8], name: Option<[u8; 16]>) -> Vec<u8> {
    let parsed = whole.get(2..).and_then(|body| RsnRepr::parse(body).ok());
    match (parsed, name) {
        (Some(mut element), Some(name)) => {
            element.pmkids = vec![name];
            written(|out| element.emit_element(out))
        }
        _ => whole.to_vec(),
    }
}

/// Everything both ends of a finished handshake know. `group` are the keys of each link, by increasing
/// link ID.
pub(crate) fn secrets<'a>(
    config: &KeyConfig,
    derived: Option<&Derived>,
    group: impl Iterator<Item = &'a GroupKeys> + Clone,
) -> Secrets {
    let all = |of: fn(&GroupKeys) -> &Vec<u8>| group.clone().flat_map(of).copied().collect();
    let mut secrets = Secrets::from([
        (SecretName::Gtk, all(|keys| &keys.gtk)),
        (SecretName::Igtk, all(|keys| &keys.igtk)),
        (SecretName::Bigtk, all(|keys| &keys.bigtk)),
    ]);
    secrets.retain(|name, octets| *name == SecretName::Gtk || !octets.is_empty());
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
