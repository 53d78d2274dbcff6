//! From the associations of a scenario to the sessions of [`Join`], the links of their frames and
//! the first events. Nodes and links are made before.

use std::collections::HashMap;

use airtoll_engine::Streams;
use airtoll_handshakes::{MobileIp, Negotiation, Party};
use airtoll_units::{Duration, Instant};

use super::signalling;
use crate::address;
use crate::event::{Event, JoinEvent};
use crate::id::{NodeId, SessionId};
use crate::join::{
    BusyThreshold, Deauthentication, Parties, Purpose, Renewal, Session, Setup, common_cipher,
};
use crate::mac::TxLink;
use crate::net::Route;
use crate::scenario::{Association, Role, Scenario, ScenarioError};
use crate::world::World;

/// The scenario, its node numbers and its random streams.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub scenario: &'a Scenario,
    pub index: &'a HashMap<&'a str, NodeId>,
    pub streams: &'a Streams,
}

/// Adds the associations of a scenario to `world`.
///
/// # Errors
/// [`ScenarioError::Invalid`] for a party that is missing or out of reach, or a policy that names
/// something unknown.
pub(super) fn prepare(world: &mut World, source: Source<'_>) -> Result<(), ScenarioError> {
    let Source {
        scenario,
        index,
        streams,
    } = source;
    let deauthentications = add_signalling_links(world, source);
    for (number, association) in scenario.associations.iter().enumerate() {
        let field = format!("associations[{number}]");
        let station = index[association.station.as_str()];
        let session = add(world, source, &field, association, station)?;
        let mut start = Duration::from_micros(association.start_us);
        if association.spread_us > 0 {
            let mut stream = streams.named(&format!("association/start/{}", association.station));
            let spread = Duration::from_micros(association.spread_us).as_nanos() as f64;
            start += Duration::from_nanos((spread * stream.unit()) as u64);
        }
        let event = Event::Join(JoinEvent::Start { session });
        world.stack.lower.cx.schedule(Instant::ZERO + start, event);
    }
    let busy = scenario.nodes.iter().flat_map(|node| {
        let at = index[node.name.as_str()];
        let mut all = scenario.bss.iter();
        let bss = all.find(|b| Some(&b.name) == node.bss.as_ref());
        let tokens = bss
            .filter(|_| node.role == Role::AccessPoint)
            .and_then(|bss| bss.sae_anti_clogging_threshold)
            .map(|half_open| (Party::AccessPoint, half_open));
        let cookies = node
            .cookie_threshold
            .map(|half_open| (Party::Gateway, half_open));
        [tokens, cookies]
            .into_iter()
            .flatten()
            .map(move |(party, half_open)| BusyThreshold {
                party,
                node: at,
                half_open,
            })
    });
    world.join.set_up(Setup {
        streams: *streams,
        renewals: renewals(source),
        deauthentications,
        busy: busy.collect(),
    });
    world.stack.lower.cx.warm_up = Instant::ZERO;
    world.stack.lower.cx.end =
        Instant::ZERO + Duration::from_secs_f64(scenario.association_limit_s);
    Ok(())
}

fn renewals(source: Source<'_>) -> Vec<Renewal> {
    let of = |bss: &crate::scenario::Bss| {
        let period = bss.group_rekey_s.map(Duration::from_secs_f64);
        if period.is_none() && !bss.group_rekey_on_leave {
            return None;
        }
        let access_point = access_point_of(source, &bss.name)?;
        Some(Renewal::new(access_point, period, bss.group_rekey_on_leave))
    };
    source.scenario.bss.iter().filter_map(of).collect()
}

/// The access point of a BSS.
pub(super) fn access_point_of(source: Source<'_>, bss: &str) -> Option<NodeId> {
    let mut nodes = source.scenario.nodes.iter();
    let own = nodes.find(|n| n.role == Role::AccessPoint && n.bss.as_deref() == Some(bss))?;
    Some(source.index[own.name.as_str()])
}

/// Adds the session of one association, which nothing starts yet. `host` is the node whose address
/// its station has; `path` names the association in errors.
///
/// # Errors
/// As [`prepare`].
pub(super) fn add(
    world: &mut World,
    source: Source<'_>,
    path: &str,
    association: &Association,
    host: NodeId,
) -> Result<SessionId, ScenarioError> {
    let session = session(world, source, (path, association), host)?;
    Ok(world.join.add(session))
}

/// Adds the session of a pre-authentication of `host` with the access point of `association`. The
/// station sends it from the node `from`.
///
/// # Errors
/// As [`prepare`], and for a policy without EAP.
pub(super) fn add_ahead(
    world: &mut World,
    source: Source<'_>,
    path: &str,
    association: &Association,
    (from, host): (NodeId, NodeId),
) -> Result<SessionId, ScenarioError> {
    let (mut nodes, tunnelling) = parties(world, source, (path, association))?;
    let station = nodes.station;
    let times = world.join.entries_of(station) - 1;
    let negotiation = Negotiation::preauthentication(
        association.policy.clone(),
        association.options.clone(),
        address::mac(host),
        address::mac(nodes.access_point),
        source
            .streams
            .named(&again("pre-authentication", association, times))
            .into_generator(),
    )
    .map_err(|problem| ScenarioError::Invalid {
        field: format!("{path}.policy"),
        value: association.policy.name.clone(),
        allowed: problem.to_string(),
    })?;
    nodes.station = from;
    let protection = source.scenario.nodes[station.index()].cipher.frame_octets();
    Ok(world.join.add(Session::new(
        nodes,
        (host, tunnelling),
        negotiation,
        protection as u32,
        Purpose::Ahead,
    )))
}

