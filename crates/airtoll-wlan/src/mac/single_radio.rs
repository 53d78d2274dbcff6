//! Stations with one radio for several links: enhanced multi-link single-radio operation (EMLSR, IEEE
//! 802.11be-2024, 35.3.17).
//!
//! Such a station listens on all of its links, and exchanges frames on one of them at a time. Its access
//! point opens each exchange by an initial control frame: a MU-RTS Trigger frame at 6, 12 or 24 Mb/s whose
//! padding lasts as long as the radio takes to turn to that link. The station answers by a CTS at 6 Mb/s
//! (IEEE 802.11ax-2021, 26.2.6.3). After the exchange it listens on all links again once a timeout and the
//! transition delay are over, and the access point sends it nothing before. The station starts an exchange of
//! its own on any link without such a frame; its radio has turned to the link during the back-off. On its
//! other links it is deaf meanwhile: counters rest, and an initial control frame that the access point has
//! begun before it knows of the exchange gets no answer.
//!
//! A station that was deaf on a link for longer than 72 us may have missed a reservation of the medium: for
//! 5.484 ms, or until it decodes a frame there, its exchanges on the link begin with an RTS (35.3.16.8).
//!
//! A contender whose radio is away is [`Standing::Preparing`]. Frames of management and EAPOL have no initial
//! control frame.

use airtoll_phy::{self as phy, OctetSpan, OfdmRate, Trigger, TxVector, Width};
use airtoll_units::{Duration, Instant};

use super::contention::Standing;
use super::link::Way;
use super::{Mac, Mode};
use crate::context::{Action, Context};
use crate::event::Event;
use crate::id::{ContenderId, Ends, LinkId, RadioId, Table};
use crate::medium::{AirTime, FrameKind, Gap, Medium, Transmission};
use crate::observe::ledger::Air;

/// aRxPHYStartDelay of a non-HT PPDU (table 17-21).
const RX_START_DELAY: Duration = Duration::from_micros(20);
/// aMediumSyncThreshold (35.3.16.8.1).
const SYNC_THRESHOLD: Duration = Duration::from_micros(72);
/// Default of the MediumSyncDelay timer: aPPDUMaxTime.
const SYNC_DELAY: Duration = Duration::from_micros(5_484);
/// Symbol of OFDM at 20 MHz, us.
const SYMBOL_US: u64 = 4;
/// Octets of a PPDU from which a receiver knows the transmitter: MPDU delimiter and addresses.
const UP_TO_TRANSMITTER: u32 = 4 + 16;

/// Radios of a station on its links, and those of its access point there.
#[derive(Debug)]
pub(crate) struct RadioSet {
    pub station: Vec<RadioId>,
    pub access_point: Vec<RadioId>,
}

/// Times of a station with one radio for several links.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RadioRules {
    /// Padding of the initial control frame.
    pub padding: Duration,
    /// From the end of an exchange until the radio listens on all links.
    pub transition: Duration,
    /// From the last answer until an exchange of the access point is over, if not the standard's.
    pub end_timeout: Option<Duration>,
}

/// The frames that open an exchange with such a station.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opening {
    /// Of the initial control frame, padding included.
    pub octets: u32,
    pub vector: TxVector,
    pub length: Duration,
    /// Of the CTS.
    pub cts_vector: TxVector,
    pub cts: Duration,
}

/// Where the radio of a station is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// It listens on all links.
    Listening,
    /// On a link, for an exchange.
    Engaged {
        on: RadioId,
        /// The contender whose exchange it is.
        holder: ContenderId,
        /// It has answered, or has begun the exchange itself.
        answered: bool,
        began: Instant,
        /// When the access point learns of it.
        known_at: Instant,
        known: bool,
    },
    /// On its way back from a link.
    Returning { on: RadioId, until: Instant },
}

/// A station with one radio for several links.
#[derive(Debug)]
struct Station {
    radios: RadioSet,
    rules: RadioRules,
    place: Place,
    /// Since when it is deaf on the links that its radio is not on.
    deaf_since: Instant,
    /// By link: since when it listens there, and until when it lacks the state of the medium.
    listens_since: Vec<Instant>,
    synced_from: Vec<Instant>,
}

/// All stations with one radio for several links.
#[derive(Debug, Default)]
pub(super) struct SingleRadios {
    stations: Vec<Station>,
    /// The station of a radio.
    station_of: Table<RadioId, Option<u32>>,
    /// The latest end of a lack of the state of the medium.
    unsynced_until: Instant,
}

