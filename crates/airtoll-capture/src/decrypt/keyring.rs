//! The keyring: takes beacons, associations and key messages, holds the keys of every pair of
//! stations and of every group, and opens frames with them.
//!
//! Tables are bounded; entries beyond the bound are not learnt. A key is never forgotten while the
//! capture is read, because a frame may be captured late. Never keeps a frame.

mod choices;
mod dynamic_wep;
pub mod fils;
pub mod ft;
pub mod handshake;
pub(super) mod multi_link;
pub mod replay;
mod suites;
pub mod tdls;

use airtoll_security::CipherSuite;
use airtoll_security::keys::psk;
use airtoll_security::link::bip::BipKey;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::ft::MdeRepr;
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Elements, Frame, Kind, Protection, RsnRepr};
use rustc_hash::FxHashMap;

use self::fils::Nonces;
use self::ft::FtHolder;
use self::handshake::Handshake;
use self::multi_link::Mlds;
use self::replay::Replays;
use self::suites::Suites;
use super::Undecrypted;
use super::traffic::{Opened, TrafficKey};
use crate::keys::{Keys, Secret};

/// Most pairs of stations, BSSs or groups that are remembered.
pub(crate) const MAX_ENTRIES: usize = 1 << 16;
/// Most keys of one pair or group; more rekeys than that push out the oldest.
const MAX_KEYS: usize = 256;

/// Parameters that a BSS announces.
#[derive(Debug, Clone, Default)]
pub struct Bss {
    /// SSID, if it is not hidden.
    pub ssid: Vec<u8>,
    /// RSN element.
    pub rsn: Option<RsnRepr>,
    /// WPA element.
    pub wpa: Option<RsnRepr>,
    /// Mobility domain.
    pub mobility_domain: Option<[u8; 2]>,
    /// Privacy bit of the capability field; `None` if no beacon was seen.
    pub privacy: Option<bool>,
    /// Primary channel that a beacon names; `None` at 6 GHz.
    pub channel: Option<u8>,
    /// Frequency at which its beacons were heard, MHz.
    pub frequency_mhz: Option<u16>,
}

/// Keys of one pair of stations.
#[derive(Debug, Default)]
pub struct Pair {
    /// Newest or last successful first.
    pub(crate) keys: Vec<TrafficKey>,
    pub(crate) handshake: Handshake,
    /// Nonces of FILS.
    pub(crate) fils: Nonces,
    /// Why their keys cannot be derived, if so.
    pub(crate) unsupported: Option<Undecrypted>,
}

/// All keys of a capture.
#[derive(Default)]
pub struct Keyring {
    pub(crate) given: Keys,
    from_passphrases: FxHashMap<(usize, Vec<u8>), Secret>,
    pub(crate) bss: FxHashMap<u64, Bss>,
    pub(crate) pairs: FxHashMap<PairKey, Pair>,
    pub(crate) groups: FxHashMap<u64, Vec<TrafficKey>>,
    /// Integrity keys of group management frames, with their octets.
    pub(super) igtks: FxHashMap<u64, Vec<(Secret, BipKey)>>,
    fixed: Vec<TrafficKey>,
    pub(super) mlds: Mlds,
    pub(super) suites: Suites,
    generation: u64,
    pub(crate) replays: Replays,
    scratch: Vec<u8>,
}

impl Keyring {
    /// A keyring with the keys that were given.
    pub fn new(given: Keys) -> Self {
        let mut fixed = Vec::new();
        for key in &given.weps {
            let suite = match key.len() {
                5 => CipherSuite::Wep40,
                _ => CipherSuite::Wep104,
            };
            fixed.extend(TrafficKey::new(suite, None, key));
        }
        for key in &given.tks {
            let suites: &[CipherSuite] = match key.len() {
                16 => &[CipherSuite::Ccmp128, CipherSuite::Gcmp128],
                _ => &[
                    CipherSuite::Tkip,
                    CipherSuite::Gcmp256,
                    CipherSuite::Ccmp256,
                ],
            };
            for suite in suites {
                fixed.extend(TrafficKey::new(*suite, None, key));
            }
        }
        Self {
            given,
            fixed,
            ..Self::default()
        }
    }

    /// Grows with every key that is learnt: whether a closed frame is worth another try.
    pub const fn generation(&self) -> u64 {
        self.generation
    }

    /// The announced parameters of a BSS, if a frame announced them.
    pub fn bss(&self, bssid: MacAddress) -> Option<&Bss> {
        self.bss.get(&bssid.to_u64())
    }

