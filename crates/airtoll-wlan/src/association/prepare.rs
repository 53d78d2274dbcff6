//! From the associations of a scenario to their state in the world.
//!
//! Takes a world whose nodes and links are made; gives it negotiations, signalling links and the
//! first events. Never runs anything.

use std::collections::HashMap;
use std::collections::VecDeque;

use airtoll_engine::Streams;
use airtoll_handshakes::{MobileIp, Negotiation, Party, Secrets};
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::{AssociationEvent, Join, PARTIES, Purpose, Standing, Timeline, group_keys, renewal};
use crate::address;
use crate::event::Event;
use crate::mac::aggregation::TxLink;
use crate::mac::fragmentation::Division;
use crate::mac::mode::{self, Mode};
use crate::mac::rate_control::RateControl;
use crate::packet::NONE;
use crate::scenario::{Association, Role, Scenario, ScenarioError, Standard};
use crate::world::World;

/// Adds the associations of `scenario` to `world`.
///
/// # Errors
/// [`ScenarioError::Invalid`] for a party that is missing or out of reach, or a policy that names
/// something unknown.
pub(crate) fn prepare(
    world: &mut World,
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
) -> Result<(), ScenarioError> {
    add_signalling_links(world, scenario, index);
    for (number, association) in scenario.associations.iter().enumerate() {
        let field = format!("associations[{number}]");
        let station = index[association.station.as_str()];
        add(
            world,
            scenario,
            index,
            streams,
            &field,
            association,
            station,
        )?;
        let mut start = Duration::from_micros(association.start_us);
        if association.spread_us > 0 {
            let mut stream = streams.named(&format!("association/start/{}", association.station));
            let spread = Duration::from_micros(association.spread_us).as_nanos() as f64;
            start += Duration::from_nanos((spread * stream.unit()) as u64);
        }
        let event = AssociationEvent::Start {
            join: number as u32,
        };
        world
            .stack
            .lower
            .cx
            .events
            .schedule(Instant::ZERO + start, Event::Association(event));
    }
    let associations = &mut world.association;
    associations.initial = associations.joins.len();
    associations.left = associations.initial as u32;
    associations.duration = Duration::from_secs_f64(scenario.duration_s);
    associations.warm_up = Duration::from_secs_f64(scenario.warm_up_s);
    associations.busy_thresholds = scenario
        .nodes
        .iter()
        .flat_map(|node| {
            let at = index[node.name.as_str()];
            let mut all = scenario.bss.iter();
            let bss = all.find(|b| Some(&b.name) == node.bss.as_ref());
            let tokens = bss
                .filter(|_| node.role == Role::AccessPoint)
                .and_then(|bss| bss.sae_anti_clogging_threshold)
                .map(|most| (Party::AccessPoint, at, most));
            let cookies = node.cookie_threshold.map(|most| (Party::Gateway, at, most));
            [tokens, cookies].into_iter().flatten()
        })
        .collect();
    associations.renewals = renewal::prepare(scenario, index, streams);
    world.stack.lower.cx.warm_up = Instant::ZERO;
    world.stack.lower.cx.end =
        Instant::ZERO + Duration::from_secs_f64(scenario.association_limit_s);
    Ok(())
}

/// Adds one association, which nothing starts yet, and gives its number. `host` is the node
/// whose address its station has; `path` names it in errors.
///
/// # Errors
/// As [`prepare`].
pub(crate) fn add(
    world: &mut World,
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
    path: &str,
    association: &Association,
    host: u32,
) -> Result<u32, ScenarioError> {
    let join = join(world, scenario, index, streams, (path, association), host)?;
    world.association.joins.push(join);
    Ok(world.association.joins.len() as u32 - 1)
}

/// Adds a pre-authentication of `station` with the access point of `association`, which it speaks with
/// where it is the node `from`, and gives its number.
///
/// # Errors
/// As [`prepare`], and for a policy without EAP.
pub(crate) fn add_ahead(
    world: &mut World,
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
    path: &str,
    association: &Association,
    (from, station): (u32, u32),
) -> Result<u32, ScenarioError> {
    let times = times_in(world, index[association.station.as_str()]) - 1;
    let mut join = join(
        world,
        scenario,
        index,
        streams,
        (path, association),
        station,
    )?;
    join.negotiation = Negotiation::preauthentication(
        association.policy.clone(),
        association.options.clone(),
        address::mac(station),
        address::mac(join.node(Party::AccessPoint)),
        streams
            .named(&again("pre-authentication", association, times))
            .into_generator(),
    )
    .map_err(|problem| ScenarioError::Invalid {
        field: format!("{path}.policy"),
        value: association.policy.name.clone(),
        allowed: problem.to_string(),
    })?;
    join.nodes[Party::Station as usize] = from;
    join.purpose = Purpose::Ahead;
    world.association.joins.push(join);
    Ok(world.association.joins.len() as u32 - 1)
}