impl SingleRadios {
    /// Number of the station of a radio.
    #[inline]
    fn number(&self, radio: RadioId) -> Option<usize> {
        let number = self.station_of.get(radio).copied().flatten()?;
        Some(number as usize)
    }

    fn station(&self, radio: RadioId) -> Option<&Station> {
        Some(&self.stations[self.number(radio)?])
    }

    /// The station at one of two ends, and its radio.
    fn at_ends(&self, ends: Ends<RadioId>) -> Option<(usize, RadioId)> {
        let at = |radio| Some((self.number(radio)?, radio));
        at(ends.from).or_else(|| at(ends.to))
    }
}

impl Station {
    /// Whether its radio is away from one of its links at `now`. A frame that begins at this instant does not
    /// keep others from beginning one.
    fn is_away(&self, radio: RadioId, now: Instant) -> bool {
        match self.place {
            Place::Listening => false,
            Place::Engaged { on, began, .. } => on != radio && began < now,
            Place::Returning { on, .. } => on != radio,
        }
    }

    fn is_held_by(&self, contender: ContenderId) -> bool {
        matches!(self.place, Place::Engaged { holder, .. } if holder == contender)
    }

    /// Number of the link of a radio.
    fn link(&self, radio: RadioId) -> usize {
        let mut own = self.radios.station.iter();
        own.position(|other| *other == radio).unwrap_or(0)
    }
}

impl Opening {
    /// Of an exchange whose data have this mode (35.3.17; the padding of 35.5.2.2.3).
    fn new(mode: &Mode, padding: Duration) -> Self {
        let protecting = mode.guard();
        let rate = match protecting.bit_rate().0 {
            24_000_000.. => OfdmRate::M24,
            12_000_000.. => OfdmRate::M12,
            _ => OfdmRate::M6,
        };
        let vector = TxVector::ofdm(rate, protecting.band());
        let symbols = padding.as_nanos().div_ceil(SYMBOL_US * 1_000) as u32;
        let octets_per_symbol = rate.mbps() * SYMBOL_US as u32 / 8;
        // The special user info field of the EHT variant (9.3.1.22.4).
        let wide = if mode.vector().width() == Width::Mhz320 {
            5
        } else {
            0
        };
        let octets = phy::trigger_octets(Trigger::MuRts, 1) + wide + symbols * octets_per_symbol;
        let cts_vector = TxVector::ofdm(OfdmRate::M6, protecting.band());
        Self {
            octets,
            vector,
            length: phy::airtime(&vector, octets),
            cts_vector,
            cts: phy::airtime(&cts_vector, phy::CTS_OCTETS),
        }
    }

    /// Time of the frames and spaces before the data.
    fn time(&self, sifs: Duration) -> Duration {
        self.length + sifs + self.cts + sifs
    }
}

impl Mac {
    /// A station has one radio for these links.
    pub fn share_one_radio(&mut self, radios: RadioSet, rules: RadioRules) {
        // A CTS depends on the NAV of the station.
        self.uses_rts = true;
        let all = self.single_radios.get_or_insert_default();
        let links = radios.station.len();
        for &radio in &radios.station {
            while all.station_of.get(radio).is_none() {
                all.station_of.push(None);
            }
            all.station_of[radio] = Some(all.stations.len() as u32);
        }
        all.stations.push(Station {
            radios,
            rules,
            place: Place::Listening,
            deaf_since: Instant::ZERO,
            listens_since: vec![Instant::ZERO; links],
            synced_from: vec![Instant::ZERO; links],
        });
    }

    /// Whether a radio belongs to a station whose only one is on another link at `now`.
    pub(super) fn is_away(&self, radio: RadioId, now: Instant) -> bool {
        let station = self.single_radios.as_ref().and_then(|s| s.station(radio));
        station.is_some_and(|station| station.is_away(radio, now))
    }

    /// Whether a contender of an access point, as far as that knows, may send by a link to a station now.
    pub(super) fn may_address(&self, contender: ContenderId, (link, way): (LinkId, Way)) -> bool {
        let peer = self.links[link].ends(way).to;
        let station = self.single_radios.as_ref().and_then(|s| s.station(peer));
        match station.map(|station| station.place) {
            None | Some(Place::Listening) => true,
            Some(Place::Engaged { holder, known, .. }) => holder == contender || !known,
            Some(Place::Returning { .. }) => false,
        }
    }

