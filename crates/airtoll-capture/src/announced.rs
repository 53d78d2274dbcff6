//! Announcements of networks in captures of the air: takes capture files, gives every beacon and probe
//! response of an infrastructure BSS, or the last one per BSSID.
//!
//! `airtoll_wire::ieee80211::Announcement` interprets the elements. In [`heard_bss`] beacons come before
//! probe responses: those state a name that the network hides, and no DTIM period.

use std::collections::BTreeMap;
use std::path::PathBuf;

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Announcement, Elements, Frame, Kind, Management, RsnRepr};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::CaptureError;
use crate::file::Reader;
use crate::link::{Link, LinkReader, Radio};

/// Timestamp, interval and capability before the elements (IEEE 802.11-2020, 9.3.3.2).
const FIXED_OCTETS: usize = 12;
/// Capability information: infrastructure BSS.
const ESS: u16 = 1;

/// Suites of an RSN or WPA element; each as OUI and type, `00-0f-ac-4`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AnnouncedSuites {
    /// Group data cipher; null where the element leaves it out.
    pub group: Option<String>,
    /// Pairwise ciphers.
    pub pairwise: Vec<String>,
    /// AKM suites.
    pub akms: Vec<String>,
    /// Management frames can be protected.
    pub mfp_capable: bool,
    /// Management frames must be protected.
    pub mfp_required: bool,
    /// Group management cipher; null where the element leaves it out.
    pub group_management: Option<String>,
}

/// Announcement of a BSS.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AnnouncedBss {
    /// BSSID.
    pub bssid: String,
    /// Name of the network; empty where it is hidden.
    pub ssid: String,
    /// Centre of the primary channel, MHz; null where the receiver does not state it.
    pub frequency_mhz: Option<u16>,
    /// Level at the receiver, dBm; null where it does not state it.
    pub signal_dbm: Option<f64>,
    /// Beacon interval, time units of 1024 us.
    pub interval_tu: u16,
    /// Data frames are encrypted.
    pub privacy: bool,
    /// Short preambles are allowed.
    pub short_preamble: bool,
    /// Supported rates, Mb/s.
    pub rates_mbps: Vec<f64>,
    /// Those of them that every station must know.
    pub basic_rates_mbps: Vec<f64>,
    /// Newest generation of the PHY, by its name in studies.
    pub phy: &'static str,
    /// Number of the primary channel; null where no element states it.
    pub channel: Option<u8>,
    /// Channel width, MHz.
    pub width_mhz: u16,
    /// Beacons from one DTIM to the next; null in a probe response.
    pub dtim_period: Option<u8>,
    /// Two letters of the regulatory domain.
    pub country: Option<String>,
    /// RSN element.
    pub rsn: Option<AnnouncedSuites>,
    /// WPA element.
    pub wpa: Option<AnnouncedSuites>,
    /// Wi-Fi Protected Setup is on.
    pub wps: bool,
    /// Another BSS is named for stations without OWE.
    pub owe_transition: bool,
    /// An element overrides the RSN element for newer stations.
    pub overriding: bool,
    /// A mobility domain is announced.
    pub mobility_domain: bool,
    /// Associated stations, as the access point states them.
    pub stations: Option<u16>,
    /// Share of time for which the access point finds the channel busy, 0 to 1.
    pub busy_share: Option<f64>,
    /// An element cannot be read.
    pub damaged: bool,
}

impl AnnouncedBss {
    /// From the fixed fields and the elements of a beacon or probe response.
    pub fn of(
        bssid: MacAddress,
        capability: u16,
        interval_tu: u16,
        elements: &[u8],
        (frequency_mhz, signal_dbm): (Option<u16>, Option<f64>),
    ) -> Self {
        let seen = Announcement::parse(
            capability,
            interval_tu,
            &Elements::new(elements),
            frequency_mhz,
        );
        let rate = |units: &u8| f64::from(units & 0x7f) / 2.0;
        Self {
            bssid: bssid.to_string(),
            ssid: String::from_utf8_lossy(&seen.ssid).into_owned(),
            frequency_mhz,
            signal_dbm,
            interval_tu: seen.interval_tu,
            privacy: seen.privacy,
            short_preamble: seen.short_preamble,
            rates_mbps: seen.rates.iter().map(rate).collect(),
            basic_rates_mbps: seen
                .rates
                .iter()
                .filter(|units| **units & 0x80 != 0)
                .map(rate)
                .collect(),
            phy: seen.phy.name(),
            channel: seen.channel,
            width_mhz: seen.width_mhz,
            dtim_period: seen.dtim_period,
            country: seen
                .country
                .map(|letters| String::from_utf8_lossy(&letters).into_owned()),
            rsn: seen.rsn.as_ref().map(suites),
            wpa: seen.wpa.as_ref().map(suites),
            wps: seen.wps,
            owe_transition: seen.owe_transition,
            overriding: seen.overriding,
            mobility_domain: seen.mobility_domain.is_some(),
            stations: seen.load.map(|(stations, _)| stations),
            busy_share: seen
                .load
                .map(|(_, utilization)| f64::from(utilization) / 255.0),
            damaged: seen.damaged,
        }
    }
}

fn suites(repr: &RsnRepr) -> AnnouncedSuites {
    AnnouncedSuites {
        group: repr.group.map(|suite| selector(suite.0)),
        pairwise: repr
            .pairwise
            .iter()
            .map(|suite| selector(suite.0))
            .collect(),
        akms: repr.akms.iter().map(|suite| selector(suite.0)).collect(),
        mfp_capable: repr.mfpc(),
        mfp_required: repr.mfpr(),
        group_management: repr.group_management.map(|suite| selector(suite.0)),
    }
}