/// Nodes of the parties of an association, and the node that sets up its tunnels.
fn parties(
    world: &World,
    source: Source<'_>,
    (path, association): (&str, &Association),
) -> Result<(Parties, NodeId), ScenarioError> {
    let Source {
        scenario, index, ..
    } = source;
    let at = |field: &str| format!("{path}.{field}");
    let station = index[association.station.as_str()];
    let bss = scenario.nodes[station.index()].bss.as_deref();
    let access_point = bss.and_then(|bss| access_point_of(source, bss));
    let Some(access_point) = access_point else {
        return Err(ScenarioError::Invalid {
            field: at("station"),
            value: association.station.clone(),
            allowed: "a station of a BSS with an access point".to_owned(),
        });
    };
    let mut nodes = Parties::new(station, access_point);
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
        let reachable =
            node == access_point || world.stack.net.route(access_point, node) != Route::None;
        if !reachable {
            return Err(ScenarioError::Invalid {
                field: at(field),
                value: name.clone().unwrap_or_default(),
                allowed: "a node that the access point can reach over the links".to_owned(),
            });
        }
        nodes.set(party, node);
    }
    let tunnelling = association
        .host
        .as_ref()
        .map_or(station, |name| index[name.as_str()]);
    if world.stack.net.route(access_point, tunnelling) == Route::None {
        return Err(ScenarioError::Invalid {
            field: at("host"),
            value: association.host.clone().unwrap_or_default(),
            allowed: "a host that the access point can reach over the links".to_owned(),
        });
    }
    Ok((nodes, tunnelling))
}

fn session(
    world: &World,
    source: Source<'_>,
    (path, association): (&str, &Association),
    host: NodeId,
) -> Result<Session, ScenarioError> {
    let Source {
        scenario,
        index,
        streams,
    } = source;
    let (nodes, tunnelling) = parties(world, source, (path, association))?;
    let station = index[association.station.as_str()];
    let access_point = nodes.access_point;
    let mobile = association.options.mobile_ip;
    let mut policy = association.policy.clone();
    let bss = scenario.nodes[station.index()].bss.as_deref();
    if let Some(group) = common_cipher(scenario, bss) {
        policy.link.group_cipher = group;
    }
    let mut negotiation = Negotiation::between(
        policy,
        association.options.clone(),
        address::mac(host),
        address::mac(access_point),
        streams
            .named(&again(
                "negotiation",
                association,
                world.join.entries_of(station),
            ))
            .into_generator(),
    )
    .map_err(|problem| ScenarioError::Invalid {
        field: format!("{path}.policy"),
        value: association.policy.name.clone(),
        allowed: problem.to_string(),
    })?;
    if let Some(gateway) = nodes.node(Party::Gateway) {
        let ends = [host, gateway].map(|node| address::ipv4(node).octets());
        negotiation.set_tunnel_ends(ends.into());
    }
    if mobile != MobileIp::Off {
        let [home, foreign] = [Party::HomeAgent, Party::ForeignAgent].map(|p| nodes.node(p));
        if let Some(home) = home {
            let nodes = [host, home, foreign.unwrap_or(home)];
            negotiation.set_mobile_addresses(nodes.map(|node| address::ipv4(node).octets()));
        }
    }
    let cipher = scenario.nodes[station.index()].cipher;
    Ok(Session::new(
        nodes,
        (host, tunnelling),
        negotiation,
        cipher.frame_octets() as u32,
        Purpose::Entry,
    ))
}

/// Name of the random stream of an association: a later association of the station has another one.
fn again(kind: &str, association: &Association, times: usize) -> String {
    match times {
        0 => format!("{kind}/{}", association.station),
        _ => format!("{kind}/{}/{times}", association.station),
    }
}

/// Adds links for management and EAPOL frames between every access point and its stations: without
/// cipher and QoS, at the lowest basic rate (Linux mac80211 sends both kinds so,
/// IEEE80211_TX_CTL_USE_MINRATE in net/mac80211/tx.c). Gives the deauthentications of the scenario.
fn add_signalling_links(world: &mut World, source: Source<'_>) -> Vec<Deauthentication> {
    let Source {
        scenario, index, ..
    } = source;
    let mut deauthentications = Vec::new();
    for (at, bss) in scenario.bss.iter().enumerate() {
        let mode = signalling::lowest_mode(world, scenario, at);
        let Some(ap) = access_point_of(source, &bss.name) else {
            continue;
        };
        if let Some(after) = bss.deauthenticate_at_s {
            deauthentications.push(Deauthentication {
                access_point: ap,
                link: signalling::add_group_link(world, ap, mode),
                after: Duration::from_secs_f64(after),
            });
        }
        let stations: Vec<NodeId> = scenario
            .nodes
            .iter()
            .filter(|n| n.role == Role::Station && n.bss.as_deref() == Some(&bss.name))
            .map(|n| index[n.name.as_str()])
            .collect();
        let mac = &mut world.stack.lower.mac;
        mac.begin_signalling(ap);
        for &station in &stations {
            mac.add_link(TxLink::plain(ap, station, mode, bss.max_attempts));
        }
        for &station in &stations {
            mac.begin_signalling(station);
            mac.add_link(TxLink::plain(station, ap, mode, bss.max_attempts));
        }
    }
    deauthentications
}
