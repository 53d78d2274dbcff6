//! Stations, targets and old access points against each other.

use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::Outcome;
use crate::link::{ManagementProtection, MobilityDomain};
use airtoll_security::akm::AkmHash;
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;
use airtoll_wire::MacAddress;
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
