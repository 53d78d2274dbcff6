//! What other rooms look up in associations: whose they are, and what was agreed.
//!
//! Takes numbers of associations, nodes or messages; gives what belongs to them. Never changes
//! anything.

use airtoll_handshakes::link::Link;
use airtoll_handshakes::{Negotiation, Party, Secrets, Stage};
use airtoll_units::Instant;

use super::{Associations, Join, Purpose, Signal, Standing};
use crate::mobility::Mobility;
use crate::world::World;

impl Associations {
    /// The message that a packet without a flow carries.
    pub fn signal(&self, mark: u32) -> Option<&Signal> {
        self.signals.get(mark as usize)?.as_ref()
    }

    /// Nodes between which a message goes.
    pub fn ends(&self, mark: u32) -> (u32, u32) {
        self.signal(mark).map_or((0, 0), |signal| {
            let join = &self.joins[signal.join as usize];
            join.ends(&signal.message)
        })
    }

    /// The negotiation of a station that joins in simulated time.
    pub fn negotiation(&self, node: u32) -> Option<&Negotiation> {
        let join = self.joins.iter().find(|j| j.node(Party::Station) == node)?;
        Some(&join.negotiation)
    }

    /// The association of a station before the traffic.
    pub fn of(&self, station: u32) -> Option<u32> {
        let own = |j: &Join| j.node(Party::Station) == station;
        self.joins.iter().position(own).map(|at| at as u32)
    }

    /// The link that an association negotiates.
    pub fn link_of(&self, join: u32) -> &Link {
        self.joins[join as usize].negotiation.link()
    }

    /// When the traffic began.
    pub const fn complete_at(&self) -> Instant {
        self.began
    }

    /// Whether an association was never begun.
    pub fn waits(&self, join: u32) -> bool {
        self.joins[join as usize].standing == Standing::Waiting
    }

    /// Station and access point of an association.
    pub fn ends_of(&self, join: u32) -> (u32, u32) {
        let join = &self.joins[join as usize];
        (join.node(Party::Station), join.node(Party::AccessPoint))
    }

    /// The far end of an association's tunnels, or [`NONE`].
    pub fn gateway_of(&self, join: u32) -> u32 {
        self.joins[join as usize].node(Party::Gateway)
    }

    /// Home agent and foreign agent of an association, or [`NONE`].
    pub fn agents_of(&self, join: u32) -> (u32, u32) {
        let join = &self.joins[join as usize];
        (join.node(Party::HomeAgent), join.node(Party::ForeignAgent))
    }

    /// The association in which a host listens for an agent of Mobile IP.
    pub fn listening(&self, host: u32, mobility: &Mobility) -> Option<u32> {
        let own = |j: &Join| j.listens && mobility.host(j.node(Party::Station)) == host;
        self.joins.iter().position(own).map(|at| at as u32)
    }

    /// Whether an association's station waits for an agent.
    pub fn listens(&self, join: u32) -> bool {
        self.joins[join as usize].listens
    }

    /// The node that sets up the tunnels of an association.
    pub fn tunnelling(&self, join: u32) -> u32 {
        self.joins[join as usize].tunnelling
    }

    /// Whether the keys of a node's tunnels come with a negotiation.
    pub fn negotiates_tunnels(&self, node: u32) -> bool {
        let own = |j: &Join| j.tunnelling == node || j.node(Party::Station) == node;
        self.joins.iter().any(own)
    }

    /// Station, access point and what they have agreed on so far.
    pub fn agreed(&self, join: u32) -> (u32, u32, Secrets) {
        let join = &self.joins[join as usize];
        let (station, access_point) = (join.node(Party::Station), join.node(Party::AccessPoint));
        let mut secrets = join.negotiation.secrets().clone();
        secrets.extend(join.agreed.clone());
        (station, access_point, secrets)
    }
}

impl World {
    /// Whether a station is in at its access point, as far as the link goes.
    pub(crate) fn is_linked(&self, station: u32) -> bool {
        let joins = self.association.joins.iter().enumerate();
        let mut own = joins.filter(|(_, j)| {
            j.purpose == Purpose::Entry
                && j.node(Party::Station) == station
                && j.standing != Standing::Waiting
        });
        let Some((number, join)) = own.next_back() else {
            return self.association.of(station).is_none();
        };
        let linked = match join.standing {
            Standing::Joined(_) => true,
            _ => matches!(
                join.negotiation.stage(),
                Some(Stage::MobileIp | Stage::Tunnel | Stage::TunnelMove)
            ),
        };
        let off = self.association.is_off(station);
        linked && !off && !self.mobility.has_left(number as u32)
    }
}
