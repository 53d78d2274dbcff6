//! Group keys of access points: one GTK, and with protected management frames one IGTK, for all
//! stations of a BSS (IEEE 802.11-2020, 12.7.1.4).
//!
//! The keys of an access point follow from the seed, the round of its renewals and the group
//! ciphers. `renewal` decides when a round begins.

use std::collections::{BTreeSet, HashMap};

use airtoll_engine::Streams;
use airtoll_handshakes::GroupKeys;
use airtoll_handshakes::link::agreed::Link;
use airtoll_security::CipherSuite;

use super::{Join, Purpose, Session};
use crate::id::{NodeId, SessionId};
use crate::scenario::{Node, Scenario};

/// Group cipher suites, the weakest first: a BSS uses one that all of its stations have.
const BY_STRENGTH: [CipherSuite; 7] = [
    CipherSuite::Wep40,
    CipherSuite::Wep104,
    CipherSuite::Tkip,
    CipherSuite::Ccmp128,
    CipherSuite::Gcmp128,
    CipherSuite::Ccmp256,
    CipherSuite::Gcmp256,
];

/// BSS and the group cipher of its access point's BSSs, where the stations in them have policies with
/// different group ciphers.
pub(crate) fn common_ciphers(scenario: &Scenario) -> HashMap<&str, CipherSuite> {
    let encrypting = scenario
        .nodes
        .iter()
        .filter(|n| n.cipher != CipherSuite::Open);
    let stations: HashMap<&str, &Node> = encrypting.map(|n| (n.name.as_str(), n)).collect();
    let joining: Vec<(&Node, CipherSuite)> = scenario
        .associations
        .iter()
        .filter_map(|a| {
            Some((
                *stations.get(a.station.as_str())?,
                a.policy.link.group_cipher,
            ))
        })
        .collect();
    let mut common = HashMap::new();
    for bss in &scenario.bss {
        let Some(access_point) = scenario.access_point_of(&bss.name) else {
            continue;
        };
        let here = joining
            .iter()
            .filter(|(station, _)| access_point.bsss().any(|own| station.is_in(own)));
        let ciphers: BTreeSet<CipherSuite> = here.map(|(_, cipher)| *cipher).collect();
        if ciphers.len() > 1
            && let Some(cipher) = weakest(ciphers.into_iter())
        {
            common.insert(bss.name.as_str(), cipher);
        }
    }
    common
}

/// The weakest of some group ciphers; `None` where none of them encrypts.
pub(crate) fn weakest(ciphers: impl Iterator<Item = CipherSuite>) -> Option<CipherSuite> {
    let place = |suite: &CipherSuite| BY_STRENGTH.iter().position(|known| known == suite);
    let places = ciphers.filter_map(|suite| place(&suite));
    places.min().map(|place| BY_STRENGTH[place])
}

/// The suites of the keys that a station gets, and the station where its group key is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Suites {
    group: CipherSuite,
    management: Option<CipherSuite>,
    beacons: Option<CipherSuite>,
    own: Option<NodeId>,
}

impl Suites {
    pub fn of(link: &Link, own: Option<NodeId>) -> Self {
        Self {
            group: link.group,
            management: link.group_management(),
            beacons: link.beacon_integrity(),
            own,
        }
    }
}

/// The keys of a round on a link; message 3 and fast transitions hand out those of round 0 first.
pub(super) fn draw(
    streams: &Streams,
    access_point: NodeId,
    round: u32,
    link: u8,
    Suites {
        group,
        management,
        beacons,
        own,
    }: Suites,
) -> GroupKeys {
    let named = |use_: &str, suite: CipherSuite| {
        let first = format!("{use_}/{access_point}/{round}/{}", suite.name());
        let name = match link {
            0 => first,
            link => format!("{first}/link-{link}"),
        };
        let mut key = vec![0; suite.key_octets()];
        streams.named(&name).into_generator().fill_bytes(&mut key);
        key
    };
    let key = |suite| named("group-keys", suite);
    GroupKeys {
        gtk: match own {
            Some(station) => named(&format!("group-keys/{station}"), group),
            None => key(group),
        },
        igtk: management.map_or_else(Vec::new, key),
        bigtk: beacons.map_or_else(Vec::new, |suite| named("beacon-keys", suite)),
        key_id: if round % 2 == 1 { 2 } else { 1 },
    }
}

