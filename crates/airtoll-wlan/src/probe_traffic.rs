//! Probe traffic of stations that pass by, and its share of the air, were it alone there.
//!
//! Takes a scenario; gives the frames of a request and of its responses, with their octets and airtimes.
//! Nothing is simulated: no frame waits, and none is lost but those to stations that have left.

use airtoll_phy::{self as phy, TxVector};
use airtoll_units::Duration;

use crate::address;
use crate::announce::{Announcement, StationPhy};
use crate::id::NodeId;
use crate::mac;
use crate::scenario::{Bss, Scenario, Standard};

/// Probe traffic of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeTraffic {
    /// Requests per second.
    pub per_s: f64,
    /// Length of a request with FCS, octets.
    pub request_octets: u32,
    /// Airtime of a request.
    pub request: Duration,
    /// The responses of all access points that hear it.
    pub responses: Vec<ProbeResponse>,
    /// Share of responses to stations that have left.
    pub leaves_ratio: f64,
}

/// The response of one network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeResponse {
    /// The BSS of the access point.
    pub bss: String,
    /// Number of the network among those of the access point.
    pub network: u8,
    /// Length with FCS, octets.
    pub octets: u32,
    /// Airtime of one attempt.
    pub length: Duration,
    /// SIFS and the Ack.
    pub answer: Duration,
    /// Attempts where its station has left.
    pub attempts: u8,
}

impl ProbeTraffic {
    /// Share of the air that requests, responses and their Acks take.
    #[must_use]
    pub fn share(&self) -> f64 {
        let each = self.responses.iter().map(|response| {
            let length = response.length.as_secs_f64();
            let heard = length + response.answer.as_secs_f64();
            let unheard = length * f64::from(response.attempts);
            heard * (1.0 - self.leaves_ratio) + unheard * self.leaves_ratio
        });
        self.per_s * (self.request.as_secs_f64() + each.sum::<f64>())
    }
}

/// The probe traffic of a scenario where stations pass by, of the access points that sense them.
#[must_use]
pub fn probe_traffic(scenario: &Scenario) -> Option<ProbeTraffic> {
    let (passing, passers) = scenario.passers_by()?;
    let request_octets = request_octets(scenario, passing);
    let own = scenario
        .answering(passing)
        .find(|(_, bss, _)| bss.neighbour.is_none());
    let request = lowest(scenario, own.map_or(passing, |(_, bss, _)| bss));
    let level = passing.neighbour.and_then(|neighbour| neighbour.level_dbm);
    let senses = level.is_none_or(|level| level >= scenario.radio.carrier_sense_dbm);
    let mut responses = Vec::new();
    for (_, bss, access_point) in scenario.answering(passing).filter(|_| senses) {
        let vector = lowest(scenario, bss);
        let with_b = has_b(scenario, bss);
        let ack = phy::control_response(&vector, mac::basic_rates(bss, with_b));
        let sifs = mac::timing(bss, with_b).sifs;
        let all = scenario.nodes.iter();
        let at = all
            .take_while(|node| node.name != access_point.name)
            .count();
        for (network, octets) in responses_of(scenario, bss, NodeId::new(at as u32)) {
            responses.push(ProbeResponse {
                bss: bss.name.clone(),
                network,
                octets,
                length: phy::airtime(&vector, octets),
                answer: sifs + phy::airtime(&ack, phy::ACK_OCTETS),
                attempts: bss.response_attempts(passers),
            });
        }
    }
    Some(ProbeTraffic {
        per_s: passers.per_s,
        request_octets,
        request: phy::airtime(&request, request_octets),
        responses,
        leaves_ratio: passers.leaves_ratio,
    })
}

/// Length of a request with FCS, octets.
pub(crate) fn request_octets(scenario: &Scenario, passing: &Bss) -> u32 {
    let mut stations = scenario.nodes.iter().filter(|n| n.is_in(&passing.name));
    let request = stations.next().map_or(Vec::new(), |station| {
        StationPhy::of(passing, station).wildcard_request(airtoll_wire::MacAddress::ZERO, 0)
    });
    request.len() as u32 + phy::FCS_OCTETS
}

/// Networks of an access point that answer, each with the octets of its response.
pub(crate) fn responses_of(scenario: &Scenario, bss: &Bss, access_point: NodeId) -> Vec<(u8, u32)> {
    let announcement = Announcement::of(scenario, bss, address::mac(access_point));
    let networks = announcement.answering();
    networks
        .map(|number| (number as u8, announcement.response_octets(number)))
        .collect()
}

/// The lowest basic rate of a BSS.
fn lowest(scenario: &Scenario, bss: &Bss) -> TxVector {
    mac::basic_rates(bss, has_b(scenario, bss)).lowest(mac::band(bss))
}

fn has_b(scenario: &Scenario, bss: &Bss) -> bool {
    let mut members = scenario.nodes.iter().filter(|n| n.is_in(&bss.name));
    members.any(|node| node.standard == Some(Standard::B))
}
