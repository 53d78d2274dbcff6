//! Networks that announce themselves in a capture: takes beacons and probe responses, gives one record
//! per BSSID.
//!
//! Needs no join and no key. Later frames of a BSS replace what earlier ones said. Memory is bounded:
//! BSSs beyond [`MAX_NETWORKS`] are counted only.

use std::path::PathBuf;

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::{Elements, extension, id};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::ft::MdeRepr;
use airtoll_wire::ieee80211::operation::{self, Generation};
use airtoll_wire::ieee80211::rsne::{
    OUI_WFA, WFA_OWE_TRANSITION, WFA_RSNE_OVERRIDE, WFA_RSNE_OVERRIDE_2,
};
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Element, Frame, Kind, Management, RsnRepr};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::CaptureError;
use crate::file::Reader;
use crate::link::{Link, LinkReader, Radio};

/// Most BSSs that are kept.
pub const MAX_NETWORKS: usize = 4096;
/// Element of the load of a BSS (9.4.2.27): stations, utilisation, admission capacity.
const BSS_LOAD: u8 = 11;
/// Capability information: infrastructure BSS.
const ESS: u16 = 1;
/// Capability information: privacy.
const PRIVACY: u16 = 1 << 4;
/// Elements that are read, or that change neither policy nor channel.
const KNOWN: &[u8] = &[
    id::SSID,
    id::SUPPORTED_RATES,
    id::DSSS_PARAMETER,
    id::TRAFFIC_INDICATION,
    id::COUNTRY,
    BSS_LOAD,
    id::ERP,
    id::HT_CAPABILITIES,
    id::RSN,
    id::EXTENDED_RATES,
    id::MOBILITY_DOMAIN,
    id::HT_OPERATION,
    id::EXTENDED_CAPABILITIES,
    id::VHT_CAPABILITIES,
    id::VHT_OPERATION,
    id::SUPPORTED_OPERATING_CLASSES,
    id::TRANSMIT_POWER_ENVELOPE,
    id::RSN_EXTENSION,
    id::MANAGEMENT_MIC,
];
const KNOWN_EXTENSIONS: &[u8] = &[
    extension::HE_CAPABILITIES,
    extension::HE_OPERATION,
    extension::MU_EDCA,
    extension::HE_6GHZ_CAPABILITIES,
    extension::EHT_OPERATION,
    extension::EHT_CAPABILITIES,
];

/// Every network of some captures.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NetworksReport {
    /// Networks in the order of their first frame.
    pub networks: Vec<NetworkReport>,
    /// BSSs beyond the limit.
    pub left_out: u64,
    /// Packets of the files.
    pub frames: u64,
}

/// A network as its beacons announce it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct NetworkReport {
    /// BSSID.
    pub bssid: String,
    /// SSID; null where every frame hides it.
    pub ssid: Option<String>,
    /// Beacons and probe responses.
    pub frames: u64,
    /// Place of the first of them among all packets, from 1.
    pub frame: u64,
    /// Frequency of the radio that captured the last one, MHz.
    pub frequency_mhz: Option<u16>,
    /// Its signal, dBm.
    pub signal_dbm: Option<i8>,
    /// Number of the primary channel.
    pub channel: Option<u8>,
    /// Channel width, MHz.
    pub width_mhz: u16,
    /// Newest PHY that it announces; null where only the band could tell (802.11a or g).
    pub phy: Option<String>,
    /// Whether it is at 6 GHz.
    pub at_6ghz: bool,
    /// Rates, Mb/s.
    pub rates_mbps: Vec<f64>,
    /// Of them the basic ones.
    pub basic_rates_mbps: Vec<f64>,
    /// Beacon interval, time units of 1024 us.
    pub beacon_interval_tu: u16,
    /// Country, two letters.
    pub country: Option<String>,
    /// Stations, by the BSS Load element.
    pub stations: Option<u16>,
    /// Privacy bit.
    pub privacy: bool,
    /// The WPA element (version 1).
    pub wpa: Option<OfferReport>,
    /// The RSN element.
    pub rsn: Option<OfferReport>,
    /// RSNE Override.
    pub rsn_override: Option<OfferReport>,
    /// RSNE Override 2.
    pub rsn_override_2: Option<OfferReport>,
    /// OWE Transition Mode element.
    pub owe_transition: bool,
    /// Mobility domain of fast transition, four hexadecimal digits in the order of hostapd.conf.
    pub mobility_domain: Option<String>,
    /// Elements that are not read: number, `255.` and the extension, or `221` with OUI and type.
    pub other_elements: Vec<String>,
}

