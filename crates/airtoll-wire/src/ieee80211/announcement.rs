//! Announcement of a BSS in a beacon or probe response: takes the fixed fields and the
//! elements, gives the network, its security, its rates, its channel and its timing.
//!
//! Sources: IEEE 802.11-2020 clauses 9.4.1.4 (capability information), 9.4.2.3 (rates), 9.4.2.4
//! (DSSS parameter), 9.4.2.6 (TIM), 9.4.2.8 (country), 9.4.2.27 (BSS load). Width and channel are
//! those of `operation`. Never judges what is announced.

use super::element::{Elements, extension, id};
use super::ft::MdeRepr;
use super::operation;
use super::rsne::{self, OUI_WFA, RsnRepr, WFA_RSNE_OVERRIDE, WFA_RSNE_OVERRIDE_2};
use super::suite::OUI_WPA;

/// Capability bit: data frames are encrypted.
const PRIVACY: u16 = 0x0010;
/// Capability bit: stations may use short preambles.
const SHORT_PREAMBLE: u16 = 0x0020;
/// Rates of DSSS and CCK in 500 kb/s; all others are OFDM's.
const DSSS_RATES: [u8; 4] = [2, 4, 11, 22];
/// Membership selectors of the BSS are among the rates and are none (table 9-92; 121 is EHT's).
const FIRST_SELECTOR: u8 = 120;

/// Newest generation of the PHY that the elements state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AnnouncedPhy {
    /// Rates of DSSS and CCK alone.
    B,
    /// OFDM's rates at 5 GHz.
    A,
    /// OFDM's rates at 2.4 GHz.
    G,
    /// HT.
    N,
    /// VHT.
    Ac,
    /// HE.
    Ax,
    /// EHT.
    Be,
}

impl AnnouncedPhy {
    /// Its name in studies.
    pub const fn name(self) -> &'static str {
        match self {
            Self::B => "802.11b",
            Self::A => "802.11a",
            Self::G => "802.11g",
            Self::N => "802.11n",
            Self::Ac => "802.11ac",
            Self::Ax => "802.11ax",
            Self::Be => "802.11be",
        }
    }
}

/// The announcement of a BSS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Announcement {
    /// Name of the network; empty where the beacon hides it.
    pub ssid: Vec<u8>,
    /// Beacon interval, time units of 1024 us.
    pub interval_tu: u16,
    /// Data frames are encrypted.
    pub privacy: bool,
    /// Short preambles are allowed.
    pub short_preamble: bool,
    /// Rates in 500 kb/s, basic ones with bit 7.
    pub rates: Vec<u8>,
    /// Newest generation of the PHY.
    pub phy: AnnouncedPhy,
    /// Number of the primary channel, where an element states it.
    pub channel: Option<u8>,
    /// Channel width, MHz.
    pub width_mhz: u16,
    /// Beacons from one DTIM to the next; probe responses do not state it.
    pub dtim_period: Option<u8>,
    /// Two letters of the regulatory domain.
    pub country: Option<[u8; 2]>,
    /// RSN element.
    pub rsn: Option<RsnRepr>,
    /// WPA element.
    pub wpa: Option<RsnRepr>,
    /// Wi-Fi Protected Setup is on.
    pub wps: bool,
    /// An OWE Transition Mode element names another BSS.
    pub owe_transition: bool,
    /// RSNE Override element.
    pub rsn_override: Option<RsnRepr>,
    /// RSNE Override 2 element.
    pub rsn_override_2: Option<RsnRepr>,
    /// An element overrides the RSN element for newer stations.
    pub overriding: bool,
    /// Mobility domain (fast BSS transition).
    pub mobility_domain: Option<MdeRepr>,
    /// The BSS is at 6 GHz.
    pub at_6ghz: bool,
    /// Associated stations and channel utilization of 255, where the access point states its load.
    pub load: Option<(u16, u8)>,
    /// An element cannot be read.
    pub damaged: bool,
}