    /// A contender got a frame: gives whether its radio is away, so that it contends later.
    #[cold]
    pub(super) fn waits_for_radio(&mut self, cx: &Context, id: ContenderId) -> bool {
        let away = self.is_away(self.contenders[id].node, cx.now());
        if away {
            self.draw_aside(id);
        }
        away
    }

    /// A contender won: gives whether its radio is away, so that it contends later. Radios of a station
    /// whose counters end at the same instant know of one another.
    #[cold]
    pub(super) fn wins_without_radio(&mut self, id: ContenderId, now: Instant) -> bool {
        let node = self.contenders[id].node;
        let station = self.single_radios.as_ref().and_then(|s| s.station(node));
        let away = station.is_some_and(|station| match station.place {
            Place::Engaged { on, holder, .. } => {
                let own = self.contenders[holder].node == on;
                on != node && own || station.is_away(node, now)
            }
            _ => station.is_away(node, now),
        });
        if away {
            self.draw_aside(id);
        }
        away
    }

    /// A contender has chosen its frames: the radio of a station with one turns to the link.
    #[cold]
    pub(super) fn occupy_radio(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        if self.sends_beacons(id) {
            return;
        }
        let now = cx.now();
        let exchange = &self.exchanges[id];
        let link = &self.links[exchange.link()];
        let ends = link.ends(exchange.way());
        let (group, signalling) = (link.is_group(), link.is_signalling());
        let all = self.single_radios.as_ref();
        let Some((number, on)) = all.and_then(|all| all.at_ends(ends)).filter(|_| !group) else {
            return;
        };
        let own = on == ends.from;
        let station = self.station_mut(number);
        if station.is_held_by(id) {
            return;
        }
        // An access point that does not know of an exchange of the station gets no answer; a station does
        // not know of a frame for it that begins at the same instant.
        if matches!(station.place, Place::Engaged { .. }) && !own {
            return;
        }
        if matches!(station.place, Place::Listening) {
            station.deaf_since = now;
        }
        station.place = Place::Engaged {
            on,
            holder: id,
            answered: own || signalling,
            began: now,
            known_at: now,
            known: !own,
        };
        if own {
            self.learn_later(cx, (number, on), id);
        }
        self.rest_others(cx, medium, number, on);
    }

