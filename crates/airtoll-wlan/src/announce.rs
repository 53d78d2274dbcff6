//! Elements by which an access point and its stations announce themselves: beacons, probe responses
//! and association frames, from the PHY of a BSS and the security that it offers.
//!
//! Takes a scenario; gives octets. The lengths of these frames on the air follow from the octets. Order
//! of elements: IEEE 802.11-2020, tables 9-32 and 9-34 to 9-39, with those of 802.11ax and 802.11be.

use airtoll_handshakes::link::agreed::{
    Announced, Link, Offered, OperatingChannels, Overriding, PhyElements, offered,
};
use airtoll_handshakes::link::multi_link;
use airtoll_handshakes::{LinkSpec, Options, announced_link};
use airtoll_phy::{Band, Coding};
use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::capability::{self, PhySetUp, Reported};
use airtoll_wire::ieee80211::element::{Element, id};
use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr, Kind, management_subtype};
use airtoll_wire::ieee80211::{ManagementRepr, OciRepr, rsne, target_wake_time};

use crate::id::Ends;
use crate::mac::{self, Indication};
use crate::scenario::{Bss, Node, Rate, Role, Scenario, Schedule, Standard};

/// Network name where nothing else is agreed on.
const SSID: &[u8] = b"airtoll";
const ESS: u16 = 0x0001;
const PRIVACY: u16 = 0x0010;
const FCS_OCTETS: usize = 4;
/// Header and fixed fields of beacons and probe responses.
const FIXED_OCTETS: usize = 36;
/// The TIM element with one octet of its bitmap.
const INDICATION_OCTETS: usize = 6;
const BROADCAST: MacAddress = MacAddress([0xff; 6]);
/// Operating classes of 20 MHz channels at 2.4, 5 and 6 GHz (IEEE 802.11-2020, annex E).
const CLASS_2_4: u8 = 81;
const CLASS_5: u8 = 115;
const CLASS_6: u8 = 131;
/// Bits of the extended capabilities (IEEE 802.11-2020, table 9-153).
const MULTIPLE_BSSID: usize = 22;
const BEACON_PROTECTION: usize = 84;

/// Centre of the first 20 MHz of a BSS's channel. Channel numbers of a scenario only tell channels
/// apart: number 0 is channel 1, 36 or 1 of its band, the next ones lie beside it without overlap.
pub(crate) fn channel_mhz(bss: &Bss) -> u16 {
    let step = bss.width_mhz.max(20) * (bss.channel % 8) as u16;
    match mac::band(bss) {
        Band::Ghz2_4 => 2_412 + 25 * (bss.channel % 3) as u16,
        Band::Ghz5 => 5_180 + step,
        Band::Ghz6 => 5_955 + step,
    }
}

/// The number of a channel in its band (IEEE 802.11-2020, 15.4.4.3 and 17.3.8.4.2).
pub(crate) const fn channel_number(mhz: u16) -> u8 {
    match mhz {
        ..5_000 => ((mhz - 2_407) / 5) as u8,
        5_000..5_950 => ((mhz - 5_000) / 5) as u8,
        _ => ((mhz - 5_950) / 5) as u8,
    }
}

/// Supported rates in 500 kb/s, basic ones with bit 7.
pub(crate) fn supported_rates(bss: &Bss) -> Vec<u8> {
    let basic = match &bss.basic_rates_mbps {
        Some(_) => mac::basic_rates(bss, false),
        None => bss.standard.descriptor().basic_rates,
    };
    bss.standard
        .descriptor()
        .announced_rates_at(mac::band(bss))
        .map(|rate| {
            let units = (rate.hundred_kbps() / 5) as u8;
            units | if basic.contains(rate) { 0x80 } else { 0 }
        })
        .collect()
}

/// The PHY of a station, as its requests state it.
#[derive(Debug, Clone)]
pub(crate) struct StationPhy {
    standard: Standard,
    set_up: PhySetUp,
    edca: bool,
    rates: Vec<u8>,
}

impl StationPhy {
    /// That of a station in a BSS. WEP and TKIP keep it from HT and later (IEEE 802.11-2020, 12.6.1.1).
    pub fn of(bss: &Bss, node: &Node) -> Self {
        let mut standard = node.standard.unwrap_or(bss.standard);
        let edca = bss.edca.unwrap_or(bss.standard.descriptor().edca);
        let announced = standard.descriptor().announced_rates_at(mac::band(bss));
        let rates = announced.map(|rate| (rate.hundred_kbps() / 5) as u8);
        let rates = rates.collect();
        if !node.cipher.permits_high_throughput() {
            standard = standard.min(Standard::G);
        }
        Self {
            standard,
            set_up: PhySetUp {
                station: true,
                broadcast_twt: node.is_scheduled(),
                ..set_up(bss, node.rate_in(bss), standard)
            },
            edca,
            rates,
        }
    }

