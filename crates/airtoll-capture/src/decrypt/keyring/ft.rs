//! Keys of fast transitions: takes (re)associations that carry an FTE, gives the pairwise and
//! group keys that follow from it.
//!
//! Source: IEEE 802.11-2020 clauses 12.7.1.6 (key hierarchy) and 12.8 (protocol). The third and
//! fourth message of an exchange hold both nonces; that of an initial association only names the
//! key holders, which its 4-way handshake then needs.

use airtoll_security::keys::ft::{FtIdentity, PmkR0};
use airtoll_security::keys::mic::KeyMic;
use airtoll_security::keys::pairwise::Ptk;
use airtoll_security::keys::wrap;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::ft::{FteRepr, MdeRepr};
use airtoll_wire::ieee80211::{Elements, OciRepr, RsnRepr};
use zeroize::Zeroizing;

use super::choices::{Choice, choices, version_of};
use super::{HandshakeNonces, Keyring};

/// FT key holders as an association response named them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FtHolder {
    /// R0KH-ID.
    pub r0: Vec<u8>,
    /// R1KH-ID.
    pub r1: MacAddress,
    /// Mobility domain.
    pub mobility_domain: [u8; 2],
}

impl Keyring {
    /// Learns from a (re)association request or response that carries an FTE with both nonces:
    /// the third and fourth message of an FT exchange (clause 12.8.2). Gives the operating channel
    /// information in it.
    pub fn learn_ft_association(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
        elements: &Elements<'_>,
    ) -> Option<OciRepr> {
        let fte_body = elements.find_id(id::FAST_TRANSITION)?;
        let mde = elements
            .find_id(id::MOBILITY_DOMAIN)
            .and_then(|body| MdeRepr::parse(body).ok());
        let rsn = elements
            .find_id(id::RSN)
            .and_then(|body| RsnRepr::parse(body).ok());
        let announced = self.bss(bssid).cloned().unwrap_or_default();
        let mdid = mde.map(|mde| mde.mdid).or(announced.mobility_domain);
        let (mdid, rsn) = (mdid?, rsn.or(announced.rsn)?);
        let mut channel = None;
        let mut ssids = vec![announced.ssid.clone()];
        if announced.ssid.is_empty() {
            ssids = self.given.ssids.clone();
        }
        for choice in choices(Some(&rsn), None, 3, 16) {
            if !choice.akm.is_ft() {
                continue;
            }
            let mic_len = choice.akm.mic_octets(choice.hash);
            let Some(holder) = ft_holder(fte_body, mdid, mic_len) else {
                continue;
            };
            let Ok(fte) = FteRepr::parse(fte_body, mic_len) else {
                continue;
            };
            if *fte.anonce == [0; 32] || *fte.snonce == [0; 32] {
                // The association of an initial FT: its 4-way handshake needs the holders.
                self.learn_ft_holder(station, bssid, holder);
                return None;
            }
            channel = channel.or(fte.oci.and_then(|octets| OciRepr::parse(octets).ok()));
            for master in self.masters(choice.akm, &announced.ssid) {
                for ssid in &ssids {
                    let nonces = (fte.anonce, fte.snonce);
                    let Some(ptk) = ft_ptk(
                        choice, &master, ssid, &holder, bssid, station, nonces.0, nonces.1,
                    ) else {
                        continue;
                    };
                    if let Some(gtk) = fte.gtk {
                        let Some((key_id, key)) = unwrap_ft_gtk(ptk.kek(), gtk) else {
                            continue;
                        };
                        self.add_gtk(bssid, key_id, &key, choice.group);
                    }
                    for wrapped in [fte.igtk, fte.bigtk].into_iter().flatten() {
                        if let Some(key) = unwrap_ft_igtk(ptk.kek(), wrapped) {
                            self.add_igtk(bssid, &key);
                        }
                    }
                    let Ok(mic) = KeyMic::of(choice.akm, choice.hash, version_of(choice)) else {
                        continue;
                    };
                    let nonces = HandshakeNonces {
                        anonce: *fte.anonce,
                        snonce: *fte.snonce,
                    };
                    self.proven(bssid, station, nonces, ptk, mic, choice);
                }
            }
        }
        channel
    }
}

pub(in crate::decrypt) fn ft_holder(
    fte: &[u8],
    mobility_domain: [u8; 2],
    mic_len: usize,
) -> Option<FtHolder> {
    let fte = FteRepr::parse(fte, mic_len).ok()?;
    Some(FtHolder {
        r0: fte.r0kh_id?.to_vec(),
        r1: MacAddress::from_slice(fte.r1kh_id?).ok()?,
        mobility_domain,
    })
}

#[expect(clippy::too_many_arguments, reason = "the derivation has these inputs")]
pub(in crate::decrypt) fn ft_ptk(
    choice: Choice,
    master: &[u8],
    ssid: &[u8],
    holder: &FtHolder,
    bssid: MacAddress,
    station: MacAddress,
    anonce: &[u8; 32],
    snonce: &[u8; 32],
) -> Option<Ptk> {
    let identity = FtIdentity {
        ssid,
        mobility_domain: holder.mobility_domain,
        r0_key_holder: &holder.r0,
        station,
    };
    let r0 = PmkR0::derive(choice.akm, choice.hash, master, &identity).ok()?;
    let r1 = r0.r1(holder.r1);
    r1.ptk(choice.cipher, bssid, station, anonce, snonce)
        .ok()
        .map(|(ptk, _)| ptk)
}

/// GTK subelement of an FTE: key info, key length, RSC, wrapped key.
fn unwrap_ft_gtk(kek: &[u8], gtk: &[u8]) -> Option<(u8, Zeroizing<Vec<u8>>)> {
    let key_id = gtk.first()? & 3;
    let len = usize::from(*gtk.get(2)?);
    let mut key = wrap::unwrap(kek, gtk.get(11..)?).ok()?;
    if key.len() < len {
        return None;
    }
    key.truncate(len);
    Some((key_id, key))
}

/// IGTK subelement of an FTE: key ID, packet number, key length, wrapped key.
fn unwrap_ft_igtk(kek: &[u8], igtk: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let len = usize::from(*igtk.get(8)?);
    let mut key = wrap::unwrap(kek, igtk.get(9..)?).ok()?;
    if key.len() < len {
        return None;
    }
    key.truncate(len);
    Some(key)
}
