//! Group keys of access points: one GTK, and with protected management frames one IGTK, for all
//! stations of a BSS (IEEE 802.11-2020, 12.7.1.4).
//!
//! Takes an access point, the round of its renewals and the group ciphers; gives the keys that it
//! hands out and sends under. Keys follow from the seed alone. Never says when they are renewed:
//! `renewal` does.

use airtoll_engine::Streams;
use airtoll_handshakes::{GroupKeys, Party};
use airtoll_security::CipherSuite;

use super::{Associations, Purpose};
use crate::scenario::Scenario;
use crate::world::World;

/// Group cipher suites, the weakest first: a BSS uses what all of its stations can.
const BY_STRENGTH: [CipherSuite; 7] = [
    CipherSuite::Wep40,
    CipherSuite::Wep104,
    CipherSuite::Tkip,
    CipherSuite::Ccmp128,
    CipherSuite::Gcmp128,
    CipherSuite::Ccmp256,
    CipherSuite::Gcmp256,
];

/// The one group cipher of a BSS in which stations of several policies meet, by its name in
/// policies; `None` where they are of one mind.
pub(super) fn common_cipher(scenario: &Scenario, bss: Option<&str>) -> Option<String> {
    let in_it = |station: &str| {
        let node = scenario.nodes.iter().find(|n| n.name == station);
        node.is_some_and(|n| n.bss.as_deref() == bss && n.cipher != CipherSuite::Open)
    };
    let mut names: Vec<&str> = scenario
        .associations
        .iter()
        .filter(|a| in_it(&a.station))
        .map(|a| a.policy.link.group_cipher.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < 2 {
        return None;
    }
    let weakest = BY_STRENGTH
        .iter()
        .find(|suite| names.contains(&suite.name()))?;
    Some(weakest.name().to_owned())
}

/// The keys of a round; round 0 is what message 3 and fast transitions hand out at first.
pub(super) fn draw(
    streams: &Streams,
    access_point: u32,
    round: u32,
    (group, management): (CipherSuite, Option<CipherSuite>),
) -> GroupKeys {
    let key = |suite: CipherSuite| {
        let name = format!("group-keys/{access_point}/{round}/{}", suite.name());
        let mut key = vec![0; suite.key_octets()];
        streams.named(&name).into_generator().fill_bytes(&mut key);
        key
    };
    GroupKeys {
        gtk: key(group),
        igtk: management.map_or_else(Vec::new, key),
        key_id: if round % 2 == 1 { 2 } else { 1 },
    }
}

impl Associations {
    /// The keys that an association's access point hands out in this round, where there are any.
    pub(super) fn keys_for(&self, join: u32, round: u32) -> Option<GroupKeys> {
        let streams = self.renewals.streams.as_ref()?;
        let state = &self.joins[join as usize];
        let (link, access_point) = (state.negotiation.link(), state.node(Party::AccessPoint));
        if link.group == CipherSuite::Open {
            return None;
        }
        let suites = (link.group, link.group_management());
        let mut keys = draw(streams, access_point, round, suites);
        // Stations with a static WEP key have no other group key.
        let shared = || {
            let mut joins = self.joins.iter();
            joins.find_map(|j| {
                let here = j.node(Party::AccessPoint) == access_point;
                here.then(|| j.negotiation.wep_key()).flatten()
            })
        };
        if matches!(link.group, CipherSuite::Wep40 | CipherSuite::Wep104)
            && let Some(key) = shared()
        {
            keys.gtk = key;
            keys.key_id = 0;
        }
        Some(keys)
    }

    /// Group cipher and keys under which an access point sends to groups once the present round
    /// of renewals is over; `None` where none of its stations has to join, or none has keys.
    pub fn group_keys(&self, access_point: u32) -> Option<(CipherSuite, GroupKeys)> {
        let join = self.first_with_keys(access_point)?;
        let round = self.renewals.rounds(access_point);
        let keys = self.keys_for(join as u32, round)?;
        Some((self.joins[join].negotiation.link().group, keys))
    }

    /// The cipher of its management frames to groups, where they are protected.
    pub fn group_management(&self, access_point: u32) -> Option<CipherSuite> {
        let join = self.first_with_keys(access_point)?;
        self.joins[join].negotiation.link().group_management()
    }

    fn first_with_keys(&self, access_point: u32) -> Option<usize> {
        self.joins.iter().position(|j| {
            j.purpose == Purpose::Entry
                && j.node(Party::AccessPoint) == access_point
                && j.protection_octets > 0
        })
    }
}

impl World {
    /// Has an access point hand out the keys of its BSS in the key handshake to come.
    pub(super) fn hand_out_group_keys(&mut self, join: u32) {
        let state = &self.association.joins[join as usize];
        if !matches!(state.purpose, Purpose::Entry | Purpose::Return) {
            return;
        }
        let access_point = state.node(Party::AccessPoint);
        let round = self.association.renewals.rounds(access_point);
        let Some(mut keys) = self.association.keys_for(join, round) else {
            return;
        };
        // A pairwise key has the identifier 0.
        keys.key_id = keys.key_id.max(1);
        let state = &mut self.association.joins[join as usize];
        state.group_round = round;
        // The policy was read when the negotiation was made, so an error cannot come any more.
        let _ = state.negotiation.hand_out(keys);
    }
}