    /// Elements of association requests. A Multi-Link element belongs to the negotiated link: without
    /// one a station of 802.11be associates on one link (IEEE 802.11be-2024, 35.3.5).
    pub fn request(&self) -> PhyElements {
        let mut made = PhyElements {
            rates: rate_elements(&self.rates),
            to_vht: Vec::new(),
            from_he: Vec::new(),
            vendor: Vec::new(),
        };
        let phy = &self.set_up;
        if self.has_mcs() {
            capability::operating_classes(&mut made.to_vht, phy);
            high_throughput(&mut made.to_vht, phy);
            extended_capabilities(&mut made.to_vht, self.standard, true, &[]);
        }
        very_high_throughput(&mut made.to_vht, phy, self.standard);
        high_efficiency(&mut made.from_he, phy, self.standard);
        if self.edca {
            capability::wmm(&mut made.vendor, true);
        }
        made
    }

    /// The request for all networks, to the broadcast address (9.3.3.9), without FCS.
    pub fn wildcard_request(&self, from: MacAddress, sequence: u32) -> Vec<u8> {
        let ends = Ends {
            from,
            to: BROADCAST,
        };
        let mut out = management(management_subtype::PROBE_REQUEST, ends, BROADCAST, sequence);
        ManagementRepr::ProbeRequest(&self.probe_request(&[])).emit(&mut out);
        out
    }

    /// Elements of a probe request for the network `ssid`, or without a name for all.
    pub fn probe_request(&self, ssid: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let phy = &self.set_up;
        emit(&mut out, id::SSID, ssid);
        out.extend(rate_elements(&self.rates));
        if ssid.is_empty() && phy.at_2_4ghz {
            // mac80211 names the channel where it asks for no certain network.
            emit(&mut out, id::DSSS_PARAMETER, &[phy.channel]);
        }
        if self.has_mcs() {
            high_throughput(&mut out, phy);
            extended_capabilities(&mut out, self.standard, true, &[]);
        }
        very_high_throughput(&mut out, phy, self.standard);
        high_efficiency(&mut out, phy, self.standard);
        out
    }

    fn has_mcs(&self) -> bool {
        self.standard.descriptor().mcs.is_some()
    }
}

/// Supported rates, and extended ones behind the eighth.
fn rate_elements(rates: &[u8]) -> Vec<u8> {
    let (first, further) = rates.split_at(rates.len().min(8));
    let mut out = Vec::new();
    emit(&mut out, id::SUPPORTED_RATES, first);
    if !further.is_empty() {
        emit(&mut out, id::EXTENDED_RATES, further);
    }
    out
}

fn high_throughput(out: &mut Vec<u8>, phy: &PhySetUp) {
    if !phy.at_6ghz {
        capability::ht_capabilities(out, phy);
    }
}

fn very_high_throughput(out: &mut Vec<u8>, phy: &PhySetUp, standard: Standard) {
    if standard >= Standard::Ac && !phy.at_2_4ghz && !phy.at_6ghz {
        capability::vht_capabilities(out, phy);
    }
}

/// Capabilities of HE and EHT.
fn high_efficiency(out: &mut Vec<u8>, phy: &PhySetUp, standard: Standard) {
    if standard >= Standard::Ax {
        capability::he_capabilities(out, phy);
        if phy.at_6ghz {
            capability::he_6ghz_capabilities(out);
        }
    }
    if standard >= Standard::Be {
        capability::eht_capabilities(out, phy);
    }
}

/// Extended capabilities of a generation, with further bits.
fn extended_capabilities(out: &mut Vec<u8>, standard: Standard, station: bool, further: &[usize]) {
    // Bits: 62 Operating Mode Notification, 77 TWT requester of a station and 78 TWT responder of an
    // access point (IEEE 802.11-2020, table 9-153).
    let mut bits = further.to_vec();
    let mut octets = 1;
    // mac80211 can change its operating mode in every generation with MCSs.
    if standard >= Standard::N {
        octets = 8;
        bits.push(62);
    }
    if standard >= Standard::Ax {
        octets = 10;
        bits.push(if station { 77 } else { 78 });
    }
    let needed = bits.iter().map(|bit| bit / 8 + 1).max().unwrap_or(1);
    capability::extended_capabilities(out, octets.max(needed), &bits);
}