    /// The access point learns of an exchange of a station by its RTS, or by the addresses of the first MPDU.
    fn learn_later(&mut self, cx: &mut Context, (number, on): (usize, RadioId), id: ContenderId) {
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode()];
        let link = &self.links[exchange.link()];
        let octets = exchange.content().psdu;
        let rts = mode.protection(octets, link.rts_octets) != crate::scenario::Protection::None;
        let after = if rts || self.lacks_sync(cx, id) {
            mode.rts()
        } else {
            let addresses = OctetSpan {
                from: 0,
                to: UP_TO_TRANSMITTER.min(octets),
            };
            phy::octets_on_air(mode.vector(), addresses).to
        };
        let at = cx.now() + after;
        if let Place::Engaged { known_at, .. } = &mut self.station_mut(number).place {
            *known_at = at;
        }
        cx.schedule(at, Event::SingleRadio { station: on });
    }

    fn station_mut(&mut self, number: usize) -> &mut Station {
        let all = self.single_radios.as_mut();
        &mut all
            .expect("a station is among those with one radio")
            .stations[number]
    }

    /// The contenders of a station on other links rest.
    fn rest_others(&mut self, cx: &Context, medium: &Medium, number: usize, on: RadioId) {
        let links = self.station_mut(number).radios.station.len();
        for link in 0..links {
            let radio = self.station_mut(number).radios.station[link];
            if radio == on || medium.engaged_until(radio) > cx.now() {
                continue;
            }
            for category in 0..4 {
                let id = self.contender(radio, category);
                if self.contenders[id].standing == Standing::Counting {
                    self.set_aside(cx.now(), id);
                }
            }
        }
    }

    /// The frames that open the present exchange of a contender, where it needs them.
    #[inline]
    pub fn opening(&self, id: ContenderId) -> Option<Opening> {
        self.single_radios.as_ref()?;
        let exchange = &self.exchanges[id];
        let mode = &self.modes[exchange.mode()];
        self.opening_before(id, (exchange.link(), exchange.way()), mode)
    }

    #[cold]
    fn opening_before(
        &self,
        id: ContenderId,
        (link, way): (LinkId, Way),
        mode: &Mode,
    ) -> Option<Opening> {
        let link = &self.links[link];
        if link.is_signalling() || link.is_group() {
            return None;
        }
        let station = self.single_radios.as_ref()?.station(link.ends(way).to)?;
        let answered = match station.place {
            Place::Engaged {
                holder, answered, ..
            } => holder == id && answered,
            _ => false,
        };
        (!answered).then(|| Opening::new(mode, station.rules.padding))
    }

    /// Time of the frames that open an exchange by a link; zero where it needs none.
    #[cold]
    pub(super) fn opening_time(
        &self,
        sifs: Duration,
        id: ContenderId,
        at: (LinkId, Way),
        mode: &Mode,
    ) -> Duration {
        let opening = self.opening_before(id, at, mode);
        opening.map_or(Duration::ZERO, |opening| opening.time(sifs))
    }

    /// Sends the initial control frame of an exchange, where it needs one.
    #[cold]
    pub(super) fn send_initial_control(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
    ) -> bool {
        let Some(opening) = self.opening(id) else {
            return false;
        };
        let sifs = self.sifs(medium, id);
        let node = self.contenders[id].node;
        let exchange = &self.exchanges[id];
        let answer = exchange.answer(&self.modes[exchange.mode()]);
        let rest = sifs + opening.cts + sifs + exchange.length() + sifs + answer;
        let air = AirTime {
            length: opening.length,
            protects: rest,
        };
        self.transmit(cx, medium, (id, node), FrameKind::InitialControl, air);
        true
    }

    /// An initial control frame ended: the station answers if it got it and its radio is free.
    #[cold]
    pub(super) fn initial_control_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
    ) {
        let (now, id) = (cx.now(), t.contender);
        let Some(opening) = self.opening(id) else {
            return;
        };
        let exchange = &self.exchanges[id];
        let peer = self.links[exchange.link()].ends(exchange.way()).to;
        let all = self.single_radios.as_ref();
        let station = all.and_then(|all| all.station(peer));
        let there = station.is_some_and(|station| station.is_held_by(id));
        let arrived = medium.control_arrives(t, peer, &opening.vector, opening.octets);
        let free = medium.engaged_until(peer) <= now && self.nav_of(medium, peer) <= now;
        if there && arrived && free {
            cx.observe_air(Air::Protection, t.alone);
            self.expect(cx, medium, id, Gap::Protection, &[peer], true);
            return;
        }
        cx.observe_air(Air::Retry, t.alone);
        let slot = medium.slot(self.contenders[id].channel);
        let timeout = self.sifs(medium, id) + slot + phy::rx_phy_start_delay(&opening.cts_vector);
        self.expect_nav_reset(cx, medium, id, (opening.cts, opening.cts_vector));
        self.fail(cx, id, now + timeout);
    }

    /// The CTS of the present exchange arrived.
    #[cold]
    pub(super) fn radio_answered(&mut self, id: ContenderId) {
        if let Some(number) = self.held_station(id)
            && let Place::Engaged { answered, .. } = &mut self.station_mut(number).place
        {
            *answered = true;
        }
    }

    /// The station whose radio the exchange of a contender has.
    fn held_station(&self, id: ContenderId) -> Option<usize> {
        let exchange = &self.exchanges[id];
        let ends = self.links[exchange.link()].ends(exchange.way());
        let all = self.single_radios.as_ref()?;
        let (number, _) = all.at_ends(ends)?;
        all.stations[number].is_held_by(id).then_some(number)
    }

    /// The next PPDU of a TXOP is chosen: where it is for another station, the radio of the one before is
    /// free.
    #[cold]
    pub(super) fn change_radio(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let next = self.held_station(id);
        let all = self.single_radios.as_ref();
        let stations = all.map_or(&[][..], |all| &all.stations);
        let mut held = stations.iter().enumerate();
        let before = held.find(|(at, station)| station.is_held_by(id) && Some(*at) != next);
        if let Some((number, _)) = before {
            self.release_radio(cx, medium, (id, number), cx.now());
        }
        self.occupy_radio(cx, medium, id);
    }

    /// The exchange of a contender is over.
    #[cold]
    pub(super) fn leave_radio(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        if self.sends_beacons(id) {
            return;
        }
        if let Some(number) = self.held_station(id) {
            let known_at = self.exchanges[id].known_at();
            self.release_radio(cx, medium, (id, number), known_at);
        }
    }

    /// The radio of a station is free from `over` on, and returns.
    fn release_radio(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (id, number): (ContenderId, usize),
        over: Instant,
    ) {
        let channel = self.contenders[id].channel;
        let timeout = medium.sifs(channel) + medium.slot(channel) + RX_START_DELAY;
        let own = self.contenders[id].node;
        let station = self.station_mut(number);
        let Place::Engaged { on, answered, .. } = station.place else {
            return;
        };
        let rules = station.rules;
        let wait = match (answered, on == own) {
            // It was never asked, or did not hear that.
            (false, _) => Duration::ZERO,
            (true, true) => rules.transition,
            (true, false) => rules.end_timeout.unwrap_or(timeout) + rules.transition,
        };
        let now = cx.now();
        let until = if answered { over.max(now) + wait } else { now };
        station.place = Place::Returning { on, until };
        if until > now {
            cx.schedule(until, Event::SingleRadio { station: on });
        } else {
            self.listen(cx, medium, number);
        }
    }

    /// The radio of a station is back, or its access point learns where it is.
    pub fn single_radio_due(&mut self, cx: &mut Context, medium: &mut Medium, radio: RadioId) {
        let now = cx.now();
        let all = self.single_radios.as_ref();
        let Some(number) = all.and_then(|all| all.number(radio)) else {
            return;
        };
        match &mut self.station_mut(number).place {
            Place::Engaged {
                known_at, known, ..
            } => *known |= *known_at <= now,
            Place::Returning { until, .. } if *until <= now => self.listen(cx, medium, number),
            _ => {}
        }
    }

    /// The radio of a station listens on all links: its contenders and those of its access point go on.
    fn listen(&mut self, cx: &mut Context, medium: &mut Medium, number: usize) {
        let now = cx.now();
        let station = self.station_mut(number);
        let Place::Returning { on, .. } = station.place else {
            return;
        };
        station.place = Place::Listening;
        let lost = now - station.deaf_since > SYNC_THRESHOLD;
        let there = station.link(on);
        for link in 0..station.radios.station.len() {
            if link == there {
                continue;
            }
            station.listens_since[link] = now;
            if lost {
                station.synced_from[link] = now + SYNC_DELAY;
            }
        }
        let links = station.radios.station.len();
        if lost && let Some(all) = &mut self.single_radios {
            all.unsynced_until = now + SYNC_DELAY;
        }
        for link in 0..links {
            let radios = &self.station_mut(number).radios;
            let (own, far) = (radios.station[link], radios.access_point[link]);
            for category in 0..4 {
                self.contend_again(cx, medium, self.contender(own, category));
                let id = self.contender(far, category);
                if self.contenders[id].standing == Standing::Resting && self.has_frame(id) {
                    self.wake(cx, medium, id);
                }
            }
        }
    }

    /// A contender whose radio was away counts again, if it still has a frame.
    fn contend_again(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        if self.contenders[id].standing != Standing::Preparing {
            return;
        }
        let now = cx.now();
        if self.has_frame(id) {
            self.take_up(now, id);
            return;
        }
        self.want(cx, medium, id, false);
        self.back_off_apart(now, id, now, false);
        let node = medium.host_of(self.contenders[id].node);
        cx.act(Action::Arm { node });
    }

    /// Whether the radio of a contender may have missed a reservation of the medium.
    #[cold]
    pub(super) fn lacks_sync(&self, cx: &Context, id: ContenderId) -> bool {
        let radio = self.contenders[id].node;
        let station = self.single_radios.as_ref().and_then(|s| s.station(radio));
        station.is_some_and(|station| station.synced_from[station.link(radio)] > cx.now())
    }

    /// A frame ended: radios that decoded it have the state of the medium again.
    #[cold]
    pub(super) fn note_decoded(&mut self, medium: &Medium, t: &Transmission) {
        let Some(all) = &mut self.single_radios else {
            return;
        };
        let now = t.end;
        if all.unsynced_until <= now || t.overlapped {
            return;
        }
        let channel = medium.channel_of(t.node);
        let ears = medium.ears(t.node);
        for station in &mut all.stations {
            for link in 0..station.radios.station.len() {
                let radio = station.radios.station[link];
                let hears = medium.channel_of(radio) == channel
                    && radio != t.node
                    && ears.contains(&medium.class_of(radio))
                    && t.start >= station.listens_since[link]
                    && !station.is_away(radio, now);
                if hears {
                    station.synced_from[link] = Instant::ZERO;
                }
            }
        }
    }
}
