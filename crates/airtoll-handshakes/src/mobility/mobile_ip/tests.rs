//! The parties of a conversation, and the tables behind them with a time of day.

use super::peers::{HomeAgent, MobileNode};
use super::*;
use crate::adverse::{agree, run, run_adverse, run_flipped};
use crate::exchange::{Carrier, Conversation, Message, Outcome, Party, Peer};
use crate::failure::{Code, Failure};
use hex_literal::hex;
use proptest::prelude::*;
use rand_chacha::rand_core::SeedableRng;

fn config(roaming: bool) -> MobileIpConfig {
    MobileIpConfig {
        home_address: [10, 0, 1, 20],
        home_agent: [10, 0, 1, 1],
        foreign_agent: roaming.then_some([10, 0, 2, 1]),
        listens: false,
        reverse_tunnel: true,
        lifetime_s: 300,
        spi: 1000,
        key: [7; 16],
    }
}

#[test]
fn four_messages_at_home_and_four_on_the_air_abroad() {
    let (log, outcome, _) = run(parties(&config(false)), 1);
    assert_eq!(log.len(), 4);
    assert!(matches!(outcome, Outcome::Established(_)));
    let (log, outcome, exchange) = run(parties(&config(true)), 1);
    assert_eq!(log.len(), 6);
    let air = |e: &&crate::exchange::Emission| {
        e.message.from == Party::Station || e.message.to == Party::Station
    };
    assert_eq!(log.iter().filter(air).count(), 4);
    assert!(matches!(outcome, Outcome::Established(_)));
    assert!(agree(&exchange, Party::Station, Party::HomeAgent));
}

#[test]
fn a_wrong_key_is_code_131() {
    let ours = config(false);
    let theirs = MobileIpConfig {
        key: [8; 16],
        ..ours.clone()
    };
    let peers: Vec<Box<dyn Peer>> = vec![
        Box::new(MobileNode::new(ours)),
        Box::new(HomeAgent::new(theirs)),
    ];
    let failure = Failure::WrongCredentials {
        code: Code::MobileIp(131),
    };
    assert_eq!(run(peers, 1).1, Outcome::Failed(failure));
}

#[test]
fn who_listens_registers_with_the_agent_that_it_hears() {
    let config = MobileIpConfig {
        listens: true,
        ..config(true)
    };
    let rng = Box::new(rand_chacha::ChaCha8Rng::seed_from_u64(1));
    let mut exchange = Conversation::new(parties(&config), rng);
    assert!(exchange.start().is_empty());
    let heard = |foreign| Message {
        from: Party::ForeignAgent,
        to: Party::Station,
        carrier: Carrier::Icmp,
        octets: advertisement([10, 0, 2, 1], foreign, 3, 7),
    };
    // A home agent is not what it looks for.
    assert!(exchange.deliver(&heard(false)).emissions.is_empty());
    let reaction = exchange.deliver(&heard(true));
    let (protocol, name) = crate::describe(&reaction.emissions[0].message);
    assert_eq!(
        (protocol, name.as_str()),
        ("Mobile IP", "registration request")
    );
    // Or it asks once its patience is over.
    let rng = Box::new(rand_chacha::ChaCha8Rng::seed_from_u64(1));
    let mut exchange = Conversation::new(parties(&config), rng);
    exchange.start();
    let asked = exchange.time_out(Party::Station).emissions;
    let (_, name) = crate::describe(&asked[0].message);
    assert_eq!(name, "agent solicitation");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn adversity_never_makes_ends_disagree(roaming: bool, seed: u64, schedule in prop::collection::vec(any::<u8>(), 0..20)) {
        let (_, exchange) = run_adverse(parties(&config(roaming)), seed, &schedule);
        prop_assert!(agree(&exchange, Party::Station, Party::HomeAgent));
    }

    #[test]
    fn a_flipped_bit_never_makes_ends_disagree(roaming: bool, index in 0_usize..6, octet in 0_usize..60, bit in 0_u8..8) {
        let (_, exchange) = run_flipped(parties(&config(roaming)), 3, (index, octet, bit));
        prop_assert!(agree(&exchange, Party::Station, Party::HomeAgent));
    }
}

// The octets below were recorded from the agents of the Linux testbed, which nodes of Linux 6.1
// registered with.

const KEY: [u8; 16] = hex!("000102030405060708090a0b0c0d0e0f");
const NOW: u64 = 0xeb00_0000_0000_0000;

