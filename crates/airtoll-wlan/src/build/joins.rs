//! From the associations of a scenario to the sessions of [`Join`], the links of their frames and
//! the first events. Nodes and links are made before.

use airtoll_handshakes::link::multi_link::{AffiliatedLink, MultiLink, link_address, mld_address};
use airtoll_handshakes::{MobileIp, Negotiation, Options, Party, PolicySpec, Sides, SpecError};
use airtoll_security::AkmSuite;
use airtoll_units::{Duration, Instant};

use super::signalling;
use super::source::Source;
use crate::address;
use crate::announce;
use crate::event::{Event, JoinEvent};
use crate::id::{NodeId, Pair, RadioId, SessionId, Table};
use crate::join::{
    BusyThreshold, Deauthentication, Flood, Newcomer, Parties, Purpose, Renewal, Session, Setup,
};
use crate::mac::TxLink;
use crate::net::Route;
use crate::scenario::{Association, Bss, Handover, Node, Role, ScenarioError};
use crate::stack::Stack;
use crate::transport::TcpSystem;
use crate::world::World;

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
        ..
    } = source;
    let deauthentications = add_signalling_links(world, source);
    let mut newcomers = Vec::new();
    for (number, association) in scenario.associations.iter().enumerate() {
        let field = format!("associations[{number}]");
        let terms = Terms::of(source, association);
        let session = self::session(world, source, (&field, &terms))?
            .of_a_station_that(association.tries_again, association.maps_passphrase);
        let session = world.join.add(session);
        let earliest = Duration::from_micros(association.start_us);
        let mut start = earliest;
        if association.spread_us > 0 {
            let mut stream = streams.named(&format!("association/start/{}", association.station));
            let spread = Duration::from_micros(association.spread_us).as_nanos() as f64;
            start += Duration::from_nanos((spread * stream.unit()) as u64);
        }
        if association.during_traffic {
            keep_out(world, source, association);
            newcomers.push(Newcomer {
                session,
                earliest,
                start,
            });
            continue;
        }
        let event = Event::Join(JoinEvent::Start { session });
        world.stack.lower.cx.schedule(Instant::ZERO + start, event);
    }
    if newcomers.len() == scenario.associations.len() {
        let event = Event::Join(JoinEvent::BeginTraffic);
        world.stack.lower.cx.schedule(Instant::ZERO, event);
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
    let own_keys = scenario.bss.iter().filter(|bss| bss.group.per_client_keys);
    let access_points = own_keys.filter_map(|bss| scenario.access_point_of(&bss.name));
    let own_group_keys = access_points.map(|ap| index[ap.name.as_str()]).collect();
    let hosts = hosts(world, source);
    world.join.set_up(Setup {
        streams: *streams,
        newcomers: (
            newcomers,
            Duration::from_secs_f64(scenario.association_limit_s),
        ),
        renewals: renewals(source),
        deauthentications,
        busy: busy.collect(),
        own_group_keys,
        hosts,
    });
    add_floods(world, source)?;
    world.stack.lower.cx.warm_up = Instant::ZERO;
    world.stack.lower.cx.end =
        Instant::ZERO + Duration::from_secs_f64(scenario.association_limit_s);
    Ok(())
}