fn join(
    world: &World,
    scenario: &Scenario,
    index: &HashMap<&str, u32>,
    streams: &Streams,
    (path, association): (&str, &Association),
    host: u32,
) -> Result<Join, ScenarioError> {
    let at = |field: &str| format!("{path}.{field}");
    let station = index[association.station.as_str()];
    let bss = scenario.nodes[station as usize].bss.as_deref();
    let access_point = scenario
        .nodes
        .iter()
        .position(|n| n.role == Role::AccessPoint && n.bss.as_deref() == bss)
        .map_or(NONE, |n| n as u32);
    let mut nodes = [NONE; PARTIES];
    nodes[Party::Station as usize] = station;
    nodes[Party::AccessPoint as usize] = access_point;
    let mobile = association.options.mobile_ip;
    let parties = [
        (
            Party::AuthenticationServer,
            "authentication_server",
            &association.authentication_server,
            association.policy.link.eap_method.is_some(),
        ),
        (
            Party::Gateway,
            "gateway",
            &association.gateway,
            !association.policy.tunnels.is_empty(),
        ),
        (
            Party::HomeAgent,
            "home_agent",
            &association.home_agent,
            mobile != MobileIp::Off,
        ),
        (
            Party::ForeignAgent,
            "foreign_agent",
            &association.foreign_agent,
            mobile == MobileIp::Foreign,
        ),
    ];
    for (party, field, name, needed) in parties {
        if !needed {
            continue;
        }
        let node = name.as_ref().and_then(|name| index.get(name.as_str()));
        let Some(&node) = node else {
            return Err(ScenarioError::Invalid {
                field: at(field),
                value: name.clone().unwrap_or_else(|| "null".to_owned()),
                allowed: format!(
                    "the name of a node, which {} needs",
                    association.policy.name
                ),
            });
        };
        let reachable = node == access_point
            || world.stack.net.routes[access_point as usize][node as usize]
                != crate::net::network::Route::None;
        if !reachable {
            return Err(ScenarioError::Invalid {
                field: at(field),
                value: name.clone().unwrap_or_default(),
                allowed: "a node that the access point can reach over the links".to_owned(),
            });
        }
        nodes[party as usize] = node;
    }
    let tunnelling = association
        .host
        .as_ref()
        .map_or(station, |name| index[name.as_str()]);
    if world.stack.net.routes[access_point as usize][tunnelling as usize]
        == crate::net::network::Route::None
    {
        return Err(ScenarioError::Invalid {
            field: at("host"),
            value: association.host.clone().unwrap_or_default(),
            allowed: "a host that the access point can reach over the links".to_owned(),
        });
    }
    let mut policy = association.policy.clone();
    if let Some(group) = group_keys::common_cipher(scenario, bss) {
        policy.link.group_cipher = group;
    }
    let mut negotiation = Negotiation::between(
        policy,
        association.options.clone(),
        address::mac(host),
        address::mac(access_point),
        streams
            .named(&again("negotiation", association, times_in(world, station)))
            .into_generator(),
    )
    .map_err(|problem| ScenarioError::Invalid {
        field: at("policy"),
        value: association.policy.name.clone(),
        allowed: problem.to_string(),
    })?;
    let gateway = nodes[Party::Gateway as usize];
    if gateway != NONE {
        let ends = [host, gateway].map(|node| address::ipv4(node).octets());
        negotiation.set_tunnel_ends(ends.into());
    }
    if mobile != MobileIp::Off {
        let [home, foreign] = [Party::HomeAgent, Party::ForeignAgent].map(|p| nodes[p as usize]);
        let agent = if foreign == NONE { home } else { foreign };
        let addresses = [host, home, agent].map(|node| address::ipv4(node).octets());
        negotiation.set_mobile_addresses(addresses);
    }
    let cipher = scenario.nodes[station as usize].cipher;
    Ok(Join {
        nodes,
        tunnelling,
        negotiation,
        stage: 0,
        advancing: false,
        standing: Standing::Waiting,
        started: Instant::ZERO,
        stage_began: Instant::ZERO,
        stages: Vec::new(),
        timers: Default::default(),
        timeline: Timeline::default(),
        agreed: Secrets::new(),
        listens: false,
        movement: None,
        recorded: false,
        protection_octets: cipher.frame_octets() as u32,
        purpose: Purpose::Entry,
        departing: NONE,
        group_round: 0,
        key_frames: 0,
    })
}