impl Join {
    /// The group keys of a session's access point in a round, if it has any: one set for each link
    /// of the session.
    pub(super) fn keys_for(&self, id: SessionId, round: u32) -> Option<Vec<GroupKeys>> {
        let streams = self.streams.as_ref()?;
        let session = &self.sessions[id];
        let (link, access_point) = (session.negotiation.link(), session.access_point());
        if link.group == CipherSuite::Open {
            return None;
        }
        let suites = Suites::of(link, self.own_key(id));
        let of_link = |id| draw(streams, access_point, round, id, suites);
        let mut all: Vec<GroupKeys> = session.link_ids().into_iter().map(of_link).collect();
        // Stations with a static WEP key have no other group key.
        let shared = || {
            let mut sessions = self.sessions.iter();
            sessions.find_map(|s| {
                let here = s.access_point() == access_point;
                here.then(|| s.negotiation.wep_key()).flatten()
            })
        };
        if matches!(link.group, CipherSuite::Wep40 | CipherSuite::Wep104)
            && let Some(key) = shared()
        {
            for keys in &mut all {
                keys.gtk.clone_from(&key);
                keys.key_id = 0;
            }
        }
        Some(all)
    }

    /// The station of a session, where its access point gives each station a group key of its own.
    pub(super) fn own_key(&self, id: SessionId) -> Option<NodeId> {
        let session = &self.sessions[id];
        let own = self.own_group_keys.contains(&session.access_point());
        own.then(|| session.station())
    }

    /// Group cipher and keys under which an access point sends to groups on a link once the present
    /// round of renewals is over; `None` where no station joins on the link in simulated time, or
    /// none has keys.
    pub fn group_keys(&self, access_point: NodeId, link: u8) -> Option<(CipherSuite, GroupKeys)> {
        let first = self.first_with_keys(access_point, link)?;
        let round = self.renewals.rounds(access_point);
        let mut ids = self.sessions[first].link_ids().into_iter();
        let at = ids.position(|id| id == link)?;
        let keys = self.keys_for(first, round)?.swap_remove(at);
        Some((self.link_of(first).group, keys))
    }

    /// The cipher of the access point's beacons on a link, where they are protected.
    pub fn beacon_integrity(&self, access_point: NodeId, link: u8) -> Option<CipherSuite> {
        let first = self.first_with_keys(access_point, link)?;
        self.link_of(first).beacon_integrity()
    }

    /// The cipher of the access point's management frames to groups on a link, where they are
    /// protected.
    pub fn group_management(&self, access_point: NodeId, link: u8) -> Option<CipherSuite> {
        let first = self.first_with_keys(access_point, link)?;
        self.link_of(first).group_management()
    }

    fn first_with_keys(&self, access_point: NodeId, link: u8) -> Option<SessionId> {
        let has_keys = |s: &Session| {
            s.purpose == Purpose::Entry
                && s.access_point() == access_point
                && s.protection_octets > 0
                && s.link_ids().contains(&link)
        };
        self.sessions.find(has_keys)
    }

    /// The access point will hand out its present group keys in the next key handshake of a session.
    pub(super) fn hand_out_group_keys(&mut self, id: SessionId) {
        let session = &self.sessions[id];
        if !matches!(session.purpose, Purpose::Entry | Purpose::Return) {
            return;
        }
        let access_point = session.access_point();
        let round = self.renewals.rounds(access_point);
        let Some(mut keys) = self.keys_for(id, round) else {
            return;
        };
        // A pairwise key has the identifier 0.
        for keys in &mut keys {
            keys.key_id = keys.key_id.max(1);
        }
        let session = &mut self.sessions[id];
        session.group_round = round;
        // The policy was read when the negotiation was made, so no error can come any more.
        let _ = session.negotiation.hand_out(keys);
    }
}