/// Adds the floods of a scenario and their first events.
///
/// # Errors
/// As [`prepare`], and for a flood in a BSS where no station has SAE.
fn add_floods(world: &mut World, source: Source<'_>) -> Result<(), ScenarioError> {
    let Source {
        scenario, streams, ..
    } = source;
    for (number, bss) in scenario.bss.iter().enumerate() {
        let Some(flood) = &bss.sae_flood else {
            continue;
        };
        let field = format!("bss[{number}].sae_flood");
        let sae = |a: &&Association| a.policy.link.akm.is_some_and(AkmSuite::is_sae);
        let in_it = |a: &&Association| {
            let mut nodes = scenario.nodes.iter();
            nodes.any(|n| n.name == a.station && n.bss.as_ref() == Some(&bss.name))
        };
        let refused = || ScenarioError::Invalid {
            field: field.clone(),
            value: "set".to_owned(),
            allowed: "null where no station of the BSS joins by SAE".to_owned(),
        };
        let mut all = scenario.associations.iter();
        let model = all.find(|a| sae(a) && in_it(a)).ok_or_else(refused)?;
        let terms = Terms {
            station: source.index[flood.station.as_str()],
            name: &flood.station,
            ..Terms::of(source, model)
        };
        let session = add(world, source, &field, &terms)?;
        let name = format!("sae-flood/{}", bss.name);
        let access_point = world.join.ends_of(session).access_point;
        let mut made = 0;
        let join = &world.join;
        let fresh = || {
            made += 1;
            let draws = streams.named(&format!("{name}/{made}")).into_generator();
            join.anew(session, draws)
        };
        let rate = (flood.commits_per_s, flood.with_tokens);
        let made = Flood::new((session, access_point), rate, streams.named(&name), fresh);
        let flood = world.join.add_flood(made.ok_or_else(refused)?);
        let event = Event::Join(JoinEvent::Forge { flood });
        world.stack.lower.cx.schedule(Instant::ZERO, event);
    }
    Ok(())
}

/// Nothing goes from or to a station but its negotiation until it has joined during the traffic.
fn keep_out(world: &mut World, source: Source<'_>, association: &Association) {
    let Stack { net, flow, .. } = &mut world.stack;
    let station = source.index[association.station.as_str()];
    net.set_away(station, true);
    flow.hold(station);
    if let Some(host) = &association.host {
        flow.hold(source.index[host.as_str()]);
    }
}

/// TCP of each node and the MTU of its interfaces.
fn hosts(world: &World, source: Source<'_>) -> Table<NodeId, (TcpSystem, u32)> {
    let nodes = source.scenario.nodes.iter().enumerate();
    nodes
        .map(|(at, node)| (node.host.tcp, world.stack.net.mtu(NodeId::new(at as u32))))
        .collect()
}

fn renewals(source: Source<'_>) -> Vec<Renewal> {
    let of = |bss: &crate::scenario::Bss| {
        let period = bss.group_rekey_s.map(Duration::from_secs_f64);
        if period.is_none() && !bss.group_rekey_on_leave {
            return None;
        }
        // A multi-link device renews the keys of all links in one handshake, as its first BSS says.
        let first = |n: &&Node| n.role == Role::AccessPoint && n.bss.as_ref() == Some(&bss.name);
        source.scenario.nodes.iter().find(first)?;
        let access_point = access_point_of(source, &bss.name)?;
        Some(Renewal::new(access_point, period, bss.group_rekey_on_leave))
    };
    source.scenario.bss.iter().filter_map(of).collect()
}

/// The access point of a BSS.
pub(super) fn access_point_of(source: Source<'_>, bss: &str) -> Option<NodeId> {
    let own = source.scenario.access_point_of(bss)?;
    Some(source.index[own.name.as_str()])
}

/// A station joins at an access point: an association of the scenario, or the aim of a hand-over.
pub(super) struct Terms<'a> {
    station: NodeId,
    name: &'a str,
    bss: &'a str,
    policy: &'a PolicySpec,
    options: &'a Options,
    host: Option<&'a str>,
    authentication_server: Option<&'a str>,
    radius_proxies: &'a [String],
    gateway: Option<&'a str>,
    home_agent: Option<&'a str>,
    foreign_agent: Option<&'a str>,
}

impl<'a> Terms<'a> {
    /// Those of an association in the station's own BSS.
    fn of(source: Source<'a>, association: &'a Association) -> Self {
        let station = source.index[association.station.as_str()];
        let bss = source.scenario.nodes[station.index()].bss.as_deref();
        Self {
            station,
            name: &association.station,
            bss: bss.unwrap_or_default(),
            policy: &association.policy,
            options: &association.options,
            host: association.host.as_deref(),
            authentication_server: association.authentication_server.as_deref(),
            radius_proxies: &association.radius_proxies,
            gateway: association.gateway.as_deref(),
            home_agent: association.home_agent.as_deref(),
            foreign_agent: association.foreign_agent.as_deref(),
        }
    }