/// The offer of a security element. Suites are selectors as hostapd prints them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OfferReport {
    /// Group cipher.
    pub group: Option<String>,
    /// Pairwise ciphers.
    pub pairwise: Vec<String>,
    /// AKMs.
    pub akms: Vec<String>,
    /// Protected management frames: off, optional or required.
    pub pmf: String,
}

/// Finds the networks of captures; `-` is standard input.
///
/// # Errors
/// A file that is no capture.
pub fn networks(files: &[PathBuf]) -> Result<NetworksReport, CaptureError> {
    let mut found = Networks::default();
    for path in files {
        let mut reader = Reader::open(path)?;
        let mut link = LinkReader::default();
        while let Some(packet) = reader.next_packet() {
            found.frames += 1;
            if let Link::Air { mpdu, radio, .. } = link.read(&packet)
                && !radio.bad_fcs
            {
                found.take(mpdu, &radio);
            }
        }
    }
    Ok(NetworksReport {
        networks: found.list,
        left_out: found.left_out,
        frames: found.frames,
    })
}

#[derive(Default)]
struct Networks {
    list: Vec<NetworkReport>,
    places: FxHashMap<u64, usize>,
    left_out: u64,
    frames: u64,
}

impl Networks {
    fn take(&mut self, mpdu: &[u8], radio: &Radio) {
        let Ok(frame) = Frame::new(mpdu) else { return };
        let control = frame.control();
        let announces = [subtype::BEACON, subtype::PROBE_RESPONSE].contains(&control.subtype());
        if control.kind() != Kind::Management || control.protected() || !announces {
            return;
        }
        let Some(bssid) = frame.bssid().filter(|bssid| !bssid.is_group()) else {
            return;
        };
        let Ok(Management::Beacon {
            interval,
            capability,
            elements,
            ..
        }) = Management::parse(control.subtype(), frame.body())
        else {
            return;
        };
        if capability & ESS == 0 {
            return;
        }
        let place = match self.places.get(&bssid.to_u64()) {
            Some(place) => *place,
            None if self.list.len() >= MAX_NETWORKS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.places.insert(bssid.to_u64(), self.list.len());
                self.list.push(NetworkReport::new(bssid, self.frames));
                self.list.len() - 1
            }
        };
        let network = &mut self.list[place];
        network.frames += 1;
        network.frequency_mhz = radio.frequency_mhz.or(network.frequency_mhz);
        network.signal_dbm = radio.signal_dbm.or(network.signal_dbm);
        network.beacon_interval_tu = interval;
        network.privacy = capability & PRIVACY != 0;
        network.learn(&elements);
    }
}

impl NetworkReport {
    fn new(bssid: MacAddress, frame: u64) -> Self {
        Self {
            bssid: bssid.to_string(),
            ssid: None,
            frames: 0,
            frame,
            frequency_mhz: None,
            signal_dbm: None,
            channel: None,
            width_mhz: 20,
            phy: None,
            at_6ghz: false,
            rates_mbps: Vec::new(),
            basic_rates_mbps: Vec::new(),
            beacon_interval_tu: 0,
            country: None,
            stations: None,
            privacy: false,
            wpa: None,
            rsn: None,
            rsn_override: None,
            rsn_override_2: None,
            owe_transition: false,
            mobility_domain: None,
            other_elements: Vec::new(),
        }
    }

    fn learn(&mut self, elements: &Elements<'_>) {
        self.rsn = None;
        self.wpa = None;
        self.rates_mbps.clear();
        self.basic_rates_mbps.clear();
        for element in elements.clone() {
            self.read(&element);
        }
        self.width_mhz = operation::width_mhz(elements);
        self.channel = operation::primary_channel(elements).or(self.channel);
        self.at_6ghz = elements
            .find_extension(extension::HE_6GHZ_CAPABILITIES)
            .is_some();
        self.phy = match operation::generation(elements) {
            Some(Generation::Eht) => Some("802.11be"),
            Some(Generation::He) => Some("802.11ax"),
            Some(Generation::Vht) => Some("802.11ac"),
            Some(Generation::Ht) => Some("802.11n"),
            None if self.only_dsss() => Some("802.11b"),
            None => None,
        }
        .map(str::to_owned);
    }

