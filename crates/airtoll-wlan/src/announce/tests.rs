//! Beacons have the elements of their generation, band and policy, and the length that their
//! octets have.

use airtoll_wire::ieee80211::element::extension;
use airtoll_wire::ieee80211::{Elements, Management};

use super::*;

const OWN: MacAddress = MacAddress([2, 0, 0, 0, 0, 1]);

fn announced(bss: &str) -> Announcement {
    let scenario = format!(
        r#"{{"duration_s": 1.0, "bss": [{{"name": "cell", {bss}}}],
            "nodes": [{{"name": "ap", "role": "access_point", "bss": "cell"}}], "flows": []}}"#
    );
    let scenario: Scenario = serde_json::from_str(&scenario).unwrap();
    Announcement::of(&scenario, &scenario.bss[0], OWN)
}

fn link(cipher: &str, akm: &str, pmf: &str) -> String {
    format!(
        r#"{{"cipher": "{cipher}", "group_cipher": "{cipher}", "akm": "{akm}", "pmf": "{pmf}"}}"#
    )
}

fn bss(standard: &str, more: &str, links: &str, protected: bool) -> String {
    let rate = match standard {
        "802.11b" => r#"{"control": "fixed", "mbps": 11}"#,
        "802.11a" | "802.11g" => r#"{"control": "fixed", "mbps": 54}"#,
        _ => r#"{"control": "fixed_mcs", "mcs": 7, "streams": 2}"#,
    };
    let security = if links.is_empty() {
        String::new()
    } else {
        format!(r#", "security": {{"links": [{links}], "beacon_protection": {protected}}}"#)
    };
    format!(r#""standard": "{standard}", "rate": {rate} {security} {more}"#)
}

/// Element identifiers and extensions of a beacon.
fn ids(announcement: &Announcement, number: u32) -> Vec<(u8, Option<u8>)> {
    let frame = announcement.beacon(number, 1, 7);
    let body = Management::parse(management_subtype::BEACON, &frame[24..]).unwrap();
    let Management::Beacon { elements, .. } = body else {
        panic!("no beacon");
    };
    assert!(!elements.is_damaged());
    elements
        .map(|e| (e.id, e.extension().map(|(number, _)| number)))
        .collect()
}

#[test]
fn generations_add_their_elements() {
    let mut before = 0;
    for (standard, more, wanted) in [
        ("802.11a", "", (id::COUNTRY, None)),
        ("802.11n", "", (id::HT_OPERATION, None)),
        (
            "802.11ac",
            r#", "width_mhz": 80"#,
            (id::VHT_OPERATION, None),
        ),
        (
            "802.11ax",
            r#", "width_mhz": 80"#,
            (id::EXTENSION, Some(extension::HE_OPERATION)),
        ),
        (
            "802.11be",
            r#", "width_mhz": 80"#,
            (id::EXTENSION, Some(extension::MULTI_LINK)),
        ),
    ] {
        let announcement = announced(&bss(standard, more, "", false));
        let ids = ids(&announcement, 0);
        assert!(ids.contains(&wanted), "{standard}: {ids:?}");
        let octets = announcement.beacon_octets(0);
        assert_eq!(octets as usize, announcement.beacon(0, 1, 7).len() + 4);
        assert!(octets > before, "{standard}: {octets}");
        before = octets;
    }
}

#[test]
fn every_generation_at_2_4_ghz_supports_the_rates_of_802_11b() {
    let rates = |standard: &str, more: &str| {
        let frame = announced(&bss(standard, more, "", false)).beacon(0, 0, 0);
        let elements = Elements::new(&frame[36..]);
        let found =
            [id::SUPPORTED_RATES, id::EXTENDED_RATES].map(|id| elements.clone().find_id(id));
        found
            .into_iter()
            .flatten()
            .flatten()
            .copied()
            .collect::<Vec<u8>>()
    };
    let at_5_ghz = rates("802.11a", "");
    let of_g = rates("802.11g", "");
    assert_eq!(of_g.len(), 12);
    assert_eq!(of_g[..4], [2, 4, 11, 22]);
    for standard in ["802.11n", "802.11ax", "802.11be"] {
        assert_eq!(rates(standard, r#", "band": "2.4ghz""#), of_g, "{standard}");
        assert_eq!(
            rates(standard, r#", "band": "5ghz""#),
            at_5_ghz,
            "{standard}"
        );
        let made = beside_of(
            standard,
            r#", "band": "2.4ghz""#,
            "ccmp-128",
            &link("ccmp-128", "sae", "required"),
            "",
        );
        assert_eq!(made.station.rates[2..6], [2, 4, 11, 22], "{standard}");
        assert_eq!(
            (made.station.rates.len(), made.access_point.rates.len()),
            (16, 16)
        );
    }
}

#[test]
fn extended_capabilities_are_announced_where_they_say_something() {
    let of = |standard: &str, protected| {
        let sae = link("ccmp-128", "sae", "required");
        let frame = announced(&bss(standard, "", &sae, protected)).beacon(0, 0, 0);
        let body = Elements::new(&frame[36..]).find_id(id::EXTENDED_CAPABILITIES);
        body.map(|body| {
            (
                body.len(),
                body.get(10).is_some_and(|octet| octet & 0x10 != 0),
            )
        })
    };
    assert_eq!(of("802.11a", false), None);
    assert_eq!(of("802.11a", true), Some((11, true)));
    assert_eq!(of("802.11n", false), Some((8, false)));
    assert_eq!(of("802.11n", true), Some((11, true)));
}

#[test]
fn a_beacon_at_6_ghz_has_neither_ht_nor_vht() {
    let six = r#", "width_mhz": 160, "band": "6ghz""#;
    let ids = ids(&announced(&bss("802.11be", six, "", false)), 0);
    for absent in [id::HT_CAPABILITIES, id::HT_OPERATION, id::VHT_CAPABILITIES] {
        assert!(!ids.iter().any(|(id, _)| *id == absent), "{ids:?}");
    }
    assert!(ids.contains(&(id::EXTENSION, Some(extension::HE_6GHZ_CAPABILITIES))));
}

#[test]
fn policies_have_beacons_of_their_lengths() {
    let of =
        |links: &str, protected| announced(&bss("802.11a", "", links, protected)).beacon_octets(0);
    let open = of("", false);
    // RSNE: 2 + 20 octets.
    let wpa2 = of(&link("ccmp-128", "psk", "off"), false);
    assert_eq!(wpa2, open + 22);
    // With PMF a PMKID count and a group management suite, and the RSNXE.
    let wpa3 = of(&link("ccmp-128", "sae", "required"), false);
    assert_eq!(wpa3, wpa2 + 6 + 3);
    // MME: 2 + 2 + 6 + 8 octets with CMAC, 16 with GMAC-256; extended capabilities up to bit 84.
    let protected = of(&link("ccmp-128", "sae", "required"), true);
    assert_eq!(protected, wpa3 + 18 + 13);
    let gcmp = of(&link("gcmp-256", "sae-ext-key", "required"), true);
    assert_eq!(gcmp, wpa3 + 26 + 13);
    let transition = [
        link("ccmp-128", "sae", "optional"),
        link("ccmp-128", "psk", "off"),
    ];
    assert_eq!(of(&transition.join(","), false), wpa3 + 4);
}

#[test]
fn networks_have_beacons_or_profiles_of_their_own() {
    let eight = |multiple: bool| {
        let more = format!(r#", "beacons": {{"ssids": 8, "multiple_bssid": {multiple}}}"#);
        announced(&bss(
            "802.11ax",
            &more,
            &link("ccmp-128", "sae", "required"),
            false,
        ))
    };
    let (apart, together) = (eight(false), eight(true));
    assert_eq!((apart.beacons(), together.beacons()), (8, 1));
    assert!(ids(&together, 0).contains(&(id::MULTIPLE_BSSID, None)));
    assert_eq!(apart.beacon(0, 0, 0).len(), apart.beacon(7, 0, 0).len());
    let all = 8 * apart.beacon_octets(0);
    assert!(together.beacon_octets(0) > apart.beacon_octets(0));
    assert!(2 * together.beacon_octets(0) < all);
}

#[test]
fn lengths_lie_where_beacons_of_access_points_were_measured() {
    // IEEE 802.11-24/1880r1 (Hedayat, November 2024): 300 to 400 octets for one BSSID before
    // 802.11be, 100 to 200 more with it. The elements of vendors are not modelled.
    let sae = link("ccmp-128", "sae", "required");
    let more = r#", "width_mhz": 80, "beacons": {"reported": 2}"#;
    let ax = announced(&bss("802.11ax", more, &sae, false)).beacon_octets(0);
    let ext = link("gcmp-256", "sae-ext-key", "required");
    let be = announced(&bss("802.11be", more, &ext, true)).beacon_octets(0);
    assert!((270..400).contains(&ax), "{ax}");
    assert!((70..200).contains(&(be - ax)), "{ax} {be}");
}

#[test]
fn a_stated_length_is_kept() {
    for octets in [90, 91, 120, 300, 360, 700] {
        let more = format!(r#", "beacons": {{"octets": {octets}}}"#);
        let announcement = announced(&bss(
            "802.11n",
            &more,
            &link("ccmp-128", "psk", "off"),
            false,
        ));
        assert_eq!(announcement.beacon_octets(0), octets);
    }
}

#[test]
fn overriding_elements_come_last() {
    let security = format!(
        r#", "security": {{"links": [{}], "overriding": [{}, {}]}}"#,
        link("ccmp-128", "psk", "off"),
        link("ccmp-128", "sae", "required"),
        link("gcmp-256", "sae-ext-key", "required"),
    );
    let announcement = announced(&bss("802.11ax", &security, "", false));
    let frame = announcement.beacon(0, 0, 0);
    let elements = Elements::new(&frame[36..]);
    let vendors: Vec<_> = elements
        .clone()
        .filter_map(|e| e.vendor())
        .filter(|(oui, _, _)| *oui == [0x50, 0x6f, 0x9a])
        .map(|(_, kind, body)| (kind, body.len()))
        .collect();
    assert_eq!(vendors, [(0x29, 26), (0x2a, 26), (0x2b, 1)]);
    // Old stations see WPA2 alone.
    assert_eq!(elements.find_id(id::RSN).map(<[u8]>::len), Some(20));
    assert_eq!(elements.find_id(id::RSN_EXTENSION), None);
}

fn beside_of(standard: &str, more: &str, cipher: &str, link: &str, station: &str) -> Announced {
    let security = format!(r#"{more}, "security": {{"links": [{link}]}}"#);
    let scenario = format!(
        r#"{{"duration_s": 1.0, "bss": [{{"name": "cell", {}}}],
            "nodes": [{{"name": "A", "role": "station", "bss": "cell", "cipher": "{cipher}" {station}}},
                      {{"name": "ap", "role": "access_point", "bss": "cell"}}], "flows": []}}"#,
        bss(standard, &security, "", false)
    );
    let scenario: Scenario = serde_json::from_str(&scenario).unwrap();
    let spec: LinkSpec = serde_json::from_str(link).unwrap();
    let link = announced_link(&spec, &Options::default()).unwrap();
    beside(
        &scenario,
        &scenario.bss[0],
        (&scenario.nodes[0], OWN),
        &link,
    )
}

/// Identifiers and extensions of the elements of one end's PHY.
fn phy_ids(phy: &PhyElements) -> Vec<(u8, Option<u8>)> {
    let all = [&phy.rates, &phy.to_vht, &phy.from_he, &phy.vendor];
    all.into_iter()
        .flat_map(|octets| {
            let elements = Elements::new(octets);
            assert!(!elements.is_damaged());
            elements.map(|e| (e.id, e.extension().map(|(number, _)| number)))
        })
        .collect()
}

#[test]
fn association_frames_have_the_elements_of_their_generation() {
    let sae = link("ccmp-128", "sae", "required");
    let of = |standard, more| beside_of(standard, more, "ccmp-128", &sae, "");
    let a = of("802.11a", "");
    assert_eq!(phy_ids(&a.station), [(id::SUPPORTED_RATES, None)]);
    let ext = |number| (id::EXTENSION, Some(number));
    let n = of("802.11n", "");
    assert_eq!(
        phy_ids(&n.station),
        [
            (id::SUPPORTED_RATES, None),
            (id::SUPPORTED_OPERATING_CLASSES, None),
            (id::HT_CAPABILITIES, None),
            (id::EXTENDED_CAPABILITIES, None),
            (id::VENDOR, None),
        ]
    );
    assert!(phy_ids(&n.access_point).contains(&(id::HT_OPERATION, None)));
    let be = of("802.11be", r#", "width_mhz": 80"#);
    for wanted in [
        (id::VHT_CAPABILITIES, None),
        ext(extension::HE_CAPABILITIES),
        ext(extension::EHT_CAPABILITIES),
    ] {
        assert!(phy_ids(&be.station).contains(&wanted));
        assert!(phy_ids(&be.access_point).contains(&wanted));
    }
    // Association on one link, without an MLD.
    assert!(!phy_ids(&be.station).contains(&ext(extension::MULTI_LINK)));
    let six = of("802.11be", r#", "width_mhz": 160, "band": "6ghz""#);
    let ids = phy_ids(&six.station);
    assert!(!ids.contains(&(id::HT_CAPABILITIES, None)));
    assert!(ids.contains(&ext(extension::HE_6GHZ_CAPABILITIES)));
}

#[test]
fn both_ends_know_the_channel_that_they_are_on() {
    let sae = link("ccmp-128", "sae", "required");
    for (standard, more, station, expected) in [
        ("802.11g", "", "", [[81, 1, 0]; 2]),
        ("802.11a", r#", "channel": 1"#, "", [[115, 40, 0]; 2]),
        ("802.11n", r#", "width_mhz": 40"#, "", [[116, 36, 0]; 2]),
        ("802.11ax", r#", "width_mhz": 160"#, "", [[129, 36, 0]; 2]),
        (
            "802.11be",
            r#", "width_mhz": 320, "band": "6ghz""#,
            "",
            [[137, 1, 0]; 2],
        ),
        // Older stations know less of the channel.
        (
            "802.11ac",
            r#", "width_mhz": 80"#,
            r#", "standard": "802.11n""#,
            [[116, 36, 0], [128, 36, 0]],
        ),
        // Above channel 9 of 2.4 GHz no class of 40 MHz has its secondary channel above.
        (
            "802.11n",
            r#", "width_mhz": 40, "band": "2.4ghz", "channel": 2"#,
            "",
            [[81, 11, 0]; 2],
        ),
    ] {
        let made = beside_of(standard, more, "ccmp-128", &sae, station).channels;
        let found = [made.station, made.access_point].map(|oci| oci.octets());
        assert_eq!(found, expected, "{standard} {more} {station}");
    }
}

#[test]
fn channel_validation_is_a_bit_of_the_rsn_element() {
    let sae = link("ccmp-128", "sae", "required");
    let psk = link("ccmp-128", "psk", "off");
    let capabilities = |links: &str, validation: bool| {
        let security = format!(
            r#", "security": {{"links": [{links}], "operating_channel_validation": {validation}}}"#
        );
        let announcement = announced(&bss("802.11a", &security, "", false));
        let frame = announcement.beacon(0, 0, 0);
        let rsn = Elements::new(&frame[36..]).find_id(id::RSN).unwrap();
        let repr = airtoll_wire::ieee80211::RsnRepr::parse(rsn).unwrap();
        (frame.len(), repr.capabilities.unwrap())
    };
    let ((length, without), (longer, with)) = (capabilities(&sae, false), capabilities(&sae, true));
    assert_eq!((without, with, longer), (0x00c0, 0x40c0, length));
    assert_eq!(capabilities(&psk, true).1, 0);
    assert_eq!(capabilities(&format!("{sae}, {psk}"), true).1, 0x4080);
}

#[test]
fn an_access_point_answers_an_older_station_in_its_generation() {
    let sae = link("ccmp-128", "sae", "required");
    let older = r#", "standard": "802.11n""#;
    let made = beside_of("802.11be", r#", "width_mhz": 80"#, "ccmp-128", &sae, older);
    for phy in [&made.station, &made.access_point] {
        let ids = phy_ids(phy);
        assert!(ids.contains(&(id::HT_CAPABILITIES, None)));
        assert!(
            !ids.iter()
                .any(|(id, _)| *id == id::EXTENSION || *id == id::VHT_CAPABILITIES)
        );
    }
    // TKIP keeps a station from HT (IEEE 802.11-2020, 12.6.1.1).
    let tkip = link("tkip", "psk", "off");
    let made = beside_of("802.11n", "", "tkip", &tkip, "");
    assert!(!phy_ids(&made.station).contains(&(id::HT_CAPABILITIES, None)));
}

#[test]
fn a_station_of_a_transition_mode_gets_the_beacon_s_element_in_message_3() {
    let sae = link("ccmp-128", "sae", "optional");
    let both = format!("{sae}, {}", link("ccmp-128", "psk", "off"));
    let security = format!(r#", "security": {{"links": [{both}]}}"#);
    let announcement = announced(&bss("802.11ax", &security, "", false));
    let spec: LinkSpec = serde_json::from_str(&sae).unwrap();
    let own = announced_link(&spec, &Options::default()).unwrap();
    let rsn = announcement.rsn_for(&own);
    let beacon = announcement.beacon(0, 0, 0);
    let said = Elements::new(&beacon[36..]).find_id(id::RSN);
    assert_eq!(Some(&rsn[2..]), said);
    assert_ne!(rsn, own.security_element(&[]));
}

#[test]
fn owe_transition_has_a_hidden_and_an_open_network() {
    let owe = link("ccmp-128", "owe", "required");
    let security = format!(r#", "security": {{"links": [{owe}], "owe_transition": true}}"#);
    let announcement = announced(&bss("802.11ax", &security, "", false));
    assert_eq!(announcement.beacons(), 2);
    let frames = [announcement.beacon(0, 0, 0), announcement.beacon(1, 0, 0)];
    let [hidden, open] = frames.each_ref().map(|frame| Elements::new(&frame[36..]));
    assert_eq!(hidden.find_id(id::SSID), Some(&[][..]));
    assert!(hidden.find_id(id::RSN).is_some());
    let name = open.find_id(id::SSID).unwrap();
    assert!(!name.is_empty());
    assert_eq!(open.find_id(id::RSN), None);
    // Each names the other one: BSSID, length of the name, name.
    let other = hidden.find_vendor([0x50, 0x6f, 0x9a], 0x1c).unwrap();
    assert_eq!(&other[..6], &frames[1][10..16]);
    assert_eq!(&other[7..], name);
    let back = open.find_vendor([0x50, 0x6f, 0x9a], 0x1c).unwrap();
    assert_eq!(&back[..6], &frames[0][10..16]);
    // The hidden one has no name, and the open one no RSN elements.
    let lengths = [0, 1].map(|number| announcement.beacon_octets(number));
    assert_eq!(
        lengths,
        frames.each_ref().map(|frame| frame.len() as u32 + 4)
    );
    let rsn = [id::RSN, id::RSN_EXTENSION].map(|one| hidden.find_id(one));
    let rsn: usize = rsn.iter().flatten().map(|body| body.len() + 2).sum();
    assert_eq!(lengths[0] as usize + name.len(), lengths[1] as usize + rsn);
    assert_eq!(announcement.open_beacon_octets(), Some(lengths[1]));
    // Bit 4 of the capability information: privacy.
    assert_eq!((frames[0][34] & 0x10, frames[1][34] & 0x10), (0x10, 0));
}

#[test]
fn a_response_is_a_beacon_without_indication_and_mic() {
    let wpa3 = link("gcmp-256", "sae", "required");
    for (standard, more) in [
        ("802.11b", ""),
        ("802.11a", ""),
        ("802.11g", r#", "beacons": {"octets": 300}"#),
        ("802.11n", r#", "band": "2.4ghz""#),
        (
            "802.11ac",
            r#", "width_mhz": 80, "beacons": {"reported": 2}"#,
        ),
        ("802.11ax", r#", "width_mhz": 80"#),
        (
            "802.11be",
            r#", "beacons": {"ssids": 3, "multiple_bssid": true}"#,
        ),
    ] {
        for (links, protected, mic) in
            [("", false, 0), (&wpa3[..], false, 0), (&wpa3[..], true, 26)]
        {
            let announcement = announced(&bss(standard, more, links, protected));
            let answering: Vec<u32> = announcement.answering().collect();
            assert_eq!(answering, [0]);
            let beacon = announcement.beacon_octets(0);
            let response = announcement.response_octets(0);
            assert_eq!(response + 6 + mic, beacon, "{standard} {protected}");
            // The same octets in the same order.
            let mut said = announcement.beacon(0, 1, 7);
            let mut at = 36;
            while said[at] != id::TRAFFIC_INDICATION {
                at += 2 + usize::from(said[at + 1]);
            }
            said.drain(at..at + 6);
            let station = MacAddress([0x0a, 0, 0, 0, 0, 5]);
            said[0] = 0x50;
            said[4..10].copy_from_slice(&station.0);
            let made = announcement.wildcard_response(0, station, (1, 7));
            assert_eq!(made, said, "{standard} {protected}");
        }
    }
}

#[test]
fn hidden_networks_answer_to_their_name_alone() {
    let owe = link("ccmp-128", "owe", "required");
    let security = format!(r#", "security": {{"links": [{owe}], "owe_transition": true}}"#);
    let beacons = r#", "beacons": {"ssids": 2}"#;
    let transition = announced(&bss("802.11ac", &format!("{beacons}{security}"), "", false));
    assert_eq!(transition.answering().collect::<Vec<_>>(), [1, 3]);
    let plain = announced(&bss("802.11ac", beacons, "", false));
    assert_eq!(plain.answering().collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn a_request_for_all_networks_has_an_empty_name() {
    let scenario = format!(
        r#"{{"duration_s": 1.0, "bss": [{{"name": "cell", {}}}],
            "nodes": [{{"name": "s", "role": "station", "bss": "cell"}}], "flows": []}}"#,
        bss("802.11n", r#", "band": "2.4ghz""#, "", false)
    );
    let scenario: Scenario = serde_json::from_str(&scenario).unwrap();
    let station = StationPhy::of(&scenario.bss[0], &scenario.nodes[0]);
    let made = station.wildcard_request(MacAddress([0x0a, 0, 0, 0, 0, 5]), 3);
    assert_eq!(made[..4], [0x40, 0, 0, 0]);
    assert_eq!(
        (&made[4..10], &made[16..22]),
        (&[0xff; 6][..], &[0xff; 6][..])
    );
    let found: Vec<u8> = Elements::new(&made[24..]).map(|e| e.id).collect();
    // Table 9-38: SSID, rates, more rates, channel, HT capabilities, extended capabilities.
    assert_eq!(found, [0, 1, 50, 3, 45, 127]);
    assert_eq!(made[24..26], [0, 0]);
}