impl Announcement {
    /// Reads the announcement of a BSS at this frequency; without one the channel number tells the
    /// band.
    pub fn parse(
        capability: u16,
        interval_tu: u16,
        elements: &Elements<'_>,
        frequency_mhz: Option<u16>,
    ) -> Self {
        let mut damaged = elements.is_damaged();
        let mut element = |body: Option<&[u8]>, wpa: bool| {
            let parsed = body.map(|body| {
                if wpa {
                    RsnRepr::parse_wpa(body)
                } else {
                    RsnRepr::parse(body)
                }
            });
            damaged |= matches!(parsed, Some(Err(_)));
            parsed.and_then(Result::ok)
        };
        let rsn = element(elements.find_id(id::RSN), false);
        let wpa = element(elements.find_vendor(OUI_WPA, 1), true);
        let rsn_override = element(elements.find_vendor(OUI_WFA, WFA_RSNE_OVERRIDE), false);
        let rsn_override_2 = element(elements.find_vendor(OUI_WFA, WFA_RSNE_OVERRIDE_2), false);
        let mobility_domain = elements.find_id(id::MOBILITY_DOMAIN).map(MdeRepr::parse);
        damaged |= matches!(mobility_domain, Some(Err(_)));
        let ssid = elements.find_id(id::SSID).unwrap_or(&[]);
        let rates = rates(elements);
        let channel = operation::primary_channel(elements);
        let at_2_4ghz = match (frequency_mhz, channel) {
            (Some(mhz), _) => mhz < 3_000,
            (None, Some(number)) => number <= 14,
            (None, None) => rates.iter().any(|rate| DSSS_RATES.contains(&(rate & 0x7f))),
        };
        Self {
            // A hidden network has no name, or octets of zero instead (not of the standard).
            ssid: if ssid.iter().all(|octet| *octet == 0) {
                Vec::new()
            } else {
                ssid.to_vec()
            },
            interval_tu,
            privacy: capability & PRIVACY != 0,
            short_preamble: capability & SHORT_PREAMBLE != 0,
            phy: phy(elements, &rates, at_2_4ghz),
            rates,
            channel,
            width_mhz: operation::width_mhz(elements),
            dtim_period: elements
                .find_id(id::TRAFFIC_INDICATION)
                .and_then(|body| body.get(1).copied()),
            country: elements
                .find_id(id::COUNTRY)
                .and_then(|body| body.first_chunk().copied())
                .filter(|letters: &[u8; 2]| letters.iter().all(u8::is_ascii_uppercase)),
            rsn,
            wpa,
            wps: elements.find_vendor(OUI_WPA, 4).is_some(),
            owe_transition: rsne::has_owe_transition(elements),
            rsn_override,
            rsn_override_2,
            overriding: rsne::has_override(elements),
            mobility_domain: mobility_domain.and_then(Result::ok),
            at_6ghz: elements
                .find_extension(extension::HE_6GHZ_CAPABILITIES)
                .is_some(),
            load: elements.find_id(id::BSS_LOAD).and_then(|body| match body {
                [low, high, utilization, ..] => {
                    Some((u16::from_le_bytes([*low, *high]), *utilization))
                }
                _ => None,
            }),
            damaged,
        }
    }
}

fn rates(elements: &Elements<'_>) -> Vec<u8> {
    let listed = [id::SUPPORTED_RATES, id::EXTENDED_RATES]
        .map(|wanted| elements.find_id(wanted).unwrap_or(&[]));
    let mut all = listed.concat();
    all.retain(|rate| (1..FIRST_SELECTOR).contains(&(rate & 0x7f)));
    all
}

fn phy(elements: &Elements<'_>, rates: &[u8], at_2_4ghz: bool) -> AnnouncedPhy {
    if elements
        .find_extension(extension::EHT_CAPABILITIES)
        .is_some()
    {
        return AnnouncedPhy::Be;
    }
    if elements
        .find_extension(extension::HE_CAPABILITIES)
        .is_some()
    {
        return AnnouncedPhy::Ax;
    }
    // VHT is not defined at 2.4 GHz, where some access points announce it all the same.
    if !at_2_4ghz && elements.find_id(id::VHT_CAPABILITIES).is_some() {
        return AnnouncedPhy::Ac;
    }
    if elements.find_id(id::HT_CAPABILITIES).is_some() {
        return AnnouncedPhy::N;
    }
    match (
        rates.iter().all(|rate| DSSS_RATES.contains(&(rate & 0x7f))),
        at_2_4ghz,
    ) {
        (true, _) => AnnouncedPhy::B,
        (false, true) => AnnouncedPhy::G,
        (false, false) => AnnouncedPhy::A,
    }
}

#[cfg(test)]
mod tests {
    use super::super::capability::{self, PhySetUp};
    use super::super::element::Element;
    use super::super::suite::{AkmSelector, CipherSelector};
    use super::*;
    use proptest::prelude::*;

    fn element(id: u8, body: &[u8], out: &mut Vec<u8>) {
        Element { id, body }.emit(out);
    }

    fn read(octets: &[u8], mhz: u16) -> Announcement {
        Announcement::parse(0x0431, 100, &Elements::new(octets), Some(mhz))
    }

    fn set_up(width_mhz: u16, channel: u8, (at_2_4ghz, at_6ghz): (bool, bool)) -> PhySetUp {
        PhySetUp {
            width_mhz,
            streams: 2,
            channel,
            at_2_4ghz,
            at_6ghz,
            ldpc: false,
            broadcast_twt: false,
            station: false,
        }
    }

