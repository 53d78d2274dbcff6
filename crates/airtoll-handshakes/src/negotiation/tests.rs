//! Whole policies from authentication to tunnel.

use super::*;
use crate::exchange::{Carrier, Party};
use crate::failure::{Code, Failure};
use crate::policy::MobileIp;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

fn policy(link: &str, tunnels: &str) -> PolicySpec {
    serde_json::from_str(&format!(
        r#"{{"name": "test", "link": {link}, "tunnels": {tunnels}}}"#
    ))
    .unwrap()
}

fn run(policy: PolicySpec, options: Options) -> Vec<StageRecord> {
    let rng = Box::new(ChaCha8Rng::seed_from_u64(1));
    Negotiation::new(policy, options, rng)
        .unwrap()
        .run()
        .unwrap()
        .0
}

fn generator(seed: u64) -> Box<ChaCha8Rng> {
    Box::new(ChaCha8Rng::seed_from_u64(seed))
}

fn counts(records: &[StageRecord]) -> Vec<(Stage, usize)> {
    records
        .iter()
        .map(|record| (record.stage, record.emissions.len()))
        .collect()
}

const OPEN: &str = r#"{"cipher": "open", "group_cipher": "open"}"#;
const WPA3: &str = r#"{"cipher": "ccmp-128", "group_cipher": "ccmp-128",
    "akm": "sae", "authentication": "sae", "pmf": "required"}"#;
const MD5: &str = r#"{"cipher": "wep-104", "group_cipher": "wep-104",
    "eap_method": "md5"}"#;
const TLS: &str = r#"{"cipher": "wep-104", "group_cipher": "wep-104",
    "eap_method": "tls", "dynamic_wep": true}"#;
const IPSEC: &str = r#"[{"suite": "esp-3des-sha1", "key_exchange": "ikev1"}]"#;

/// EAP-TLS with 00-0F-AC:12.
const WPA3_192: &str = r#"{"cipher": "gcmp-256", "group_cipher": "gcmp-256",
    "akm": "802.1x-suite-b-192", "eap_method": "tls", "pmf": "required"}"#;

#[test]
fn the_192_bit_mode_has_its_own_suite_curve_and_chains() {
    use crate::operation::{Curve, SignatureAlgorithm, merge};
    use crate::tls::{Chain, TlsVersion};
    for (chain, strong) in [
        (Chain::RSA_2048, SignatureAlgorithm::Rsa3072),
        (Chain::P256, SignatureAlgorithm::EcdsaP384),
    ] {
        for tls in [TlsVersion::Tls12, TlsVersion::Tls13] {
            let options = Options {
                chain,
                tls,
                ..Options::default()
            };
            let records = run(policy(WPA3_192, "[]"), options);
            assert!(
                records
                    .iter()
                    .all(|r| matches!(r.outcome, Outcome::Established(_)))
            );
            let all = records.iter().flat_map(|r| &r.emissions);
            let work = merge(all.flat_map(|e| &e.operations));
            for operation in &work {
                match *operation {
                    Operation::Sign { algorithm, .. } | Operation::Verify { algorithm, .. } => {
                        assert_eq!(algorithm, strong);
                    }
                    Operation::EcScalarMul { curve, .. } => assert_eq!(curve, Curve::P384),
                    Operation::Aes { key_bits, .. } => assert_eq!(key_bits, 256),
                    _ => {}
                }
            }
            let drawn = |curve| {
                work.iter()
                    .any(|o| matches!(o, Operation::EcScalarMul { curve: c, .. } if *c == curve))
            };
            assert!(drawn(Curve::P384));
        }
    }
}

#[test]
fn stages_follow_from_the_policy() {
    use Stage::{Association, Authentication, Eap, Keys, MobileIp as Registration, Tunnel};
    let plain = run(policy(OPEN, "[]"), Options::default());
    assert_eq!(counts(&plain), [(Authentication, 2), (Association, 2)]);
    let sae = run(policy(WPA3, "[]"), Options::default());
    assert_eq!(
        counts(&sae),
        [(Authentication, 4), (Association, 2), (Keys, 4)]
    );
    let options = Options {
        mobile_ip: MobileIp::Home,
        ..Options::default()
    };
    let hybrid = run(policy(MD5, IPSEC), options);
    assert_eq!(
        counts(&hybrid),
        [
            (Authentication, 2),
            (Association, 2),
            (Eap, 10),
            (Registration, 4),
            (Tunnel, 9)
        ]
    );
    let dynamic = run(policy(TLS, "[]"), Options::default());
    assert_eq!(
        dynamic.last().map(|r| (r.stage, r.emissions.len())),
        Some((Keys, 2))
    );
}