/// Associations that a node has already.
fn times_in(world: &World, station: u32) -> usize {
    let joins = world.association.joins.iter();
    let own = |j: &&Join| j.purpose == Purpose::Entry && j.node(Party::Station) == station;
    joins.filter(own).count()
}

/// Name of the random stream of an association: nobody who comes back draws the same again.
fn again(kind: &str, association: &Association, times: usize) -> String {
    match times {
        0 => format!("{kind}/{}", association.station),
        _ => format!("{kind}/{}/{times}", association.station),
    }
}

/// Links for management and EAPOL frames between every access point and its stations: without
/// cipher and QoS, at the lowest basic rate (Linux mac80211 sends both kinds so,
/// IEEE80211_TX_CTL_USE_MINRATE in net/mac80211/tx.c).
fn add_signalling_links(world: &mut World, scenario: &Scenario, index: &HashMap<&str, u32>) {
    for (at, bss) in scenario.bss.iter().enumerate() {
        let of = |role| {
            scenario
                .nodes
                .iter()
                .filter(move |n| n.role == role && n.bss.as_deref() == Some(&bss.name))
        };
        let mode = lowest_mode(world, scenario, at);
        let ap = of(Role::AccessPoint).next().map(|n| index[n.name.as_str()]);
        let Some(ap) = ap else { continue };
        if let Some(after) = bss.deauthenticate_at_s {
            let number = world.stack.lower.mac.links.len() as u32;
            world.stack.lower.mac.links.push(TxLink {
                group: true,
                ..link(ap, ap, mode, 1)
            });
            let after = Duration::from_secs_f64(after);
            world.association.rejoins.groups.push((ap, number, after));
        }
        let stations: Vec<u32> = of(Role::Station).map(|n| index[n.name.as_str()]).collect();
        world.stack.lower.mac.nodes[ap as usize].signalling =
            world.stack.lower.mac.links.len() as u32;
        for &station in &stations {
            world
                .stack
                .lower
                .mac
                .links
                .push(link(ap, station, mode, bss.max_attempts));
        }
        for &station in &stations {
            world.stack.lower.mac.nodes[station as usize].signalling =
                world.stack.lower.mac.links.len() as u32;
            world
                .stack
                .lower
                .mac
                .links
                .push(link(station, ap, mode, bss.max_attempts));
        }
    }
}

/// Adds the mode of a BSS's lowest basic rate; gives its number.
pub(crate) fn lowest_mode(world: &mut World, scenario: &Scenario, at: usize) -> u32 {
    let bss = &scenario.bss[at];
    let with_b = scenario
        .nodes
        .iter()
        .any(|n| n.bss.as_deref() == Some(&bss.name) && n.standard == Some(Standard::B));
    let basic = mode::basic_rates(bss, with_b);
    let lowest = basic.lowest(mode::band(bss));
    let mut made = Mode::new(lowest, bss, &mode::timing(bss, with_b), basic);
    made.bss = at;
    world.stack.lower.mac.modes.push(made);
    (world.stack.lower.mac.modes.len() - 1) as u32
}

/// A link without cipher and QoS on a mode.
pub(crate) fn link(from: u32, peer: u32, mode: u32, max_attempts: u8) -> TxLink {
    TxLink {
        from,
        peer,
        cipher: CipherSuite::Open,
        qos: false,
        four_address: false,
        rate: RateControl::Fixed(mode),
        amsdu_octets: 0,
        max_attempts,
        division: Division::new(None, 0, 0),
        rts_octets: u32::MAX,
        signalling: true,
        group: false,
        queue: VecDeque::new(),
        window: VecDeque::new(),
        next_sequence: 0,
        request_due: false,
        agreement: false,
        taken_early: 0,
        listed: false,
        success: (u32::MAX, 0, 0.0),
    }
}