/// Elements of a station and its access point beside those of the link that they agree on.
pub(crate) fn beside(
    scenario: &Scenario,
    bss: &Bss,
    (station, access_point): (&Node, MacAddress),
    link: &Link,
) -> Announced {
    let announcement = Announcement::of(scenario, bss, access_point);
    let channels = operating_channels(bss, station);
    let phys = phys(scenario, bss, (station, access_point));
    Announced {
        channels,
        station: phys.station,
        access_point: phys.access_point,
        rsn: announcement.rsn_for(link),
        overriding: announcement.overriding_for(link),
    }
}

/// The channels that a station and its access point are on: a station of an older generation has the
/// widest part of the BSS's channel that it knows.
fn operating_channels(bss: &Bss, station: &Node) -> OperatingChannels {
    let primary = channel_mhz(bss);
    let of = |standard: Standard| {
        let widths = standard.descriptor().widths.iter();
        let known = widths.map(|rules| rules.width.mhz() as u16);
        let classes = known
            .filter(|width| *width <= bss.width_mhz.max(20))
            .filter_map(|width| OciRepr::of_channel(primary, width));
        // A scenario may have more channels than its band: those behind the end have no class.
        classes
            .max_by_key(OciRepr::width_mhz)
            .unwrap_or(OperatingChannels::default().access_point)
    };
    OperatingChannels {
        station: of(StationPhy::of(bss, station).standard),
        access_point: of(bss.standard),
    }
}

/// Elements of the PHYs of a station and its access point in association frames.
#[derive(Debug)]
pub(crate) struct Phys {
    pub station: PhyElements,
    pub access_point: PhyElements,
}

/// Those of a station and its access point in a BSS.
pub(crate) fn phys(
    scenario: &Scenario,
    bss: &Bss,
    (station, access_point): (&Node, MacAddress),
) -> Phys {
    let phy = StationPhy::of(bss, station);
    let announcement = Announcement::of(scenario, bss, access_point);
    let answer = announcement.association_response(phy.standard);
    Phys {
        station: phy.request(),
        access_point: answer,
    }
}

/// The network of its access point that a station is in: in OWE transition mode one without
/// encryption is in the open one.
pub(crate) fn network_of(bss: &Bss, station: &Node) -> u32 {
    let beside_open = bss.security.as_ref().is_some_and(|s| s.owe_transition);
    u32::from(beside_open && station.cipher == CipherSuite::Open)
}

/// An access point's announcement of its networks.
#[derive(Debug, Clone)]
pub(crate) struct Announcement {
    standard: Standard,
    set_up: PhySetUp,
    edca: bool,
    interval_tu: u16,
    rates: Vec<u8>,
    links: Vec<Link>,
    overriding: Vec<Link>,
    privacy: bool,
    integrity: Option<CipherSuite>,
    /// Networks of the access point, and whether those after the first are in the first one's beacon.
    networks: (u32, bool),
    /// Each network has a hidden BSS with OWE (even numbers) and an open one (odd numbers).
    owe_transition: bool,
    reported: u8,
    /// ID of the link.
    link: u8,
    /// Operating class and channel of all links by ID, where stations may use several.
    links_on_air: Vec<[u8; 2]>,
    /// Stated length of a beacon with FCS.
    stated: Option<usize>,
    /// Address of the access point on link 0.
    bssid: MacAddress,
    schedules: Vec<Schedule>,
}