    /// Whether all rates are those of DSSS.
    fn only_dsss(&self) -> bool {
        !self.rates_mbps.is_empty()
            && self
                .rates_mbps
                .iter()
                .all(|rate| *rate <= 11.0 && *rate != 6.0 && *rate != 9.0)
    }

    fn read(&mut self, element: &Element<'_>) {
        match element.id {
            id::SSID if !element.body.iter().all(|octet| *octet == 0) => {
                self.ssid = Some(String::from_utf8_lossy(element.body).into_owned());
            }
            id::SUPPORTED_RATES | id::EXTENDED_RATES => {
                for octet in element.body {
                    let rate = f64::from(octet & 0x7f) / 2.0;
                    // Numbers from 120 on are membership selectors of BSSs, not rates.
                    if octet & 0x7f < 120 && octet & 0x7f > 0 {
                        self.rates_mbps.push(rate);
                        if octet & 0x80 != 0 {
                            self.basic_rates_mbps.push(rate);
                        }
                    }
                }
            }
            id::COUNTRY if element.body.len() >= 2 => {
                let letters = &element.body[..2];
                if letters.iter().all(u8::is_ascii_uppercase) {
                    self.country = Some(String::from_utf8_lossy(letters).into_owned());
                }
            }
            BSS_LOAD if element.body.len() >= 2 => {
                self.stations = Some(u16::from_le_bytes([element.body[0], element.body[1]]));
            }
            id::RSN => self.rsn = RsnRepr::parse(element.body).ok().map(OfferReport::of),
            id::MOBILITY_DOMAIN => {
                self.mobility_domain = MdeRepr::parse(element.body)
                    .ok()
                    .map(|mde| format!("{:02x}{:02x}", mde.mdid[0], mde.mdid[1]));
            }
            id::VENDOR => self.read_vendor(element),
            id::EXTENSION => {
                if let Some((number, _)) = element.extension()
                    && !KNOWN_EXTENSIONS.contains(&number)
                {
                    self.other(format!("255.{number}"));
                }
            }
            number if KNOWN.contains(&number) => {}
            number => self.other(number.to_string()),
        }
    }

    fn read_vendor(&mut self, element: &Element<'_>) {
        let Some((oui, kind, body)) = element.vendor() else {
            return self.other("221".to_owned());
        };
        let offer = || RsnRepr::parse(body).ok().map(OfferReport::of);
        match (oui, kind) {
            (OUI_WPA, 1) => self.wpa = RsnRepr::parse_wpa(body).ok().map(OfferReport::of),
            // WMM and WPS.
            (OUI_WPA, 2 | 4) => {}
            (OUI_WFA, WFA_RSNE_OVERRIDE) => self.rsn_override = offer(),
            (OUI_WFA, WFA_RSNE_OVERRIDE_2) => self.rsn_override_2 = offer(),
            (OUI_WFA, WFA_OWE_TRANSITION) => self.owe_transition = true,
            ([a, b, c], kind) => self.other(format!("221 {a:02x}-{b:02x}-{c:02x}-{kind}")),
        }
    }

    fn other(&mut self, name: String) {
        if !self.other_elements.contains(&name) && self.other_elements.len() < 64 {
            self.other_elements.push(name);
        }
    }
}

impl OfferReport {
    fn of(offer: RsnRepr) -> Self {
        let text = |[a, b, c, kind]: [u8; 4]| format!("{a:02x}-{b:02x}-{c:02x}-{kind}");
        let pmf = match (offer.mfpr(), offer.mfpc()) {
            (true, _) => "required",
            (false, true) => "optional",
            _ => "off",
        };
        Self {
            group: offer.group.map(|suite| text(suite.0)),
            pairwise: offer.pairwise.iter().map(|suite| text(suite.0)).collect(),
            akms: offer.akms.iter().map(|suite| text(suite.0)).collect(),
            pmf: pmf.to_owned(),
        }
    }
}