fn association(key: [u8; 16]) -> SecurityAssociation {
    SecurityAssociation {
        spi: default_spi(),
        key,
    }
}

fn bindings(homes: &[[u8; 4]]) -> Bindings {
    let nodes = homes.iter().map(|home| HomedNode {
        home_address: (*home).into(),
        association: association(KEY),
    });
    Bindings::new(&HomeAgentSettings {
        address: [10, 77, 0, 1].into(),
        nodes: nodes.collect(),
        lifetime_s: 600,
        valid_s: 30,
    })
}

fn node(home: [u8; 4]) -> Registration {
    Registration::new(MobileNodeSettings {
        home_address: home.into(),
        home_agent: [10, 77, 0, 1].into(),
        association: association(KEY),
        reverse_tunnel: false,
        lifetime_s: 600,
    })
}

fn with_context<T>(act: impl FnOnce(&mut Context<'_>) -> T) -> T {
    act(&mut Context::new(
        &mut rand_chacha::ChaCha8Rng::seed_from_u64(1),
    ))
}

fn answer(bindings: &mut Bindings, request: &[u8], now: u64) -> Answer {
    with_context(|context| bindings.answer(request, Some(now), context)).unwrap()
}

#[test]
fn recorded_registrations_come_out_octet_by_octet() {
    let home = [10, 77, 0, 11];
    let (mut agent, mut mobile) = (bindings(&[home]), node(home));
    let away = hex!(
        "010002580a4d000b0a4d00010a500002eb0000000000000a"
        "201400000100404bfd6eaa30f3b98e5480ab72119b67"
    );
    let care_of = [10, 80, 0, 2].into();
    let asked = with_context(|context| mobile.request(Some(care_of), Some(NOW + 10), context));
    assert_eq!(asked, away);
    let accepted = answer(&mut agent, &away, NOW);
    assert_eq!(
        accepted.reply,
        hex!(
            "030002580a4d000b0a4d0001eb0000000000000a"
            "201400000100d2c2ab43b349ff73c23f4542d05e48cd"
        )
    );
    assert_eq!(accepted.binding.unwrap().care_of_address, care_of);
    let told = with_context(|context| mobile.reply(&accepted.reply, context)).unwrap();
    assert_eq!((told.code, told.lifetime_s), (0, 600));
    // At home again.
    let back = hex!("010000000a4d000b0a4d00010a4d000beb0000000000000b");
    let asked = with_context(|context| mobile.request(None, Some(NOW + 11), context));
    assert_eq!(asked[..24], back);
    let binding = answer(&mut agent, &asked, NOW).binding.unwrap();
    assert_eq!(
        (binding.lifetime_s, binding.care_of_address.octets()),
        (0, home)
    );
    // A stranger's key.
    let wrong = hex!(
        "010002580a4d000b0a4d00010a500002eb0000000000000c20140000010000000000000000000000000000000000"
    );
    assert_eq!(answer(&mut agent, &wrong, NOW).reply[..4], [3, 131, 0, 0]);
}

/// The recorded agents had ICMP code 16 (no common traffic); these route, which is code 0 (section
/// 2.1).
#[test]
fn agents_advertise_themselves_as_recorded() {
    let solicitation = Registration::solicitation();
    assert_eq!(solicitation, hex!("0a00f5ff00000000"));
    let mut foreign = Advertiser::new([10, 79, 0, 1], Some([10, 80, 0, 2]), 30, 600);
    let mut home = Advertiser::new([10, 77, 0, 1], None, 30, 600);
    for _ in 0..3 {
        foreign.answer(&solicitation).unwrap();
        home.answer(&solicitation).unwrap();
    }
    let told = foreign.answer(&solicitation).unwrap();
    assert_eq!(
        told,
        hex!("09003dd80102001e0a4f000100000000100a0003025891000a500002")
    );
    let heard = node([10, 77, 0, 11]).agent(&told).unwrap();
    assert_eq!(heard.care_of_address, Some([10, 80, 0, 2].into()));
    let told = home.answer(&solicitation).unwrap();
    assert_eq!(
        told,
        hex!("0900b8300102001e0a4d0001000000001006000302582100")
    );
    let heard = node([10, 77, 0, 11]).agent(&told).unwrap();
    assert_eq!(heard.care_of_address, None);
    // The home agent of another network is no agent for this node.
    let other = Advertiser::new([10, 99, 0, 1], None, 30, 600).answer(&solicitation);
    assert_eq!(node([10, 77, 0, 11]).agent(&other.unwrap()), None);
    assert_eq!(home.answer(&told), None);
}

#[test]
fn a_timestamp_is_seconds_since_1900_and_their_fraction() {
    assert_eq!(timestamp(1_700_000_000.25), 0xe8fe_6f80_4000_0000);
}

#[test]
fn old_replayed_and_early_requests_are_refused() {
    let home = [10, 77, 0, 11];
    let (mut agent, mut mobile) = (bindings(&[home]), node(home));
    let mut request = |now| {
        let care_of = Some([10, 80, 0, 2].into());
        with_context(|context| mobile.request(care_of, Some(now), context))
    };
    let first = request(NOW);
    assert_eq!(answer(&mut agent, &first, NOW + (7 << 32)).code, 0);
    // The same request again, and one that was sent before it.
    assert_eq!(answer(&mut agent, &first, NOW).code, 133);
    assert_eq!(answer(&mut agent, &request(NOW - 1), NOW).code, 133);
    let late = answer(&mut agent, &request(NOW + 5), NOW + (60 << 32));
    assert_eq!((late.code, late.binding), (133, None));
    assert_eq!(
        answer(&mut agent, &request(NOW + (60 << 32)), NOW).code,
        133
    );
    assert_eq!(answer(&mut agent, &request(NOW + 6), NOW).code, 0);
}

#[test]
fn a_node_takes_the_home_agents_seconds_once() {
    let home = [10, 77, 0, 11];
    let (mut agent, mut mobile) = (bindings(&[home]), node(home));
    let care_of = Some([10, 80, 0, 2].into());
    let hour = 3600 << 32;
    let early = with_context(|context| mobile.request(care_of, Some(NOW - hour + 77), context));
    let refused = answer(&mut agent, &early, NOW);
    let told = with_context(|context| mobile.reply(&refused.reply, context)).unwrap();
    assert_eq!((told.code, told.retry), (133, true));
    let again = with_context(|context| mobile.request(care_of, Some(NOW - hour + 99), context));
    let accepted = answer(&mut agent, &again, NOW);
    let told = with_context(|context| mobile.reply(&accepted.reply, context)).unwrap();
    assert_eq!((told.code, told.retry), (0, false));
    // A refusal that only another station could have written changes nothing.
    let asked = with_context(|context| mobile.request(care_of, Some(NOW - hour + 200), context));
    let mut forged = answer(&mut agent, &asked, NOW + hour).reply;
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(with_context(|context| mobile.reply(&forged, context)), None);
}

#[test]
fn several_nodes_have_bindings_and_visits_of_their_own() {
    let homes = [[10, 77, 0, 11], [10, 77, 0, 12]];
    let mut agent = bindings(&homes);
    let mut visitors = Visitors::default();
    let mut nodes = homes.map(node);
    let care_of = Some([10, 80, 0, 2].into());
    let requests: Vec<Vec<u8>> = nodes
        .iter_mut()
        .map(|node| with_context(|context| node.request(care_of, Some(NOW), context)))
        .collect();
    for (number, request) in requests.iter().enumerate() {
        let visit = visitors.request(request, number).unwrap();
        assert_eq!(visit.home_agent.octets(), [10, 77, 0, 1]);
        assert_eq!(visit.code, None);
    }
    for (number, request) in requests.iter().enumerate().rev() {
        let accepted = answer(&mut agent, request, NOW);
        assert_eq!(
            accepted.binding.unwrap().home_address.octets(),
            homes[number]
        );
        let (to, visit) = visitors.reply(&accepted.reply).unwrap();
        assert_eq!((to, visit.code), (number, Some(0)));
        assert_eq!(visit.home_address.octets(), homes[number]);
        let told = with_context(|context| nodes[number].reply(&accepted.reply, context));
        assert_eq!(told.unwrap().code, 0);
        // The other node does not take the reply, although both asked at one instant.
        let other = &mut nodes[1 - number];
        let taken = with_context(|context| other.reply(&accepted.reply, context));
        assert_eq!(taken, None);
    }
    // A node that is not of this home network is refused, without an association to say it with.
    let stranger =
        with_context(|context| node([10, 77, 0, 13]).request(care_of, Some(NOW), context));
    let refused = answer(&mut agent, &stranger, NOW);
    assert_eq!((refused.code, refused.reply.len()), (131, 20));
    // A reply to no pending request is not relayed.
    assert_eq!(visitors.reply(&refused.reply), None);
}