impl Announcement {
    /// That of a BSS whose access point has this address on link 0.
    pub fn of(scenario: &Scenario, bss: &Bss, bssid: MacAddress) -> Self {
        let beacons = bss.beacons.unwrap_or_default();
        let AnnouncedSecurity {
            links,
            overriding,
            protects_beacons: protection,
        } = security(scenario, bss);
        let protected = links.iter().find_map(Link::group_management);
        let access_point = scenario.access_point_of(&bss.name);
        let cipher = access_point.map_or(CipherSuite::Open, |node| node.cipher);
        let owe_transition = bss.security.as_ref().is_some_and(|s| s.owe_transition);
        let schedules = Schedule::of(scenario, bss);
        Self {
            standard: bss.standard,
            set_up: PhySetUp {
                broadcast_twt: !schedules.is_empty(),
                ..set_up(bss, bss.rate, bss.standard)
            },
            schedules,
            edca: bss.edca.unwrap_or(bss.standard.descriptor().edca),
            interval_tu: (beacons.interval_us / 1_024.0) as u16,
            rates: supported_rates(bss),
            privacy: cipher != CipherSuite::Open
                || links.iter().any(|l| l.capability() & PRIVACY != 0),
            integrity: protected.filter(|_| protection),
            links,
            overriding,
            networks: (
                u32::from(beacons.ssids.max(1)) * if owe_transition { 2 } else { 1 },
                beacons.multiple_bssid,
            ),
            owe_transition,
            reported: beacons.reported,
            link: scenario.link_id(&bss.name),
            links_on_air: links_on_air(scenario, access_point),
            stated: beacons.octets.map(|octets| octets as usize),
            bssid,
        }
    }

    /// Beacons in each interval.
    pub const fn beacons(&self) -> u32 {
        if self.networks.1 { 1 } else { self.networks.0 }
    }

    /// BIP suite of protected beacons.
    pub const fn integrity(&self) -> Option<CipherSuite> {
        self.integrity
    }

    /// Length of a beacon of network `number` with FCS and its MIC.
    pub fn beacon_octets(&self, number: u32) -> u32 {
        let mic = self.mic_octets(number);
        (self.beacon(number, 0, 0).len() + mic + FCS_OCTETS) as u32
    }

    /// Octets of the Management MIC element of a beacon; an open network has no keys for it.
    fn mic_octets(&self, number: u32) -> usize {
        let integrity = self.integrity.filter(|_| !self.is_open(number));
        integrity.map_or(0, |suite| 10 + suite.mic_octets())
    }

    /// Length of the beacons of the open networks of OWE transition mode, where they have some of
    /// their own.
    pub fn open_beacon_octets(&self) -> Option<u32> {
        (self.owe_transition && self.beacons() > 1).then(|| self.beacon_octets(1))
    }

    /// Networks that answer a request for all networks, each with a response of its own. One with hidden
    /// name does not (hostapd's `ignore_broadcast_ssid`), and those without beacons are in the response of
    /// the first one (11.1.4.3.4).
    pub fn answering(&self) -> impl Iterator<Item = u32> {
        let alone = self.beacons() == 1;
        (0..self.beacons()).filter(move |number| alone || !self.is_hidden(*number))
    }

    /// Length of the response of network `number` with FCS.
    pub fn response_octets(&self, number: u32) -> u32 {
        let octets = self.wildcard_response(number, BROADCAST, (0, 0)).len();
        (octets + FCS_OCTETS) as u32
    }

    /// The response of network `number` to a station that asked for all networks (9.3.3.10), without FCS,
    /// with its sequence number and the time of the access point.
    pub fn wildcard_response(
        &self,
        number: u32,
        to: MacAddress,
        (sequence, time_us): (u32, u64),
    ) -> Vec<u8> {
        let mut elements = self.elements(number, Said::ToAll);
        if let Some(stated) = self.stated {
            // A beacon's but for the traffic indication and the MIC.
            let beacon = FIXED_OCTETS + FCS_OCTETS + self.mic_octets(number) + INDICATION_OCTETS;
            fit(&mut elements, stated.saturating_sub(beacon));
        }
        let from = self.bssid_of(number);
        let ends = Ends { from, to };
        let mut out = management(management_subtype::PROBE_RESPONSE, ends, from, sequence);
        let capability = self.capability_of(number);
        ManagementRepr::Beacon(time_us, self.interval_tu, capability, &elements).emit(&mut out);
        out
    }

    /// The beacon of network `number` without FCS and without its MIC.
    pub fn beacon(&self, number: u32, sequence: u32, time_us: u64) -> Vec<u8> {
        let mut elements = self.elements(number, Said::InBeacon(time_us));
        if let Some(stated) = self.stated {
            let mic = self.mic_octets(number);
            fit(
                &mut elements,
                stated.saturating_sub(FIXED_OCTETS + FCS_OCTETS + mic),
            );
        }
        let from = self.bssid_of(number);
        let ends = Ends {
            from,
            to: BROADCAST,
        };
        let mut out = management(management_subtype::BEACON, ends, from, sequence);
        let capability = self.capability_of(number);
        ManagementRepr::Beacon(time_us, self.interval_tu, capability, &elements).emit(&mut out);
        out
    }