    #[test]
    fn an_old_router() {
        let mut out = Vec::new();
        element(id::SSID, b"home", &mut out);
        element(id::SUPPORTED_RATES, &[0x82, 0x84, 0x8b, 0x96], &mut out);
        element(id::DSSS_PARAMETER, &[6], &mut out);
        element(id::TRAFFIC_INDICATION, &[0, 3, 0, 0], &mut out);
        capability::country(&mut out, *b"US ", &[[1, 11, 20]]);
        RsnRepr::single(
            CipherSelector([0, 0x50, 0xf2, 2]),
            CipherSelector([0, 0x50, 0xf2, 2]),
            AkmSelector([0, 0x50, 0xf2, 2]),
        )
        .emit_wpa_element(&mut out);
        element(id::VENDOR, &[0, 0x50, 0xf2, 4, 1], &mut out);
        let seen = read(&out, 2_437);
        assert_eq!(
            (seen.ssid.as_slice(), seen.phy, seen.channel, seen.width_mhz),
            (&b"home"[..], AnnouncedPhy::B, Some(6), 20)
        );
        assert_eq!((seen.dtim_period, seen.country), (Some(3), Some(*b"US")));
        assert!(
            seen.privacy && seen.short_preamble && seen.wps && seen.rsn.is_none() && !seen.damaged
        );
        assert_eq!(seen.wpa.unwrap().akms, [AkmSelector([0, 0x50, 0xf2, 2])]);
    }

    #[test]
    fn generations_and_widths_of_our_own_elements() {
        let ofdm = [0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c];
        for (mhz, channel, band, widths) in [
            (2_412, 1, (true, false), &[20, 40][..]),
            (5_180, 36, (false, false), &[20, 40, 80, 160]),
            (5_955, 1, (false, true), &[20, 40, 80, 160, 320]),
        ] {
            for width in widths {
                let phy = set_up(*width, channel, band);
                let mut out = Vec::new();
                element(id::SUPPORTED_RATES, &ofdm, &mut out);
                let legacy = if band.0 {
                    AnnouncedPhy::G
                } else {
                    AnnouncedPhy::A
                };
                assert_eq!(read(&out, mhz).phy, legacy);
                if !band.1 {
                    capability::ht_capabilities(&mut out, &phy);
                    capability::ht_operation(&mut out, &phy);
                    assert_eq!(read(&out, mhz).phy, AnnouncedPhy::N);
                    assert_eq!(read(&out, mhz).width_mhz, (*width).min(40));
                    assert_eq!(read(&out, mhz).channel, Some(channel));
                }
                if !band.0 && !band.1 {
                    capability::vht_capabilities(&mut out, &phy);
                    capability::vht_operation(&mut out, &phy);
                    assert_eq!(
                        (read(&out, mhz).phy, read(&out, mhz).width_mhz),
                        (AnnouncedPhy::Ac, *width)
                    );
                }
                capability::he_capabilities(&mut out, &phy);
                capability::he_operation(&mut out, &phy);
                assert_eq!(
                    (read(&out, mhz).phy, read(&out, mhz).width_mhz),
                    (AnnouncedPhy::Ax, (*width).min(160))
                );
                assert_eq!(read(&out, mhz).channel, Some(channel));
                capability::eht_operation(&mut out, &phy);
                capability::eht_capabilities(&mut out, &phy);
                assert_eq!(
                    (read(&out, mhz).phy, read(&out, mhz).width_mhz),
                    (AnnouncedPhy::Be, *width)
                );
            }
        }
    }

    #[test]
    fn names_that_are_hidden_and_networks_of_today() {
        let mut out = Vec::new();
        element(id::SSID, &[0; 7], &mut out);
        rsne::emit_owe_transition(crate::MacAddress([2, 0, 0, 0, 0, 1]), b"open", &mut out);
        element(id::MOBILITY_DOMAIN, &[1, 2, 0], &mut out);
        element(id::BSS_LOAD, &[3, 0, 128, 0, 0], &mut out);
        let seen = read(&out, 2_412);
        assert!(
            seen.ssid.is_empty()
                && seen.owe_transition
                && seen.mobility_domain.is_some()
                && !seen.overriding
        );
        assert_eq!(seen.load, Some((3, 128)));
        let mut rsn = Vec::new();
        let suite = CipherSelector([0, 0x0f, 0xac, 9]);
        RsnRepr::single(suite, suite, AkmSelector([0, 0x0f, 0xac, 24])).emit_element(&mut rsn);
        rsne::emit_override(&rsn, 1, &mut out);
        assert!(read(&out, 2_412).overriding);
        let akms = read(&out, 2_412).rsn_override_2.map(|offer| offer.akms);
        assert_eq!(akms, Some(vec![AkmSelector([0, 0x0f, 0xac, 24])]));
        element(id::RSN, &[1], &mut out);
        assert!(read(&out, 2_412).damaged);
    }

    proptest! {
        #[test]
        fn any_octets_are_read(octets in proptest::collection::vec(any::<u8>(), 0..300), capability: u16, mhz: Option<u16>) {
            let _ = Announcement::parse(capability, 100, &Elements::new(&octets), mhz);
        }
    }
}