    /// Those at the access point that a hand-over leads to.
    pub fn after(source: Source<'a>, handover: &'a Handover) -> Self {
        let there = &handover.association;
        Self {
            station: source.index[handover.station.as_str()],
            name: &handover.station,
            bss: &handover.bss,
            policy: &there.policy,
            options: &there.options,
            host: None,
            authentication_server: there.authentication_server.as_deref(),
            radius_proxies: &there.radius_proxies,
            gateway: there.gateway.as_deref(),
            home_agent: there.home_agent.as_deref(),
            foreign_agent: there.foreign_agent.as_deref(),
        }
    }
}

/// Adds the session of one association, which nothing starts yet; `path` names the association in
/// errors.
///
/// # Errors
/// As [`prepare`].
pub(super) fn add(
    world: &mut World,
    source: Source<'_>,
    path: &str,
    terms: &Terms<'_>,
) -> Result<SessionId, ScenarioError> {
    let session = session(world, source, (path, terms))?;
    Ok(world.join.add(session))
}

/// Adds the session of a pre-authentication with the access point of `terms`. The station sends it by
/// the radio `from`.
///
/// # Errors
/// As [`prepare`], and for a policy without EAP.
pub(super) fn add_ahead(
    world: &mut World,
    source: Source<'_>,
    path: &str,
    terms: &Terms<'_>,
    from: RadioId,
) -> Result<SessionId, ScenarioError> {
    let (mut nodes, tunnelling) = parties(world, source, (path, terms))?;
    let times = world.join.entries_of(nodes.radio()) - 1;
    let negotiation = Negotiation::preauthentication(
        terms.policy.clone(),
        terms.options.clone(),
        address::mac(nodes.station()),
        address::mac(nodes.access_point()),
        source
            .streams
            .named(&again(
                "pre-authentication",
                source.radios.name(nodes.radio()),
                times,
            ))
            .into_generator(),
    )
    .map_err(|problem| ScenarioError::Invalid {
        field: format!("{path}.policy"),
        value: terms.policy.name.clone(),
        allowed: problem.to_string(),
    })?;
    nodes.set_radio(from);
    let station = &source.scenario.nodes[nodes.station().index()];
    let protection = station.cipher.frame_octets();
    let proxies = proxies(world, source, (path, terms), nodes.access_point())?;
    let session = Session::new(
        nodes,
        (tunnelling, tunnelling.into()),
        negotiation,
        protection as u32,
        Purpose::Ahead,
    );
    Ok(world.join.add(session.through(proxies)))
}

