//! Beacons: an access point sends them at its interval, and stations that scan may hear them.

use airtoll_units::Duration;

use super::Mac;
use super::contention::Standing;
use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{ContenderId, HandoverId, Pair, RadioId};
use crate::medium::{Medium, Origin, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::Air;

/// An AP's beacons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BeaconPlan {
    pub contender: ContenderId,
    pub interval: Duration,
    pub length: Duration,
    pub vector: airtoll_phy::TxVector,
    pub octets: u32,
    /// Airtime and length of every second beacon, where the networks of the access point are in turn
    /// hidden and open.
    pub open: Option<(Duration, u32)>,
    pub ssids: u32,
    /// Octets of the bitmap of the TIM beyond the first, in the beacon on the air or the next one.
    pub bitmap_octets: u32,
    /// Beacon intervals that have begun.
    pub due: u64,
    /// Beacons due and not sent.
    pub waiting: u32,
}

impl BeaconPlan {
    /// The network whose beacon is on the air or the next one.
    pub fn network(&self) -> u32 {
        (self.ssids - self.waiting % self.ssids) % self.ssids
    }

    /// Airtime and length of that beacon.
    pub fn present(&self) -> (Duration, u32) {
        let own = (self.length, self.octets);
        let (length, octets) = self.open.filter(|_| self.network() % 2 == 1).unwrap_or(own);
        if self.bitmap_octets == 0 {
            return (length, octets);
        }
        let octets = octets + self.bitmap_octets;
        (airtoll_phy::airtime(&self.vector, octets), octets)
    }
}

/// A station that listens for the beacons of an access point during a scan.
#[derive(Debug, Clone, Copy)]
pub(super) struct Listener {
    /// The hand-over that the scan belongs to.
    handover: HandoverId,
    station: RadioId,
    access_point: RadioId,
}

impl Mac {
    /// Sets the beacons of an access point.
    pub fn set_beacon(&mut self, node: RadioId, plan: BeaconPlan) {
        self.contenders[plan.contender].beacons = true;
        self.nodes[node].beacon = Some(plan);
    }

    /// Sets whether a station listens for the beacons of an access point, for a hand-over.
    pub fn set_listening(&mut self, handover: HandoverId, pair: Pair<RadioId>, listening: bool) {
        let Pair {
            station,
            access_point,
        } = pair;
        self.listeners
            .retain(|l| (l.handover, l.access_point) != (handover, access_point));
        if listening {
            let at = self.listeners.partition_point(|l| l.handover < handover);
            let listener = Listener {
                handover,
                station,
                access_point,
            };
            self.listeners.insert(at, listener);
        }
    }

    /// An AP's beacon is due.
    pub fn beacon_due(&mut self, cx: &mut Context, medium: &mut Medium, node: RadioId) {
        let now = cx.now();
        let Some(plan) = &mut self.nodes[node].beacon else {
            return;
        };
        plan.due += 1;
        plan.waiting += plan.ssids;
        let (id, interval) = (plan.contender, plan.interval);
        cx.schedule(now + interval, Event::Beacon { access_point: node });
        if self.contenders[id].standing == Standing::Resting {
            self.wake(cx, medium, id);
        }
    }

    /// The beacons of a contender that sends nothing else.
    #[inline]
    pub(super) fn beacon_of(&self, id: ContenderId) -> Option<&BeaconPlan> {
        let contender = &self.contenders[id];
        if contender.beacons {
            self.nodes[contender.node].beacon.as_ref()
        } else {
            None
        }
    }

    /// A beacon left the air.
    pub(super) fn beacon_sent(&mut self, cx: &mut Context, medium: &mut Medium, t: &Transmission) {
        let (now, id) = (cx.now(), t.contender);
        cx.observe_air(Air::Management, t.alone);
        if !self.listeners.is_empty() {
            self.beacon_heard(cx, medium, t);
        }
        let node = self.contenders[id].node;
        if self.has_savers()
            && let Some(plan) = self.nodes[node].beacon
        {
            self.announce_kept(cx, medium, t, &plan);
        }
        let mut more = false;
        if let Some(plan) = &mut self.nodes[node].beacon {
            let (_, octets) = plan.present();
            if t.origin == Origin::Own {
                cx.observe(Observation::ManagementOctets { octets });
            }
            plan.waiting -= 1;
            more = plan.waiting > 0;
        }
        if !more {
            self.want(cx, medium, id, false);
            self.release_groups(cx, medium, node);
        }
        self.back_off_apart(now, id, now, more);
    }

    fn beacon_heard(&mut self, cx: &mut Context, medium: &mut Medium, t: &Transmission) {
        let Some(plan) = self.nodes[t.node].beacon else {
            return;
        };
        for listener in &self.listeners {
            if listener.access_point == t.node
                && medium.control_arrives(t, listener.station, &plan.vector, plan.octets)
            {
                let handover = listener.handover;
                cx.act(Action::BeaconHeard { handover });
            }
        }
    }
}