#[test]
fn every_keyed_policy_ends_with_a_key() {
    for (akm, method, cipher, pmf) in [
        ("wpa-psk", None, "tkip", "off"),
        ("wpa-802.1x", Some("leap"), "tkip", "off"),
        ("psk", None, "ccmp-128", "off"),
        ("ft-psk", None, "ccmp-128", "off"),
        ("ft-802.1x", Some("tls"), "ccmp-128", "off"),
        ("802.1x", Some("peap"), "ccmp-128", "off"),
        ("802.1x", Some("leap"), "ccmp-128", "off"),
        ("802.1x-sha256", Some("ttls"), "ccmp-128", "required"),
        ("802.1x-suite-b-192", Some("tls"), "gcmp-256", "required"),
        ("ft-802.1x-sha384", Some("tls"), "gcmp-256", "required"),
        ("ft-sae", None, "ccmp-128", "required"),
        ("sae-ext-key", None, "gcmp-256", "required"),
        ("ft-sae-ext-key", None, "gcmp-256", "required"),
        ("owe", None, "ccmp-128", "required"),
    ] {
        let method = method.map_or("null".to_string(), |m| format!("\"{m}\""));
        let link = format!(
            r#"{{"akm": "{akm}", "eap_method": {method}, "cipher": "{cipher}",
            "group_cipher": "{cipher}", "pmf": "{pmf}"}}"#
        );
        for cached_pmk in [false, true] {
            let options = Options {
                cached_pmk,
                ..Options::default()
            };
            let records = run(policy(&link, "[]"), options);
            let last = records.last().unwrap();
            assert_eq!(last.stage, Stage::Keys, "{akm}");
            let Outcome::Established(secrets) = &last.outcome else {
                panic!("{akm} cached {cached_pmk}: {:?}", last.outcome);
            };
            let expected = CipherSuite::from_name(cipher).unwrap().key_octets();
            assert_eq!(secrets[&SecretName::Tk].len(), expected);
        }
    }
}

#[test]
fn group_keys_are_renewed_under_both_descriptors_and_only_with_pairwise_keys() {
    for (akm, cipher, pmf) in [
        ("wpa-psk", "tkip", "off"),
        ("psk", "ccmp-128", "off"),
        ("sae", "ccmp-128", "required"),
        ("owe", "ccmp-128", "required"),
    ] {
        let link = format!(
            r#"{{"akm": "{akm}", "cipher": "{cipher}",
            "group_cipher": "{cipher}", "pmf": "{pmf}"}}"#
        );
        let spec = policy(&link, "[]");
        let mut first = Negotiation::new(spec, Options::default(), generator(1)).unwrap();
        while first
            .exchange()
            .is_some_and(|e| matches!(e.run().1, Outcome::Established(_)))
        {
            first.advance().unwrap();
        }
        let octets = CipherSuite::from_name(cipher).unwrap().key_octets();
        let keys = GroupKeys {
            gtk: vec![3; octets],
            igtk: if pmf == "off" { vec![] } else { vec![4; 16] },
            bigtk: vec![],
            key_id: 2,
        };
        let renewal = GroupRenewal {
            keys: vec![keys.clone()],
            replay_counter: 9,
        };
        let renewed = first.group_renewal(renewal, generator(2)).unwrap();
        let (records, secrets) = renewed.run().unwrap();
        assert_eq!(counts(&records), [(Stage::GroupKeys, 2)], "{akm}");
        assert_eq!(secrets[&SecretName::Gtk], keys.gtk);
        assert_eq!(
            secrets.get(&SecretName::Igtk).unwrap_or(&vec![]),
            &keys.igtk
        );
    }
    let first = Negotiation::new(policy(MD5, "[]"), Options::default(), generator(1)).unwrap();
    let renewal = GroupRenewal {
        keys: vec![GroupKeys {
            gtk: vec![3; 13],
            igtk: vec![],
            bigtk: vec![],
            key_id: 1,
        }],
        replay_counter: 0,
    };
    let refused = first.group_renewal(renewal, generator(2));
    assert!(refused.is_err_and(|problem| problem.to_string().contains("group key")));
}