    /// Elements of a probe response, which are a beacon's without the traffic indication.
    pub fn probe_response(&self) -> Vec<u8> {
        self.elements(0, Said::ToOne)
    }

    /// Elements of its PHY in association responses to a station of this generation.
    pub fn association_response(&self, station: Standard) -> PhyElements {
        let mut made = PhyElements {
            rates: rate_elements(&self.rates),
            to_vht: Vec::new(),
            from_he: Vec::new(),
            vendor: Vec::new(),
        };
        let (phy, standard) = (&self.set_up, self.standard.min(station));
        if standard.descriptor().mcs.is_some() {
            high_throughput(&mut made.to_vht, phy);
            if !phy.at_6ghz {
                capability::ht_operation(&mut made.to_vht, phy);
            }
        }
        let protected = self.integrity.map(|_| BEACON_PROTECTION);
        if standard.descriptor().mcs.is_some() || protected.is_some() {
            extended_capabilities(&mut made.to_vht, standard, false, protected.as_slice());
        }
        very_high_throughput(&mut made.to_vht, phy, standard);
        if standard >= Standard::Ac && !phy.at_2_4ghz && !phy.at_6ghz {
            capability::vht_operation(&mut made.to_vht, phy);
        }
        if standard >= Standard::Ax {
            capability::he_capabilities(&mut made.from_he, phy);
            capability::he_operation(&mut made.from_he, phy);
            capability::mu_edca(&mut made.from_he);
            if phy.at_6ghz {
                capability::he_6ghz_capabilities(&mut made.from_he);
            }
        }
        if standard >= Standard::Be {
            capability::eht_operation(&mut made.from_he, phy);
            capability::eht_capabilities(&mut made.from_he, phy);
        }
        if self.edca {
            capability::wmm(&mut made.vendor, false);
        }
        made
    }

    /// The RSN element of beacons, where it says more than that of a station's link.
    fn rsn_for(&self, link: &Link) -> Vec<u8> {
        let own = link.security_element(&[]);
        let whole = offered(&self.links).rsn;
        let differs = link.akm.is_some() && !link.is_wpa1() && whole != own;
        if differs { whole } else { Vec::new() }
    }

    /// The overriding elements of beacons, for a station whose link one of them offers.
    fn overriding_for(&self, link: &Link) -> Option<Overriding> {
        let same = |l: &Link| l.akm == link.akm && l.pairwise == link.pairwise;
        let at = self.overriding.iter().position(same)?;
        Some(Overriding {
            number: at as u8 + 1,
            elements: self.overriding_elements(),
        })
    }