pub(crate) fn selector([a, b, c, kind]: [u8; 4]) -> String {
    format!("{a:02x}-{b:02x}-{c:02x}-{kind}")
}

/// A beacon or probe response as it was heard.
#[derive(Debug, Clone, PartialEq)]
pub struct HeardBss {
    /// BSSID.
    pub bssid: MacAddress,
    /// Capability information.
    pub capability: u16,
    /// Beacon interval, time units of 1024 us.
    pub interval_tu: u16,
    /// Elements.
    pub elements: Vec<u8>,
    /// Channel frequency, MHz, where the receiver states it.
    pub frequency_mhz: Option<u16>,
    /// Level at the receiver, dBm, where it states it.
    pub signal_dbm: Option<i8>,
    /// Whether it was a beacon.
    pub is_beacon: bool,
}

impl HeardBss {
    /// Its elements, interpreted.
    pub fn announcement(&self) -> Announcement {
        Announcement::parse(
            self.capability,
            self.interval_tu,
            &Elements::new(&self.elements),
            self.frequency_mhz,
        )
    }
}

/// Gives every announcement of captures to `take`, with its place among all packets, from 1. Returns the
/// number of packets.
///
/// # Errors
/// A file that cannot be opened or is no capture.
pub(crate) fn each_announcement(
    files: &[PathBuf],
    mut take: impl FnMut(HeardBss, u64),
) -> Result<u64, CaptureError> {
    let mut packets = 0;
    for file in files {
        let mut reader = Reader::open(file)?;
        let mut link = LinkReader::default();
        while let Some(packet) = reader.next_packet() {
            packets += 1;
            if let Link::Air { mpdu, radio, .. } = link.read(&packet)
                && !radio.bad_fcs
                && let Some(heard) = heard(mpdu, radio)
            {
                take(heard, packets);
            }
        }
    }
    Ok(packets)
}

/// The networks of captures, one per BSSID, in the order of their BSSIDs.
///
/// # Errors
/// A file that cannot be opened or is no capture.
pub fn heard_bss(files: &[PathBuf]) -> Result<Vec<HeardBss>, CaptureError> {
    let mut found: BTreeMap<MacAddress, HeardBss> = BTreeMap::new();
    each_announcement(files, |heard, _| {
        if heard.is_beacon || !found.get(&heard.bssid).is_some_and(|known| known.is_beacon) {
            found.insert(heard.bssid, heard);
        }
    })?;
    Ok(found.into_values().collect())
}

/// The announcement that a frame is, `None` for other frames and for those of an IBSS.
fn heard(mpdu: &[u8], radio: Radio) -> Option<HeardBss> {
    let frame = Frame::new(mpdu).ok()?;
    let control = frame.control();
    let kind = control.subtype();
    let announces = kind == subtype::BEACON || kind == subtype::PROBE_RESPONSE;
    if control.kind() != Kind::Management || control.protected() || !announces {
        return None;
    }
    let Ok(Management::Beacon {
        interval,
        capability,
        ..
    }) = Management::parse(kind, frame.body())
    else {
        return None;
    };
    if capability & ESS == 0 {
        return None;
    }
    Some(HeardBss {
        bssid: frame.address3().filter(|bssid| !bssid.is_group())?,
        capability,
        interval_tu: interval,
        elements: frame.body().get(FIXED_OCTETS..)?.to_vec(),
        frequency_mhz: radio.frequency_mhz,
        signal_dbm: radio.signal_dbm,
        is_beacon: kind == subtype::BEACON,
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr};
    use airtoll_wire::ieee80211::{Element, ManagementRepr};

    use super::*;
    use crate::file::PcapWriter;

    fn frame(kind: u8, bssid: MacAddress, name: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Management, kind),
            duration: 0,
            address1: MacAddress([0xff; 6]),
            address2: bssid,
            address3: bssid,
            sequence_control: 0,
            address4: None,
            qos_control: None,
            ht_control: None,
        }
        .emit(&mut out);
        let mut elements = Vec::new();
        Element { id: 0, body: name }.emit(&mut elements);
        Element {
            id: 1,
            body: &[0x82, 0x0c],
        }
        .emit(&mut elements);
        ManagementRepr::Beacon(0, 100, 0x0011, &elements).emit(&mut out);
        out
    }

    #[test]
    fn a_beacon_counts_before_a_probe_response_and_the_last_one_holds() {
        let (one, other) = (
            MacAddress([2, 0, 0, 0, 0, 1]),
            MacAddress([2, 0, 0, 0, 0, 2]),
        );
        let path =
            std::env::temp_dir().join(format!("airtoll-networks-{}.pcap", std::process::id()));
        let mut writer = PcapWriter::new(File::create(&path).unwrap(), 105).unwrap();
        for (kind, bssid, name) in [
            (subtype::BEACON, one, &b"old"[..]),
            (subtype::BEACON, one, b"new"),
            (subtype::PROBE_RESPONSE, one, b"hidden"),
            (subtype::PROBE_RESPONSE, other, b"else"),
        ] {
            let octets = frame(kind, bssid, name);
            writer.write_packet(0, &octets).unwrap();
        }
        writer.finish().unwrap();
        let found = heard_bss(std::slice::from_ref(&path)).unwrap();
        std::fs::remove_file(&path).unwrap();
        let names = found.iter().map(|heard| {
            let bss = AnnouncedBss::of(
                heard.bssid,
                heard.capability,
                heard.interval_tu,
                &heard.elements,
                (Some(2_412), None),
            );
            (bss.ssid, bss.phy, bss.privacy)
        });
        let wanted = [
            ("new".to_string(), "802.11g", true),
            ("else".to_string(), "802.11g", true),
        ];
        assert_eq!(names.collect::<Vec<_>>(), wanted);
    }
}