#[test]
fn faults_end_in_a_named_failure() {
    let fault = |faults| Options {
        faults,
        ..Options::default()
    };
    let wrong = crate::policy::Faults {
        wrong_passphrase: true,
        ..Default::default()
    };
    let records = run(policy(WPA3, "[]"), fault(wrong));
    let expected = Failure::WrongPassphrase {
        code: Code::Status(15),
    };
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].outcome, Outcome::Failed(expected));
    let silent = crate::policy::Faults {
        silent_server: true,
        ..Default::default()
    };
    let records = run(policy(TLS, "[]"), fault(silent));
    let expected = Failure::ServerTimeout {
        code: Code::Reason(23),
    };
    assert_eq!(records.last().unwrap().outcome, Outcome::Failed(expected));
}

#[test]
fn radius_never_goes_over_the_air() {
    for record in run(policy(TLS, "[]"), Options::default()) {
        for emission in record.emissions {
            let air =
                emission.message.from == Party::Station || emission.message.to == Party::Station;
            assert_eq!(air, emission.message.carrier != Carrier::Radius);
        }
    }
}

#[test]
fn a_fast_transition_needs_what_the_first_association_left() {
    const FT_PSK: &str = r#"{"cipher": "ccmp-128", "group_cipher": "ccmp-128",
        "akm": "ft-psk", "authentication": "open", "pmf": "optional"}"#;
    let (station, old, new) = (STATION, ACCESS_POINT, MacAddress([2, 0, 0, 0, 0, 9]));
    let spec = policy(FT_PSK, "[]");
    let first = Negotiation::new(spec.clone(), Options::default(), generator(1)).unwrap();
    let (_, secrets) = first.run().unwrap();
    let roam = |secrets: Secrets| {
        let before = Transition {
            old_access_point: old,
            over_the_ds: false,
            secrets,
        };
        let spec = spec.clone();
        Negotiation::transition(spec, Options::default(), station, new, before, generator(2))
            .unwrap()
            .run()
            .unwrap()
            .0
    };
    let moved = roam(secrets.clone());
    assert_eq!(counts(&moved), [(Stage::FastTransition, 4)]);
    assert!(matches!(moved[0].outcome, Outcome::Established(_)));
    let refused = Negotiation::transition(
        policy(WPA3, "[]"),
        Options::default(),
        station,
        new,
        Transition {
            old_access_point: old,
            over_the_ds: false,
            secrets,
        },
        generator(2),
    );
    assert!(refused.is_err_and(|problem| problem.to_string().contains("FT AKM")));
}

#[test]
fn a_tunnel_that_moves_is_not_set_up_again() {
    use crate::policy::TunnelMove;
    const GCM: &str = r#"[{"suite": "esp-aes-gcm", "key_exchange": "ikev2"}]"#;
    let made = |return_routability, seed, ends| {
        let options = Options {
            mobike: true,
            return_routability,
            ..Options::default()
        };
        let made = Negotiation::new(policy(OPEN, GCM), options, generator(seed));
        let mut made = made.unwrap();
        made.set_tunnel_ends(ends);
        made
    };
    let home = Sides {
        initiator: [10, 0, 0, 1],
        responder: [10, 0, 0, 9],
    };
    let (_, secrets) = made(false, 1, home).run().unwrap();
    for (checks, messages) in [(false, 2), (true, 4)] {
        let away = Sides {
            initiator: [10, 0, 0, 2],
            ..home
        };
        let mut moved = made(checks, 2, away);
        moved.keep_tunnels(&secrets, TunnelMove::Mobike);
        let (records, after) = moved.run().unwrap();
        let last = records.last().unwrap();
        assert_eq!(
            (last.stage, last.emissions.len()),
            (Stage::TunnelMove, messages)
        );
        assert!(matches!(last.outcome, Outcome::Established(_)));
        for emission in &last.emissions {
            let (protocol, name) = crate::describe(&emission.message);
            assert_eq!((protocol, name.as_str()), ("IKEv2", "INFORMATIONAL"));
        }
        let key = SecretName::TunnelForward;
        assert_eq!(after[&key], secrets[&key]);
        assert_ne!(after[&SecretName::IkeSa], secrets[&SecretName::IkeSa]);
    }
    for (way, stages) in [
        (TunnelMove::Anew, 3),
        (TunnelMove::Roams, 2),
        (TunnelMove::Stays, 2),
    ] {
        let mut kept = made(false, 2, home);
        kept.keep_tunnels(&secrets, way);
        let (records, after) = kept.run().unwrap();
        assert_eq!(records.len(), stages);
        let key = SecretName::TunnelForward;
        assert_eq!(after[&key] == secrets[&key], way != TunnelMove::Anew);
    }
}