    /// Learns what a beacon, probe response or association says of a BSS.
    pub fn learn_bss(&mut self, bssid: MacAddress, privacy: Option<bool>, elements: &Elements<'_>) {
        if self.bss.len() >= MAX_ENTRIES && !self.bss.contains_key(&bssid.to_u64()) {
            return;
        }
        self.suites.forget_last();
        let bss = self.bss.entry(bssid.to_u64()).or_default();
        bss.privacy = privacy.or(bss.privacy);
        for element in elements.clone() {
            match element.id {
                id::SSID if !element.body.iter().all(|octet| *octet == 0) => {
                    bss.ssid.clear();
                    bss.ssid
                        .extend_from_slice(&element.body[..element.body.len().min(32)]);
                }
                id::RSN if privacy.is_some() => bss.rsn = RsnRepr::parse(element.body).ok(),
                id::DSSS_PARAMETER | id::HT_OPERATION if privacy.is_some() => {
                    bss.channel = element.body.first().copied().or(bss.channel);
                }
                id::MOBILITY_DOMAIN => {
                    bss.mobility_domain = MdeRepr::parse(element.body).ok().map(|mde| mde.mdid);
                }
                id::VENDOR if privacy.is_some() => {
                    if let Some((OUI_WPA, 1, body)) = element.vendor() {
                        bss.wpa = RsnRepr::parse_wpa(body).ok();
                    }
                }
                _ => {}
            }
        }
    }

    /// A beacon was heard at this frequency.
    pub fn learn_frequency(&mut self, bssid: MacAddress, heard_mhz: Option<u16>) {
        if let Some(bss) = self.bss.get_mut(&bssid.to_u64()) {
            bss.frequency_mhz = heard_mhz.or(bss.frequency_mhz);
        }
    }

    /// Every BSS that a frame announced, by its address.
    pub(crate) fn announced(&self) -> impl Iterator<Item = (u64, &Bss)> {
        let announced = self.bss.iter().filter(|(_, bss)| bss.privacy.is_some());
        announced.map(|(address, bss)| (*address, bss))
    }

    /// PMKs to try between these two, those of the BSS's own SSID first.
    pub(crate) fn pmks(&mut self, ssid: &[u8]) -> Vec<Secret> {
        let mut list = Vec::new();
        if !ssid.is_empty() {
            for index in 0..self.given.passphrases.len() {
                let key = (index, ssid.to_vec());
                if !self.from_passphrases.contains_key(&key)
                    && self.from_passphrases.len() < MAX_ENTRIES
                    && let Ok(made) = psk::from_passphrase(&self.given.passphrases[index], ssid)
                {
                    self.from_passphrases
                        .insert(key.clone(), Secret::new(made.to_vec()));
                }
                list.extend(self.from_passphrases.get(&key).cloned());
            }
        }
        list.extend(self.given.pmks.iter().cloned());
        list
    }

    pub(crate) fn pair_mut(&mut self, a: MacAddress, b: MacAddress) -> Option<&mut Pair> {
        let key = self.pair_key(a, b);
        if self.pairs.len() >= MAX_ENTRIES && !self.pairs.contains_key(&key) {
            return None;
        }
        Some(self.pairs.entry(key).or_default())
    }

    /// Adds a master session key that a RADIUS packet carries.
    pub(crate) fn add_msk(&mut self, msk: Secret) {
        if self.given.msks.len() < MAX_ENTRIES && !self.given.msks.contains(&msk) {
            self.given.msks.push(msk);
        }
    }

    /// FT holders that an association response announced to a station.
    pub fn learn_ft_holder(&mut self, station: MacAddress, bssid: MacAddress, holder: FtHolder) {
        if let Some(pair) = self.pair_mut(station, bssid) {
            pair.handshake.ft = Some(holder);
        }
    }

    /// Adds a pairwise key; a known one moves to the front.
    pub fn add_pairwise(&mut self, a: MacAddress, b: MacAddress, key: TrafficKey) {
        if let Some(pair) = self.pair_mut(a, b)
            && add(&mut pair.keys, key)
        {
            self.generation += 1;
        }
    }

    /// Adds a group key of a transmitter.
    pub fn add_group(&mut self, transmitter: MacAddress, key: TrafficKey) {
        let full = self.groups.len() >= MAX_ENTRIES;
        if full && !self.groups.contains_key(&transmitter.to_u64()) {
            return;
        }
        let keys = self.groups.entry(transmitter.to_u64()).or_default();
        if add(keys, key) {
            self.generation += 1;
        }
    }

    /// The key that a batch should try first on this frame, if it is CCMP. A batch takes the addresses
    /// of the frame, so it has no key between multi-link devices.
    pub fn first_ccmp(&self, frame: &Frame<'_>) -> Option<&TrafficKey> {
        let (receiver, transmitter) = (frame.receiver()?, frame.transmitter()?);
        if self.link_addresses(frame).is_some() {
            return None;
        }
        let key = if receiver.is_group() {
            let id = frame.body().get(3)? >> 6;
            let keys = self.groups.get(&transmitter.to_u64())?;
            keys.iter()
                .find(|key| key.key_id().is_none_or(|k| k == id))?
        } else {
            self.pairs
                .get(&pair_of(receiver, transmitter))?
                .keys
                .first()?
        };
        key.ccmp().map(|_| key)
    }