    /// Elements that override the RSN and RSN extension elements for stations that know of them.
    fn overriding_elements(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, link) in self.overriding.iter().enumerate() {
            rsne::emit_override(&link.security_element(&[]), number as u8, &mut out);
        }
        let mut extensions = self.overriding.iter().map(Link::extension_element);
        if let Some(extension) = extensions.find(|e| !e.is_empty()) {
            rsne::emit_extension_override(&extension, &mut out);
        }
        out
    }

    /// Capability information.
    pub fn capability(&self) -> u16 {
        ESS | if self.privacy { PRIVACY } else { 0 }
    }

    /// The same of network `number`.
    fn capability_of(&self, number: u32) -> u16 {
        if self.is_open(number) {
            ESS
        } else {
            self.capability()
        }
    }

    /// Address of network `number`.
    const fn bssid_of(&self, number: u32) -> MacAddress {
        let MacAddress([first, _, _, a, b, c]) = self.bssid;
        let address = MacAddress([first, 0, number as u8, a, b, c]);
        multi_link::link_address(address, self.link)
    }

    /// Whether a network is the open one of OWE transition mode.
    pub const fn is_open(&self, number: u32) -> bool {
        self.owe_transition && number % 2 == 1
    }

    /// Whether the beacons of a network hide its name: that with OWE in OWE transition mode.
    const fn is_hidden(&self, number: u32) -> bool {
        self.owe_transition && !self.is_open(number)
    }

    /// Name of network `number`: all names have one length.
    fn ssid(&self, number: u32) -> Vec<u8> {
        let mut name = self.links.first().map_or(SSID, |l| &l.ssid).to_vec();
        if number > 0 {
            let digits = number.to_string();
            let kept = name.len().saturating_sub(digits.len());
            name.truncate(kept);
            name.extend_from_slice(digits.as_bytes());
        }
        name
    }

    /// Elements of a beacon or of a probe response.
    fn elements(&self, number: u32, said: Said) -> Vec<u8> {
        let beacon = matches!(said, Said::InBeacon(_));
        let mut out = Vec::new();
        let phy = &self.set_up;
        let high_throughput = self.standard.descriptor().mcs.is_some();
        let hidden = said != Said::ToOne && self.is_hidden(number);
        let name = if hidden {
            Vec::new()
        } else {
            self.ssid(number)
        };
        emit(&mut out, id::SSID, &name);
        let (first, further) = self.rates.split_at(self.rates.len().min(8));
        emit(&mut out, id::SUPPORTED_RATES, first);
        if phy.at_2_4ghz {
            emit(&mut out, id::DSSS_PARAMETER, &[phy.channel]);
        }
        if beacon {
            capability::traffic_indication(&mut out);
        }
        capability::country(&mut out, *b"DE ", channels(phy));
        if phy.at_2_4ghz && self.standard != Standard::B {
            emit(&mut out, id::ERP, &[0]);
        }
        if !further.is_empty() {
            emit(&mut out, id::EXTENDED_RATES, further);
        }
        let security = if self.is_open(number) {
            Offered::default()
        } else {
            offered(&self.links)
        };
        out.extend_from_slice(&security.rsn);
        if high_throughput && !phy.at_6ghz {
            capability::ht_capabilities(&mut out, phy);
        }
        out.extend_from_slice(&security.mobility);
        if high_throughput && !phy.at_6ghz {
            capability::ht_operation(&mut out, phy);
        }
        if phy.at_6ghz {
            self.report_neighbors(&mut out);
        }
        let multiple = said != Said::ToOne && self.networks.1 && self.networks.0 > 1;
        if multiple {
            let profiles: Vec<Vec<u8>> = (1..self.networks.0).map(|n| self.profile(n)).collect();
            capability::multiple_bssid(&mut out, &profiles);
        }
        // Older generations have the element where it says something.
        if high_throughput || multiple || self.integrity.is_some() {
            self.extended_capabilities(&mut out, multiple);
        }
        if self.standard >= Standard::Ac && !phy.at_2_4ghz && !phy.at_6ghz {
            capability::vht_capabilities(&mut out, phy);
            capability::vht_operation(&mut out, phy);
        }
        if self.standard >= Standard::Ac && !phy.at_2_4ghz {
            capability::transmit_power(&mut out, phy, 20);
        }
        if !phy.at_6ghz {
            self.report_neighbors(&mut out);
        }
        out.extend_from_slice(&security.extension);
        if self.standard >= Standard::Ax {
            capability::he_capabilities(&mut out, phy);
            capability::he_operation(&mut out, phy);
            if let Said::InBeacon(now) = said {
                self.announce_schedules(&mut out, now);
            }
            capability::mu_edca(&mut out);
            if phy.at_6ghz {
                capability::he_6ghz_capabilities(&mut out);
            }
        }
        if self.standard >= Standard::Be {
            capability::eht_operation(&mut out, phy);
            let links = self.reported.saturating_add(1);
            let mld = multi_link::mld_address(self.bssid);
            capability::basic_multi_link(&mut out, mld, self.link, links);
            capability::eht_capabilities(&mut out, phy);
        }
        out.extend_from_slice(&security.wpa);
        if self.edca {
            capability::wmm(&mut out, false);
        }
        if self.owe_transition {
            let other = number ^ 1;
            rsne::emit_owe_transition(self.bssid_of(other), &self.ssid(other), &mut out);
        }
        out.extend(self.overriding_elements());
        out
    }

    fn announce_schedules(&self, out: &mut Vec<u8>, now_us: u64) {
        let numbered = self.schedules.iter().zip(1..);
        let announced: Vec<_> = numbered
            .map(|(one, id)| one.announced(id, now_us))
            .collect();
        target_wake_time::broadcast(out, &announced);
    }

    /// Elements of a network that has no beacon of its own: those that differ from the first one's.
    fn profile(&self, number: u32) -> Vec<u8> {
        let mut out = Vec::new();
        emit(&mut out, id::SSID, &self.ssid(number));
        if self.standard >= Standard::Be {
            let mld = multi_link::mld_address(self.bssid_of(number));
            let links = self.reported.saturating_add(1);
            capability::basic_multi_link(&mut out, mld, self.link, links);
        }
        out
    }

    fn report_neighbors(&self, out: &mut Vec<u8>) {
        let short_ssid = crc32fast::hash(&self.ssid(0));
        let others = (0..=self.reported).filter(|id| *id != self.link);
        let place = |nth: u8| match (self.set_up.at_2_4ghz, self.set_up.at_6ghz, nth) {
            (true, _, 1) | (_, true, 1) => [CLASS_5, 36],
            (true, _, _) => [CLASS_6, 1],
            (_, true, _) | (_, _, 1) => [CLASS_2_4, 1],
            _ => [CLASS_6, 1],
        };
        let reported: Vec<Reported> = others
            .zip(1..=self.reported)
            .map(|(link, nth)| Reported {
                class_and_channel: match self.links_on_air.get(usize::from(link)) {
                    Some(known) => *known,
                    None => place(nth),
                },
                bssid: multi_link::link_address(self.bssid, link),
                short_ssid,
                link: (self.standard >= Standard::Be).then_some(link),
            })
            .collect();
        capability::reduced_neighbors(out, &reported);
    }

    fn extended_capabilities(&self, out: &mut Vec<u8>, multiple: bool) {
        let mut bits = Vec::new();
        if multiple {
            bits.push(MULTIPLE_BSSID);
        }
        if self.integrity.is_some() {
            bits.push(BEACON_PROTECTION);
        }
        extended_capabilities(out, self.standard, false, &bits);
    }
}

