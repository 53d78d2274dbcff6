//! Stations, targets and old access points against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Outcome;
use crate::link::agreed::{ManagementProtection, MobilityDomain, OperatingChannels};
use airtoll_security::akm::AkmHash;
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::OciRepr;
use proptest::prelude::*;

fn config(akm: AkmSuite, over_the_ds: bool) -> FtConfig {
    FtConfig {
        link: Link {
            ssid: b"airtoll".to_vec(),
            station: MacAddress([2, 0, 0, 0, 0, 1]),
            access_point: MacAddress([2, 0, 0, 0, 0, 3]),
            akm: Some(akm),
            hash: AkmHash::Sha256,
            pairwise: CipherSuite::Ccmp128,
            group: CipherSuite::Ccmp128,
            protection: ManagementProtection::Off,
            multi_link: None,
            beacon_protection: false,
            operating_channel_validation: false,
            hash_to_element: false,
            announced: Default::default(),
            mobility_domain: Some(MobilityDomain {
                identifier: [0xa1, 0xb2],
                r0_key_holder: b"ap.example.org".to_vec(),
                over_the_ds: true,
            }),
        },
        xxkey: vec![7; 48],
        old_access_point: MacAddress([2, 0, 0, 0, 0, 2]),
        over_the_ds,
        group_keys: None,
    }
}

fn peers(config: &FtConfig) -> Vec<Box<dyn Peer>> {
    parties(config.clone(), config.clone())
}

#[test]
fn four_frames_over_the_air_and_six_messages_over_the_ds() {
    for akm in [
        AkmSuite::FtPsk,
        AkmSuite::FtSae,
        AkmSuite::Ft8021x,
        AkmSuite::Ft8021xSha384,
    ] {
        for (over_the_ds, messages) in [(false, 4), (true, 6)] {
            let (log, outcome, exchange) = run(peers(&config(akm, over_the_ds)), 1);
            assert_eq!(log.len(), messages, "{akm:?}");
            assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
            assert_eq!(
                exchange.status(Party::Station),
                exchange.status(Party::AccessPoint)
            );
        }
    }
}

#[test]
fn another_pmk_r0_is_status_53() {
    for over_the_ds in [false, true] {
        let ours = config(AkmSuite::FtPsk, over_the_ds);
        let mut theirs = ours.clone();
        theirs.xxkey = vec![8; 48];
        let failure = Failure::WrongPassphrase {
            code: Code::Status(53),
        };
        let (_, outcome, _) = run(parties(ours, theirs), 1);
        assert_eq!(outcome, Outcome::Failed(failure));
    }
}

/// Settings with operating channel validation, of an end that believes the two ends to be here.
fn on(station: [u8; 3], access_point: [u8; 3], over_the_ds: bool) -> FtConfig {
    let mut config = config(AkmSuite::FtSae, over_the_ds);
    let [station, access_point] = [station, access_point].map(|oci| OciRepr::parse(&oci).unwrap());
    config.link.protection = ManagementProtection::Required;
    config.link.operating_channel_validation = true;
    config.link.announced.channels = OperatingChannels {
        station,
        access_point,
    };
    config
}

#[test]
fn reassociation_frames_carry_operating_channel_information() {
    for over_the_ds in [false, true] {
        let config = on([115, 36, 0], [128, 36, 0], over_the_ds);
        let (log, outcome, _) = run(peers(&config), 1);
        assert!(matches!(outcome, Outcome::Established(_)), "{outcome:?}");
        let octets = config.mic().octets();
        let mut found = Vec::new();
        for emission in &log {
            let elements = match read_management(&emission.message) {
                Some((_, Management::AssociationRequest { elements, .. })) => elements,
                Some((_, Management::AssociationResponse { elements, .. })) => elements,
                Some((_, Management::Authentication { rest, .. })) => Elements::new(rest),
                _ => continue,
            };
            let fte = elements.find_id(id::FAST_TRANSITION).unwrap();
            found.push(FteRepr::parse(fte, octets).unwrap().oci.map(<[u8]>::to_vec));
        }
        let (station, access_point) = (Some(vec![115, 36, 0]), Some(vec![128, 36, 0]));
        // The first two frames over the air have no MIC, and no OCI.
        let expected = [None, None, station, access_point];
        assert_eq!(found, expected[if over_the_ds { 2 } else { 0 }..]);
    }
}

#[test]
fn a_wrong_channel_in_a_reassociation_frame_is_a_failure_of_its_own() {
    let (wide, middle, other) = ([128, 36, 0], [116, 36, 0], [128, 40, 0]);
    let failed = |code| Some(Status::Failed(Failure::WrongChannel { code }));
    for over_the_ds in [false, true] {
        let of = |station: [u8; 3], access_point: [u8; 3]| {
            let at = |channel| on(channel, channel, over_the_ds);
            let (_, _, exchange) = run(parties(at(station), at(access_point)), 1);
            [Party::Station, Party::AccessPoint].map(|party| exchange.status(party))
        };
        // The request names another primary channel.
        let status = Code::Status(55);
        assert_eq!(of(other, wide), [failed(status), failed(status)]);
        // The response names a narrower channel than the station's.
        assert_eq!(of(wide, middle)[0], failed(Code::Reason(3)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn adversity_never_makes_ends_disagree(over_the_ds: bool, seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
        let (_, exchange) = run_adverse(peers(&config(AkmSuite::FtPsk, over_the_ds)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(over_the_ds: bool, index in 0_usize..6, octet in 0_usize..250, bit in 0_u8..8) {
        let config = config(AkmSuite::FtPsk, over_the_ds);
        let (_, exchange) = run_flipped(peers(&config), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::AccessPoint));
    }
}