    /// Opens a protected frame (whole, no FCS, no padding).
    ///
    /// # Errors
    /// Why none of the keys opens it.
    pub fn open(&mut self, frame: &Frame<'_>) -> Result<(Opened, Option<bool>), Undecrypted> {
        let (Some(receiver), Some(transmitter)) = (frame.receiver(), frame.transmitter()) else {
            return Err(Undecrypted::NoBody);
        };
        let body = frame.body();
        if body.len() <= 8 {
            return Err(Undecrypted::NoBody);
        }
        let Ok(protection) = Protection::parse(body, true) else {
            return Err(Undecrypted::NoBody);
        };
        if self.given.is_empty() {
            return Err(Undecrypted::NoKey);
        }
        let mut tried = false;
        let pair = self.pair_key(receiver, transmitter);
        let group = receiver.is_group();
        let translated = self.link_addresses(frame).map(|links| {
            let mut octets = frame.octets().to_vec();
            links.translate(&mut octets);
            octets
        });
        let scratch = &mut self.scratch;
        let mut run = |keys: &mut Vec<TrafficKey>, octets: &[u8]| {
            let found = (0..keys.len()).find_map(|index| {
                let key = &keys[index];
                if !key.fits(&protection) {
                    return None;
                }
                tried = true;
                key.open(octets, scratch).map(|opened| (index, opened))
            })?;
            // The key that fitted is the likeliest for the next frame.
            keys[..=found.0].rotate_right(1);
            self.replays.opened_with(keys[0].tag());
            let whole = !frame.control().more_fragments() && frame.fragment_number() == Some(0);
            let michael = whole
                .then(|| keys[0].michael_fits(frame.octets(), &scratch[found.1.payload.clone()]))
                .flatten();
            Some((found.1, michael))
        };
        if !group && let Some(pair) = self.pairs.get_mut(&pair) {
            // Management frames between multi-link devices are told apart by their MIC alone.
            let of_link = translated.is_none() || frame.control().kind() == Kind::Management;
            let of_link = of_link.then_some(frame.octets());
            for octets in of_link.into_iter().chain(translated.as_deref()) {
                if let Some(opened) = run(&mut pair.keys, octets) {
                    return Ok(opened);
                }
            }
        }
        // Group keys also protect unicast frames where the pairwise suite is "use group".
        for owner in [transmitter, receiver] {
            if let Some(keys) = self.groups.get_mut(&owner.to_u64())
                && let Some(opened) = run(keys, frame.octets())
            {
                return Ok(opened);
            }
        }
        if let Some(opened) = run(
            &mut self.fixed,
            translated.as_deref().unwrap_or(frame.octets()),
        ) {
            return Ok(opened);
        }
        let unsupported = self
            .pairs
            .get(&pair)
            .and_then(|pair| pair.unsupported)
            .or_else(|| self.without_mld(receiver, transmitter))
            .filter(|_| !self.given.is_empty());
        Err(if let Some(reason) = unsupported {
            reason
        } else if tried {
            Undecrypted::MicFailure
        } else if self.given.is_empty() || matches!(protection, Protection::Wep { .. }) {
            Undecrypted::NoKey
        } else if self.is_refuted(receiver, transmitter) {
            if self.needs_pmk(receiver, transmitter) {
                Undecrypted::NoPmk
            } else {
                Undecrypted::WrongKey
            }
        } else {
            Undecrypted::NoHandshake
        })
    }

    /// Whether both nonces of these two were seen and no given key makes the MIC of message 2.
    fn is_refuted(&self, a: MacAddress, b: MacAddress) -> bool {
        let pair = self.pairs.get(&self.pair_key(a, b));
        pair.is_some_and(|pair| pair.handshake.is_refuted())
    }

    /// The plaintext of the frame that [`Keyring::open`] opened last.
    pub fn plaintext(&self, opened: &Opened) -> &[u8] {
        self.scratch.get(opened.payload.clone()).unwrap_or(&[])
    }
}

/// Nonces of a key handshake.
#[derive(Debug, Clone, Copy)]
pub(in crate::decrypt) struct HandshakeNonces {
    /// The authenticator's.
    pub anonce: [u8; 32],
    /// The supplicant's.
    pub snonce: [u8; 32],
}

/// Two addresses, whichever is named first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PairKey {
    low: u64,
    high: u64,
}

pub(crate) fn pair_of(a: MacAddress, b: MacAddress) -> PairKey {
    let (a, b) = (a.to_u64(), b.to_u64());
    PairKey {
        low: a.min(b),
        high: a.max(b),
    }
}

/// Addresses of a station and of an access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkEnds {
    /// The station's.
    pub station: MacAddress,
    /// The access point's.
    pub bssid: MacAddress,
}

/// Puts a key in front; `true` if it was not known.
fn add(keys: &mut Vec<TrafficKey>, key: TrafficKey) -> bool {
    let known = keys.iter().position(|other| {
        other.suite() == key.suite()
            && other.key_id() == key.key_id()
            && other.octets() == key.octets()
    });
    match known {
        Some(index) => {
            keys[..=index].rotate_right(1);
            false
        }
        None => {
            keys.truncate(MAX_KEYS - 1);
            keys.insert(0, key);
            true
        }
    }
}
