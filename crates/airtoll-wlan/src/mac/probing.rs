//! Probe traffic of stations that pass by (IEEE 802.11-2020, 11.1.4.3): their requests, and the responses of all
//! access points that hear them.
//!
//! The stations take turns, and each request is one of another station: it has an address of its own
//! in captures. Management frames are sent as voice and at the lowest basic rate (10.2.3.2;
//! `ieee80211_select_queue` and `rate_control_send_low` in Linux's net/mac80211), responses one by one for each
//! network. A station that left acknowledges none of them, and each is repeated up to its last attempt.

use airtoll_engine::Stream;
use airtoll_units::Duration;

use super::group::GroupFrame;
use super::queue::SIGNALLING_CATEGORY;
use super::{Mac, Mpdu};
use crate::context::Context;
use crate::event::Event;
use crate::id::{ContenderId, LinkId, RadioId, TransmissionId};
use crate::medium::{Medium, Transmission};
use crate::packet::{Carries, Packet, Probe, Stay};

/// A station that passes by, and its link for requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passer {
    pub radio: RadioId,
    pub requests: LinkId,
}

/// An access point that answers.
#[derive(Debug)]
pub(crate) struct Responder {
    pub radio: RadioId,
    /// Its links to the stations that pass by, in their order.
    pub links: Vec<LinkId>,
    /// Networks that answer, each with the octets of its response.
    pub responses: Vec<(u8, u32)>,
}

/// When requests and responses come.
#[derive(Debug)]
pub(crate) struct Rhythm {
    /// Mean time between two requests.
    pub mean_interval_s: f64,
    pub leaves_ratio: f64,
    /// The longest time until an access point has its responses ready.
    pub most_delay: Duration,
    /// Times of requests, who leaves, and times of responses.
    pub times: Stream,
    pub stays: Stream,
    pub delays: Stream,
}

impl Rhythm {
    fn interval(&mut self) -> Duration {
        let factor = -libm::log(1.0 - self.times.unit());
        Duration::from_secs_f64(factor * self.mean_interval_s)
    }

    fn stay(&mut self) -> Stay {
        if self.stays.unit() < self.leaves_ratio {
            Stay::Leaves
        } else {
            Stay::Listens
        }
    }

    fn delay(&mut self) -> Duration {
        let most = self.most_delay.as_nanos() as f64;
        Duration::from_nanos((most * self.delays.unit()) as u64)
    }
}

/// Stations that pass by, and the access points that answer them.
#[derive(Debug)]
pub(crate) struct Probing {
    rhythm: Rhythm,
    passers: Vec<Passer>,
    request_octets: u32,
    responders: Vec<Responder>,
    /// Requests so far.
    requests: u32,
}

impl Probing {
    /// Stations that send requests of `request_octets` with FCS, and access points that answer.
    pub fn new(
        rhythm: Rhythm,
        passers: Vec<Passer>,
        request_octets: u32,
        responders: Vec<Responder>,
    ) -> Self {
        Self {
            rhythm,
            passers,
            request_octets,
            responders,
            requests: 0,
        }
    }

    /// Place of the station of a request.
    fn place(&self, probe: Probe) -> usize {
        probe.number as usize % self.passers.len()
    }
}

impl Mac {
    /// Sets the stations that pass by; the first request is an event.
    pub fn set_probing(&mut self, cx: &mut Context, mut probing: Probing) {
        let first = cx.now() + probing.rhythm.interval();
        cx.schedule(first, Event::ProbeRequest);
        self.probing = Some(Box::new(probing));
        self.ends_frames = true;
    }

    /// Whether a radio is of a station that passes by.
    pub fn passes_by(&self, radio: RadioId) -> bool {
        let mut passers = self.probing.iter().flat_map(|p| &p.passers);
        passers.any(|passer| passer.radio == radio)
    }

    /// An access point that answers stations that pass by.
    pub fn first_responder(&self) -> Option<RadioId> {
        Some(self.probing.as_ref()?.responders.first()?.radio)
    }

    /// The next station that passes by sends a request.
    #[cold]
    pub fn probe_due(&mut self, cx: &mut Context, medium: &mut Medium) {
        let Some(probing) = &mut self.probing else {
            return;
        };
        let next = cx.now() + probing.rhythm.interval();
        cx.schedule(next, Event::ProbeRequest);
        let probe = Probe {
            number: probing.requests,
            stay: probing.rhythm.stay(),
        };
        probing.requests = probing.requests.wrapping_add(1);
        let passer = probing.passers[probing.place(probe)];
        let octets = probing.request_octets;
        let carries = Carries::ProbeRequest { probe };
        self.send_probe_frame(cx, medium, (passer.requests, passer.radio), carries, octets);
    }

    /// A request left the air: every access point that hears it has responses ready soon.
    #[cold]
    pub fn hear_probe(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        (frame, probe): (&GroupFrame, Probe),
    ) {
        cx.packets.remove(frame.packet);
        let Some(probing) = &mut self.probing else {
            return;
        };
        for responder in &probing.responders {
            let access_point = responder.radio;
            let delay = probing.rhythm.delay();
            if medium.senses(access_point, t.node)
                && medium.control_arrives(t, access_point, &frame.vector, frame.octets)
            {
                let event = Event::ProbeResponse {
                    access_point,
                    probe,
                };
                cx.schedule(cx.now() + delay, event);
            }
        }
    }

    /// An access point has its responses to a request ready.
    #[cold]
    pub fn answer_probe(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        access_point: RadioId,
        probe: Probe,
    ) {
        let Some(probing) = &self.probing else {
            return;
        };
        let own = |responder: &&Responder| responder.radio == access_point;
        let Some(responder) = probing.responders.iter().find(own) else {
            return;
        };
        let link = responder.links[probing.place(probe)];
        for (network, octets) in responder.responses.clone() {
            let carries = Carries::ProbeResponse { probe, network };
            self.send_probe_frame(cx, medium, (link, access_point), carries, octets);
        }
    }

    fn send_probe_frame(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, from): (LinkId, RadioId),
        carries: Carries,
        octets: u32,
    ) {
        let to = medium.host_of(self.links[link].peer);
        let mut packet = Packet::new(carries, to, octets, cx.now());
        packet.category = SIGNALLING_CATEGORY;
        let packet = cx.packets.insert(packet);
        let contender = self.contender(from, SIGNALLING_CATEGORY);
        self.enqueue_signalling(cx, medium, (link, contender), packet);
    }

    /// Whether the receiver of the frame of a signalling link on the air left before it.
    #[cold]
    pub(super) fn receiver_left(&self, cx: &Context, link: LinkId) -> bool {
        let mut window = self.links[link].window.iter();
        // A receiver that had it before has consumed its packet, and is there.
        let flying = window.find(|m: &&Mpdu| m.in_flight.is_some() && !m.delivered);
        flying.is_some_and(|mpdu| {
            let left = |probe: Probe| probe.stay == Stay::Leaves;
            matches!(cx.packets[mpdu.head].carries, Carries::ProbeResponse { probe, .. } if left(probe))
        })
    }

    /// The response that a radio has begun to send is a part of the contender's exchange, which is an
    /// own one also where the radio passes by.
    #[cold]
    pub(super) fn own_response(
        &self,
        medium: &mut Medium,
        (contender, radio): (ContenderId, RadioId),
        transmission: TransmissionId,
    ) {
        if self.passes_by(radio) {
            let owner = self.contenders[contender].node;
            medium.count_as(radio, transmission, owner);
        }
    }
}