/// Nodes of the parties of an association, and the node that sets up its tunnels.
fn parties(
    world: &World,
    source: Source<'_>,
    (path, terms): (&str, &Terms<'_>),
) -> Result<(Parties, NodeId), ScenarioError> {
    let Source { index, radios, .. } = source;
    let at = |field: &str| format!("{path}.{field}");
    let station = terms.station;
    let radio = radios.of(station, terms.bss);
    let Some((radio, access_point)) = radio.zip(access_point_of(source, terms.bss)) else {
        return Err(ScenarioError::Invalid {
            field: at("station"),
            value: terms.name.to_owned(),
            allowed: "a station of a BSS with an access point".to_owned(),
        });
    };
    let own = radios.of(access_point, terms.bss);
    let own = own.unwrap_or_else(|| RadioId::first_of(access_point));
    let link = source.scenario.link_id(terms.bss);
    let mut nodes = Parties::new((station, radio), access_point).on_link(own, link);
    let mobile = terms.options.mobile_ip;
    let parties = [
        (
            Party::AuthenticationServer,
            "authentication_server",
            terms.authentication_server,
            terms.policy.link.eap_method.is_some(),
        ),
        (
            Party::Gateway,
            "gateway",
            terms.gateway,
            !terms.policy.tunnels.is_empty(),
        ),
        (
            Party::HomeAgent,
            "home_agent",
            terms.home_agent,
            mobile != MobileIp::Off,
        ),
        (
            Party::ForeignAgent,
            "foreign_agent",
            terms.foreign_agent,
            mobile == MobileIp::Foreign,
        ),
    ];
    for (party, field, name, needed) in parties {
        if !needed {
            continue;
        }
        let node = name.and_then(|name| index.get(name));
        let Some(&node) = node else {
            return Err(ScenarioError::Invalid {
                field: at(field),
                value: name.unwrap_or("null").to_owned(),
                allowed: format!("the name of a node, which {} needs", terms.policy.name),
            });
        };
        let reachable =
            node == access_point || world.stack.net.route(access_point, node) != Route::None;
        if !reachable {
            return Err(ScenarioError::Invalid {
                field: at(field),
                value: name.unwrap_or_default().to_owned(),
                allowed: "a node that the access point can reach over the links".to_owned(),
            });
        }
        nodes.set(party, node);
    }
    let tunnelling = terms.host.map_or(station, |name| index[name]);
    if world.stack.net.route(access_point, tunnelling) == Route::None {
        return Err(ScenarioError::Invalid {
            field: at("host"),
            value: terms.host.unwrap_or_default().to_owned(),
            allowed: "a host that the access point can reach over the links".to_owned(),
        });
    }
    Ok((nodes, tunnelling))
}

/// Nodes of the RADIUS proxies of an association.
fn proxies(
    world: &World,
    source: Source<'_>,
    (path, terms): (&str, &Terms<'_>),
    access_point: NodeId,
) -> Result<Vec<NodeId>, ScenarioError> {
    let invalid = |value: &str, allowed: String| ScenarioError::Invalid {
        field: format!("{path}.radius_proxies"),
        value: value.to_owned(),
        allowed,
    };
    let (names, wanted) = (terms.radius_proxies, terms.options.radius_proxies.len());
    if names.len() != wanted {
        let allowed = format!("{wanted} names, as options.radius_proxies has {wanted} proxies");
        return Err(invalid(&names.join(", "), allowed));
    }
    let mut nodes = Vec::new();
    for name in names {
        let node = source.index.get(name.as_str()).copied();
        let reachable = |node: &NodeId| world.stack.net.route(access_point, *node) != Route::None;
        let Some(node) = node.filter(reachable) else {
            let allowed = "the name of a node that the access point can reach over the links";
            return Err(invalid(name, allowed.to_owned()));
        };
        nodes.push(node);
    }
    Ok(nodes)
}

fn session(
    world: &World,
    source: Source<'_>,
    (path, terms): (&str, &Terms<'_>),
) -> Result<Session, ScenarioError> {
    let Source {
        scenario,
        radios,
        streams,
        group_ciphers,
        ..
    } = source;
    let refused = |problem: SpecError| ScenarioError::Invalid {
        field: format!("{path}.policy"),
        value: terms.policy.name.clone(),
        allowed: problem.to_string(),
    };
    let (nodes, tunnelling) = parties(world, source, (path, terms))?;
    let (station, radio, access_point) = (nodes.station(), nodes.radio(), nodes.access_point());
    let mobile = terms.options.mobile_ip;
    let mut policy = terms.policy.clone();
    if let Some(group) = group_ciphers.get(terms.bss) {
        policy.link.group_cipher = *group;
    }
    let bss = scenario.bss.iter().find(|b| b.name == terms.bss);
    let of_station = &scenario.nodes[station.index()];
    let network = bss.map_or(0, |bss| announce::network_of(bss, of_station));
    let id = scenario.link_id(terms.bss);
    let bssid = link_address(address::bssid(access_point, network), id);
    // A station without multi-link operation has one address.
    let own = if of_station.multi_link.is_empty() {
        address::mac(station)
    } else {
        link_address(address::mac(station), id)
    };
    let mut negotiation = Negotiation::between(
        policy,
        terms.options.clone(),
        own,
        bssid,
        streams
            .named(&again(
                "negotiation",
                radios.name(radio),
                world.join.entries_of(radio),
            ))
            .into_generator(),
    )
    .map_err(refused)?;
    if let Some(bss) = bss {
        let ends = (of_station, address::mac(access_point));
        let announced = announce::beside(scenario, bss, ends, negotiation.link());
        negotiation.announce(announced).map_err(refused)?;
    }
    let pair = Pair {
        station,
        access_point,
    };
    if let Some(devices) = multi_link(source, pair, terms.bss) {
        negotiation.set_links(devices).map_err(refused)?;
    }
    if let Some(gateway) = nodes.node(Party::Gateway) {
        negotiation.set_tunnel_ends(Sides {
            initiator: address::ipv4(station).octets(),
            responder: address::ipv4(gateway).octets(),
        });
    }
    if mobile != MobileIp::Off {
        let [home, foreign] = [Party::HomeAgent, Party::ForeignAgent].map(|p| nodes.node(p));
        if let Some(home) = home {
            let nodes = [station, home, foreign.unwrap_or(home)];
            negotiation.set_mobile_addresses(nodes.map(|node| address::ipv4(node).octets()));
        }
    }
    let cipher = scenario.nodes[station.index()].cipher;
    // Mobile IP keeps the address of the station; otherwise each BSS has its own.
    let outside = if tunnelling == station && mobile == MobileIp::Off {
        radio.into()
    } else {
        tunnelling.into()
    };
    let proxies = proxies(world, source, (path, terms), access_point)?;
    let session = Session::new(
        nodes,
        (tunnelling, outside),
        negotiation,
        cipher.frame_octets() as u32,
        Purpose::Entry,
    );
    Ok(session.through(proxies))
}

/// The devices and links of a station that associates over several links, by that in `bss`; `None` over
/// one.
fn multi_link(source: Source<'_>, pair: Pair<NodeId>, bss: &str) -> Option<MultiLink> {
    let Pair {
        station,
        access_point,
    } = pair;
    let scenario = source.scenario;
    let node = &scenario.nodes[station.index()];
    if node.multi_link.is_empty() {
        // A hand-over leads to a BSS that is not the station's own.
        return None;
    }
    let named = |name: &str| scenario.bss.iter().find(|b| b.name == name);
    let (own, base) = (address::mac(station), address::mac(access_point));
    let of = |there: &Bss| {
        let id = scenario.link_id(&there.name);
        let phys = announce::phys(scenario, there, (node, base));
        AffiliatedLink {
            id,
            station: link_address(own, id),
            access_point: link_address(base, id),
            station_phy: phys.station,
            access_point_phy: phys.access_point,
        }
    };
    let others = node.bsss().filter(|name| *name != bss).filter_map(named);
    let mut further: Vec<AffiliatedLink> = others.map(of).collect();
    further.sort_by_key(|link| link.id);
    (!further.is_empty()).then(|| MultiLink {
        station: mld_address(own),
        access_point: mld_address(base),
        id: scenario.link_id(bss),
        further,
    })
}

/// Name of the random stream of an association by the radio `name`: a later one has another stream.
fn again(kind: &str, name: &str, times: usize) -> String {
    match times {
        0 => format!("{kind}/{name}"),
        _ => format!("{kind}/{name}/{times}"),
    }
}

/// Adds links for management and EAPOL frames between every access point and its stations: without
/// cipher and QoS, at the lowest basic rate (Linux mac80211 sends both kinds so,
/// IEEE80211_TX_CTL_USE_MINRATE in net/mac80211/tx.c). Gives the deauthentications of the scenario.
fn add_signalling_links(world: &mut World, source: Source<'_>) -> Vec<Deauthentication> {
    let Source {
        scenario, radios, ..
    } = source;
    let mut deauthentications = Vec::new();
    for (at, bss) in scenario.bss.iter().enumerate() {
        let mode = signalling::lowest_mode(world, source, at);
        let Some(ap) = access_point_of(source, &bss.name) else {
            continue;
        };
        let members = radios.members(&bss.name);
        let (own, stations) = (members[0], &members[1..]);
        let planned = [(bss.deauthenticate_at_s, false), (bss.restart_at_s, true)];
        for (after, silent) in planned {
            if let Some(after) = after {
                deauthentications.push(Deauthentication {
                    access_point: ap,
                    link: signalling::add_group_link(world, own, mode),
                    after: Duration::from_secs_f64(after),
                    silent,
                });
            }
        }
        let mac = &mut world.stack.lower.mac;
        mac.begin_signalling(own, stations.len() as u32);
        for &station in stations {
            mac.add_link(TxLink::plain(own, station, mode, bss.max_attempts));
        }
        for &station in stations {
            mac.begin_signalling(station, 1);
            mac.add_link(TxLink::plain(station, own, mode, bss.max_attempts));
        }
    }
    deauthentications
}