/// Frame by which an access point says what its networks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// A beacon, at an instant of the access point's clock, us.
    InBeacon(u64),
    /// The response to a request for all networks.
    ToAll,
    /// The response to a request for one network.
    ToOne,
}

/// Header of a management frame with a BSSID and a sequence number.
fn management(
    subtype: u8,
    Ends { from, to }: Ends<MacAddress>,
    bssid: MacAddress,
    sequence: u32,
) -> Vec<u8> {
    let mut out = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Management, subtype),
        duration: 0,
        address1: to,
        address2: from,
        address3: bssid,
        sequence_control: (sequence << 4) as u16,
        address4: None,
        qos_control: None,
        ht_control: None,
    }
    .emit(&mut out);
    out
}

/// Operating class and channel of the links of an access point by ID, where stations join over several.
fn links_on_air(scenario: &Scenario, access_point: Option<&Node>) -> Vec<[u8; 2]> {
    let several = |node: &&Node| !node.multi_link.is_empty() && !scenario.associations.is_empty();
    let device = access_point.filter(several);
    let names = device.into_iter().flat_map(Node::bsss);
    let bsss = names.filter_map(|name| scenario.bss.iter().find(|b| b.name == name));
    bsss.map(|bss| {
        let class = match mac::band(bss) {
            Band::Ghz2_4 => CLASS_2_4,
            Band::Ghz5 => CLASS_5,
            Band::Ghz6 => CLASS_6,
        };
        [class, channel_number(channel_mhz(bss))]
    })
    .collect()
}

/// Security that an access point announces.
#[derive(Debug, Default)]
struct AnnouncedSecurity {
    /// Links that one element offers.
    links: Vec<Link>,
    /// Those that override it.
    overriding: Vec<Link>,
    /// Whether beacons are protected.
    protects_beacons: bool,
}

fn security(scenario: &Scenario, bss: &Bss) -> AnnouncedSecurity {
    let of = |specs: &[LinkSpec], options: &Options| -> Vec<Link> {
        let links = specs
            .iter()
            .filter_map(|spec| announced_link(spec, options).ok());
        links.collect()
    };
    if let Some(announced) = &bss.security {
        let options = Options {
            beacon_protection: announced.beacon_protection,
            operating_channel_validation: announced.operating_channel_validation,
            ..Options::default()
        };
        return AnnouncedSecurity {
            links: of(&announced.links, &options),
            overriding: of(&announced.overriding, &options),
            protects_beacons: announced.beacon_protection,
        };
    }
    let belongs = |station: &str| {
        let node = scenario.nodes.iter().find(|n| n.name == station);
        node.is_some_and(|n| n.is_in(&bss.name) && n.role == Role::Station)
    };
    let first = scenario.associations.iter().find(|a| belongs(&a.station));
    let terms = first.map(|a| (&a.policy, &a.options)).or_else(|| {
        let next = scenario.handovers.iter().find(|h| h.bss == bss.name)?;
        Some((&next.association.policy, &next.association.options))
    });
    terms.map_or_else(AnnouncedSecurity::default, |(policy, options)| {
        AnnouncedSecurity {
            links: of(std::slice::from_ref(&policy.link), options),
            overriding: Vec::new(),
            protects_beacons: options.beacon_protection,
        }
    })
}

