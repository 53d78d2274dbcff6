//! Networks that announce themselves in a capture: takes the announcements of `announced`, gives one
//! record per BSSID.
//!
//! Needs no join and no key. Later frames of a BSS replace what earlier ones said. Memory is bounded:
//! BSSs beyond [`MAX_NETWORKS`] are counted only.

use std::path::PathBuf;

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::{Elements, extension, id};
use airtoll_wire::ieee80211::rsne::{
    OUI_WFA, WFA_OWE_TRANSITION, WFA_RSNE_OVERRIDE, WFA_RSNE_OVERRIDE_2,
};
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{AnnouncedPhy, Announcement, Element, RsnRepr};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use crate::announced::{HeardBss, each_announcement, selector};
use crate::error::CaptureError;

/// Most BSSs that are kept.
pub const MAX_NETWORKS: usize = 4096;
/// Elements that are read, or that change neither policy nor channel.
const KNOWN: &[u8] = &[
    id::SSID,
    id::SUPPORTED_RATES,
    id::DSSS_PARAMETER,
    id::TRAFFIC_INDICATION,
    id::COUNTRY,
    id::BSS_LOAD,
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
    let frames = each_announcement(files, |heard, place| found.take(&heard, place))?;
    Ok(NetworksReport {
        networks: found.list,
        left_out: found.left_out,
        frames,
    })
}

#[derive(Default)]
struct Networks {
    list: Vec<NetworkReport>,
    places: FxHashMap<u64, usize>,
    left_out: u64,
}

impl Networks {
    fn take(&mut self, heard: &HeardBss, frame: u64) {
        let place = match self.places.get(&heard.bssid.to_u64()) {
            Some(place) => *place,
            None if self.list.len() >= MAX_NETWORKS => {
                self.left_out += 1;
                return;
            }
            None => {
                self.places.insert(heard.bssid.to_u64(), self.list.len());
                self.list.push(NetworkReport::new(heard.bssid, frame));
                self.list.len() - 1
            }
        };
        self.list[place].learn(heard);
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

    fn learn(&mut self, heard: &HeardBss) {
        let seen = heard.announcement();
        self.frames += 1;
        self.frequency_mhz = heard.frequency_mhz.or(self.frequency_mhz);
        self.signal_dbm = heard.signal_dbm.or(self.signal_dbm);
        self.beacon_interval_tu = seen.interval_tu;
        self.privacy = seen.privacy;
        self.channel = seen.channel.or(self.channel);
        self.width_mhz = seen.width_mhz;
        self.at_6ghz = seen.at_6ghz;
        self.phy = phy(&seen).map(str::to_owned);
        let rate = |units: &u8| f64::from(units & 0x7f) / 2.0;
        self.rates_mbps = seen.rates.iter().map(rate).collect();
        let basic = seen.rates.iter().filter(|units| **units & 0x80 != 0);
        self.basic_rates_mbps = basic.map(rate).collect();
        if !seen.ssid.is_empty() {
            self.ssid = Some(String::from_utf8_lossy(&seen.ssid).into_owned());
        }
        if let Some(letters) = seen.country {
            self.country = Some(String::from_utf8_lossy(&letters).into_owned());
        }
        self.stations = seen.load.map(|(stations, _)| stations).or(self.stations);
        self.wpa = seen.wpa.map(OfferReport::of);
        self.rsn = seen.rsn.map(OfferReport::of);
        // A probe response may leave these out.
        replace(
            &mut self.rsn_override,
            seen.rsn_override.map(OfferReport::of),
        );
        replace(
            &mut self.rsn_override_2,
            seen.rsn_override_2.map(OfferReport::of),
        );
        self.owe_transition |= seen.owe_transition;
        let domain = seen.mobility_domain;
        replace(
            &mut self.mobility_domain,
            domain.map(|mde| format!("{:02x}{:02x}", mde.mdid[0], mde.mdid[1])),
        );
        for element in Elements::new(&heard.elements) {
            self.note_unread(&element);
        }
    }

    fn note_unread(&mut self, element: &Element<'_>) {
        match element.id {
            id::VENDOR => match element.vendor() {
                None => self.other("221".to_owned()),
                // WPA, WMM and WPS.
                Some((OUI_WPA, 1 | 2 | 4, _))
                | Some((
                    OUI_WFA,
                    WFA_RSNE_OVERRIDE | WFA_RSNE_OVERRIDE_2 | WFA_OWE_TRANSITION,
                    _,
                )) => {}
                Some(([a, b, c], kind, _)) => {
                    self.other(format!("221 {a:02x}-{b:02x}-{c:02x}-{kind}"));
                }
            },
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

    fn other(&mut self, name: String) {
        if !self.other_elements.contains(&name) && self.other_elements.len() < 64 {
            self.other_elements.push(name);
        }
    }
}

/// Newest PHY; `None` where only the band could tell (802.11a or g), or where no rate is announced.
fn phy(seen: &Announcement) -> Option<&'static str> {
    match seen.phy {
        AnnouncedPhy::A | AnnouncedPhy::G => None,
        AnnouncedPhy::B if seen.rates.is_empty() => None,
        phy => Some(phy.name()),
    }
}

fn replace<T>(old: &mut Option<T>, new: Option<T>) {
    if new.is_some() {
        *old = new;
    }
}

impl OfferReport {
    fn of(offer: RsnRepr) -> Self {
        let pmf = match (offer.mfpr(), offer.mfpc()) {
            (true, _) => "required",
            (false, true) => "optional",
            _ => "off",
        };
        Self {
            group: offer.group.map(|suite| selector(suite.0)),
            pairwise: offer
                .pairwise
                .iter()
                .map(|suite| selector(suite.0))
                .collect(),
            akms: offer.akms.iter().map(|suite| selector(suite.0)).collect(),
            pmf: pmf.to_owned(),
        }
    }
}