fn set_up(bss: &Bss, rate: Rate, standard: Standard) -> PhySetUp {
    let band = mac::band(bss);
    let streams = match rate {
        Rate::Fixed { .. } => 1,
        Rate::FixedMcs { mcs, streams } if standard == Standard::N => streams.max(mcs / 8 + 1),
        Rate::FixedMcs { streams, .. } | Rate::Aarf { streams } | Rate::Minstrel { streams } => {
            streams
        }
    };
    PhySetUp {
        width_mhz: bss.width_mhz,
        streams: streams.clamp(1, 8),
        channel: channel_number(channel_mhz(bss)),
        at_2_4ghz: band == Band::Ghz2_4,
        at_6ghz: band == Band::Ghz6,
        ldpc: bss.coding == Coding::Ldpc,
        broadcast_twt: false,
        station: false,
    }
}

/// Channels of a band in Germany: first, number, power in dBm (ETSI EN 300 328, 301 893, 303 687).
const fn channels(phy: &PhySetUp) -> &'static [[u8; 3]] {
    if phy.at_2_4ghz {
        &[[1, 13, 20]]
    } else if phy.at_6ghz {
        // An operating triplet (9.4.2.8), then the channels of class 131.
        &[[201, 131, 0], [1, 24, 23]]
    } else {
        &[[36, 8, 23], [100, 11, 30]]
    }
}

fn emit(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    Element { id, body }.emit(out);
}

/// Sets DTIM count and period of a beacon without FCS, and whether frames to groups follow it (9.4.2.5).
pub(crate) fn indicate(beacon: &mut [u8], tim: Indication) {
    // Header 24, fixed fields 12.
    let mut at = 36;
    while let [number, length, ..] = *beacon.get(at..).unwrap_or_default() {
        if number == id::TRAFFIC_INDICATION
            && let Some([_, _, counted, spaced, bitmap, ..]) = beacon.get_mut(at..)
        {
            (*counted, *spaced) = (tim.count, tim.period);
            *bitmap = u8::from(tim.waits && tim.count == 0);
            return;
        }
        at += 2 + usize::from(length);
    }
}

/// Sets the bits of stations for which frames wait in the bitmap of a beacon without FCS; octets before the
/// first even one with a bit, and after the last one with a bit, are left out (9.4.2.5).
pub(crate) fn list(beacon: &mut Vec<u8>, numbers: impl Iterator<Item = u16>) {
    let numbers: Vec<usize> = numbers.map(usize::from).collect();
    let (Some(first), Some(last)) = (numbers.iter().min(), numbers.iter().max()) else {
        return;
    };
    let (first, last) = (first / 16 * 2, last / 8);
    let mut bitmap = vec![0; last - first + 1];
    for number in &numbers {
        bitmap[number / 8 - first] |= 1 << (number % 8);
    }
    let mut at = 36;
    while let [number, length, ..] = *beacon.get(at..).unwrap_or_default() {
        let next = at + 2 + usize::from(length);
        if number == id::TRAFFIC_INDICATION && length >= 4 && next <= beacon.len() {
            beacon[at + 1] = 3 + bitmap.len() as u8;
            beacon[at + 4] |= first as u8;
            beacon.splice(at + 5..next, bitmap);
            return;
        }
        at = next;
    }
}

/// Cuts elements to `room` octets, or fills them up with vendor-specific ones.
fn fit(elements: &mut Vec<u8>, room: usize) {
    let mut kept = 0;
    while let Some(length) = elements.get(kept + 1) {
        let next = kept + 2 + usize::from(*length);
        if next > room {
            break;
        }
        kept = next;
    }
    elements.truncate(kept);
    while room > elements.len() {
        let left = room - elements.len();
        // Two octets that no element fits into stay unsent; three are the shortest name.
        if left < 5 {
            break;
        }
        let body = (left - 2).min(255);
        // No element may be left with a rest that is too short for the next one.
        let body = if (1..5).contains(&(left - 2 - body)) {
            body - 5
        } else {
            body
        };
        let mut filling = vec![0; body];
        // The first octet of a locally administered OUI has bit 1 set.
        filling[..3].copy_from_slice(&[0x02, 0, 0]);
        emit(elements, id::VENDOR, &filling);
    }
}

#[cfg(test)]
mod tests;
