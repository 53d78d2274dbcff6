//! Contention: DCF and EDCA back-off (IEEE 802.11-2020 clauses 10.3.4 and 10.23.2).
//!
//! Counters are not decremented slot by slot. Per sensing class and interframe space there is one
//! running count of idle slots; a contender's counter is the value of that count at which it will
//! transmit, in a heap. Freezing a class is then one addition, whatever the number of stations.
//! Contenders whose slots are shifted against those of their class (after a missing
//! acknowledgement, EIFS, immediate access) wait in a short list until the next busy period brings
//! them back into step.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtoll_units::{Duration, Instant};

use super::Mac;
use crate::context::Context;
use crate::id::{ChannelId, ClassId, ContenderId, RadioId, ReservationId, Table};
use crate::medium::{Medium, Turn};

/// Contenders of one class with the same arbitration interframe space.
#[derive(Debug)]
struct Group {
    kind: AccessKind,
    /// Slots that have passed; a contender transmits when this reaches its key.
    base: u64,
    /// Keys in the upper bits, contenders in the lower [`CONTENDER_BITS`].
    heap: BinaryHeap<Reverse<u64>>,
}

/// Bits of a contender's id in a heap entry.
const CONTENDER_BITS: u32 = 20;

/// A contender whose slots do not coincide with those of its class.
#[derive(Debug, Clone, Copy)]
struct Late {
    contender: ContenderId,
    /// Its interframe space starts no earlier than this.
    reference: Instant,
    /// Its slots start exactly here (immediate access), not after an interframe space.
    exact: bool,
}

/// The contenders that hear the same transmitters.
#[derive(Debug)]
struct Class {
    /// Transmissions heard now.
    active: u32,
    /// When the last one ended.
    idle_since: Instant,
    /// From when interframe spaces count: `idle_since`, later by NAV or EIFS.
    reference: Instant,
    groups: Vec<Group>,
    late: Vec<Late>,
    /// Next instant at which one of its contenders may transmit.
    next: Instant,
    /// Reservations that it decoded.
    reservations: Vec<Reserved>,
}

/// A reservation of the medium by an exchange of two nodes, who do not set their NAV for it
/// (10.3.2.4).
#[derive(Debug)]
struct Reserved {
    until: Instant,
    parties: [RadioId; 2],
}

/// Interframe space and rule of a kind of contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AccessKind {
    pub aifs: Duration,
    /// EDCA: a slot counts at its beginning, not at its end.
    pub edca: bool,
}

/// Contention on one channel.
#[derive(Debug)]
pub(super) struct Domain {
    slot: Duration,
    /// A station notices a transmission this long after its beginning.
    cca: Duration,
    kinds: Vec<AccessKind>,
    /// The shortest interframe space among them.
    least_aifs: Duration,
    classes: Table<ClassId, Class>,
    /// Contenders that will transmit over one that has just begun, since they cannot notice it in
    /// time, and when.
    blind: Vec<(Instant, ContenderId)>,
    /// The earliest `next` of its classes.
    next_grant: Instant,
    stale: bool,
    /// No contender transmits earlier, while `stale`.
    not_before: Instant,
}

/// Bounds of a contention window, slots (CWmin, CWmax).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WindowBounds {
    pub min: u32,
    pub max: u32,
}

/// State of a contender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// No frame; its post-back-off may still count.
    Resting,
    /// Has a frame and counts.
    Counting,
    /// In a frame exchange.
    Exchanging,
    /// Has a frame that its network card has not prepared yet.
    Preparing,
}

/// One queue that contends: a DCF station, one access category, or an AP's beacons.
#[derive(Debug)]
pub(super) struct Contender {
    pub node: RadioId,
    pub channel: ChannelId,
    pub class: ClassId,
    /// Index of its interframe space among the channel's.
    pub kind: u32,
    pub standing: Standing,
    /// Value of the group's slot count at which it transmits; while not late.
    pub key: u64,
    /// Whether it is in the class's late list, with `slots` left.
    pub late: bool,
    pub slots: u32,
    pub cw: u32,
    /// Failures since the window was last at its least (QSRC or SSRC): the station's own count,
    /// not that of the frame at hand.
    pub retries: u8,
    pub cw_min: u32,
    pub cw_max: u32,
    /// Priority among the contenders of one node.
    pub rank: u8,
    /// It sends nothing but beacons.
    pub beacons: bool,
    /// TXOP limit or burst time; zero: one exchange.
    pub txop_limit: Duration,
    /// The contender whose queue it draws from: its own, or that of the first radio of its
    /// multi-link device.
    pub home: ContenderId,
    /// The contenders of the other radios of its multi-link device.
    pub siblings: Vec<ContenderId>,
    /// The CF-End, where its frames reserve the medium up to the TXOP limit.
    pub cf_end: Option<Box<super::CfEnd>>,
}

const CONTENDER_MASK: u64 = (1 << CONTENDER_BITS) - 1;

/// [`Class::next`] of a class whose winners have just been taken: the others transmit later.
const TAKEN: Instant = Instant::from_nanos(u64::MAX - 1);

impl Contender {
    pub(super) fn category(&self) -> u8 {
        self.rank.min(3)
    }
}

impl Class {
    fn new() -> Self {
        Self {
            active: 0,
            idle_since: Instant::ZERO,
            reference: Instant::ZERO,
            groups: Vec::new(),
            late: Vec::new(),
            next: Instant::MAX,
            reservations: Vec::new(),
        }
    }

    /// One of its contenders asks for access: it may transmit with the winners that were just taken.
    #[inline]
    fn note_request(&mut self) {
        if self.next == TAKEN {
            self.next = Instant::ZERO;
        }
    }

    /// A transmission begins to be heard at `now` on an idle medium: counters freeze.
    fn freeze(
        &mut self,
        now: Instant,
        slot: Duration,
        least_aifs: Duration,
        all: &mut Table<ContenderId, Contender>,
    ) {
        if now < self.reference + least_aifs && self.late.is_empty() {
            return;
        }
        for group in &mut self.groups {
            let start = self.reference + group.kind.aifs;
            if now >= start {
                group.base += (now - start) / slot + u64::from(group.kind.edca);
            }
        }
        if !self.late.is_empty() {
            self.freeze_late(now, slot, all);
        }
    }

    #[inline(never)]
    fn freeze_late(
        &mut self,
        now: Instant,
        slot: Duration,
        all: &mut Table<ContenderId, Contender>,
    ) {
        for late in self.late.drain(..) {
            let contender = &mut all[late.contender];
            let kind = self.groups[contender.kind as usize].kind;
            let start = late_start(self.idle_since, &late, kind.aifs);
            if now >= start {
                let passed = (now - start) / slot + u64::from(kind.edca);
                contender.slots = u64::from(contender.slots).saturating_sub(passed) as u32;
            }
            join(&mut self.groups, contender, late.contender);
        }
    }

    /// The last transmission heard ended at `now`; NAV lasts until `nav`.
    fn thaw(&mut self, now: Instant, nav: Instant, all: &mut Table<ContenderId, Contender>) {
        self.idle_since = now;
        self.reference = now.max(nav);
        if self.late.is_empty() {
            return;
        }
        let groups = &mut self.groups;
        self.late.retain(|late| {
            // One with an instant of its own came while the medium was busy: it waits for an
            // interframe space as all others do.
            if !late.exact && late.reference > now {
                return true;
            }
            join(groups, &mut all[late.contender], late.contender);
            false
        });
    }

    /// Takes the contenders that would transmit up to `until`, with their instants.
    #[inline(never)]
    fn take_blind(
        &mut self,
        until: Instant,
        slot: Duration,
        all: &mut Table<ContenderId, Contender>,
        blind: &mut Vec<(Instant, ContenderId)>,
    ) {
        for group in &mut self.groups {
            while let Some(Reverse(entry)) = group.heap.peek() {
                let left = (entry >> CONTENDER_BITS) - group.base;
                let due = self.reference + group.kind.aifs + slot * left;
                if due > until {
                    break;
                }
                let id = ContenderId::new((entry & CONTENDER_MASK) as u32);
                blind.push((due, id));
                group.heap.pop();
            }
        }
        let (groups, idle_since) = (&self.groups, self.idle_since);
        self.late.retain(|late| {
            let contender = &mut all[late.contender];
            let aifs = groups[contender.kind as usize].kind.aifs;
            let start = late_start(idle_since, late, aifs);
            let due = start + slot * u64::from(contender.slots);
            if due > until || contender.standing != Standing::Counting {
                return true;
            }
            contender.late = false;
            blind.push((due, late.contender));
            false
        });
    }

    /// Takes the contenders beside the counters that transmit at `now`.
    #[inline(never)]
    fn take_late(
        &mut self,
        now: Instant,
        slot: Duration,
        all: &mut Table<ContenderId, Contender>,
        winners: &mut Vec<ContenderId>,
    ) {
        let (groups, idle_since) = (&self.groups, self.idle_since);
        self.late.retain(|late| {
            let contender = &mut all[late.contender];
            let aifs = groups[contender.kind as usize].kind.aifs;
            let start = late_start(idle_since, late, aifs);
            let due = start + slot * u64::from(contender.slots) <= now;
            if due && contender.standing == Standing::Counting {
                contender.late = false;
                winners.push(late.contender);
                return false;
            }
            true
        });
    }

    /// The next instant at which one of its contenders may transmit.
    fn next_access(&self, slot: Duration, all: &Table<ContenderId, Contender>) -> Instant {
        if self.active > 0 {
            return Instant::MAX;
        }
        let mut next = Instant::MAX;
        for group in &self.groups {
            if let Some(Reverse(entry)) = group.heap.peek() {
                let left = (entry >> CONTENDER_BITS) - group.base;
                next = next.min(self.reference + group.kind.aifs + slot * left);
            }
        }
        for late in &self.late {
            let contender = &all[late.contender];
            if contender.standing == Standing::Counting {
                let aifs = self.groups[contender.kind as usize].kind.aifs;
                let start = late_start(self.idle_since, late, aifs);
                next = next.min(start + slot * u64::from(contender.slots));
            }
        }
        next
    }
}

fn late_start(idle_since: Instant, late: &Late, aifs: Duration) -> Instant {
    if late.exact {
        late.reference
    } else {
        idle_since.max(late.reference) + aifs
    }
}

fn join(groups: &mut [Group], contender: &mut Contender, id: ContenderId) {
    let group = &mut groups[contender.kind as usize];
    contender.late = false;
    contender.key = group.base + u64::from(contender.slots);
    if contender.standing == Standing::Counting {
        group
            .heap
            .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
    }
}

impl Domain {
    pub(super) fn new(slot: Duration, cca: Duration, classes: u32) -> Self {
        Self {
            slot,
            cca,
            blind: Vec::new(),
            kinds: Vec::new(),
            least_aifs: Duration::ZERO,
            classes: (0..classes).map(|_| Class::new()).collect(),
            next_grant: Instant::MAX,
            stale: true,
            not_before: Instant::ZERO,
        }
    }

    /// Something changed that may bring the next access forward.
    #[inline]
    fn look_again(&mut self) {
        self.stale = true;
        self.not_before = Instant::ZERO;
    }

    /// A contender transmits at `earliest` or later, and the others when they would have.
    #[inline]
    fn note_access(&mut self, earliest: Instant) {
        let others = if self.stale {
            self.not_before
        } else {
            self.next_grant
        };
        self.not_before = others.min(earliest);
        self.stale = true;
    }

    /// The number of a kind of access; each class has a group for every kind that is in use.
    pub(super) fn kind(&mut self, kind: AccessKind) -> u32 {
        let known = self.kinds.iter().position(|k| *k == kind);
        known.unwrap_or_else(|| {
            self.kinds.push(kind);
            let spaces = self.kinds.iter().map(|k| k.aifs);
            self.least_aifs = spaces.min().unwrap_or(Duration::ZERO);
            for class in &mut self.classes {
                class.groups.push(Group {
                    kind,
                    base: 0,
                    heap: BinaryHeap::new(),
                });
            }
            self.kinds.len() - 1
        }) as u32
    }

    /// The classes in `ears` begin to hear a transmission.
    #[inline(always)]
    pub(super) fn become_busy(
        &mut self,
        now: Instant,
        ears: &[ClassId],
        all: &mut Table<ContenderId, Contender>,
    ) {
        for &ear in ears {
            let class = &mut self.classes[ear];
            if class.active == 0 {
                // A counter that ends at this very instant has not noticed the transmission either.
                let until = now + self.cca;
                let next = if self.stale && !self.cca.is_zero() {
                    self.not_before
                } else {
                    class.next
                };
                if next <= until {
                    class.take_blind(until, self.slot, all, &mut self.blind);
                }
                class.freeze(now, self.slot, self.least_aifs, all);
                class.next = Instant::MAX;
            }
            class.active += 1;
        }
        if ears.len() == self.classes.len() && self.blind.is_empty() {
            // Every class hears it, and no contender transmits over it.
            self.next_grant = Instant::MAX;
            self.stale = false;
        } else {
            self.look_again();
        }
    }

    /// The class `ear` no longer hears a transmission; its NAV lasts until `nav`.
    #[inline(always)]
    pub(super) fn become_idle(
        &mut self,
        now: Instant,
        ear: ClassId,
        nav: Instant,
        all: &mut Table<ContenderId, Contender>,
    ) {
        let class = &mut self.classes[ear];
        class.active -= 1;
        if class.active == 0 {
            let nav = nav.max(class.reference);
            class.thaw(now, nav, all);
            // The counters of a class that has no contender beside them end after their space.
            let sure = class.late.is_empty() && self.blind.is_empty();
            let earliest = class.reference + self.least_aifs;
            self.stale = true;
            self.not_before = if sure && self.classes.len() == 1 {
                earliest
            } else {
                Instant::ZERO
            };
        } else {
            class.reference = class.reference.max(nav);
        }
    }

    /// The class `ear` decoded a CF-End that ends at `now`: its NAV is over (10.3.2.4).
    pub(super) fn forget_nav(&mut self, now: Instant, ear: ClassId) {
        self.classes[ear].reference = now;
        self.classes[ear].reservations.clear();
    }

    /// The class `ear` decoded a frame of two nodes that reserves the medium for `protects` from `now`
    /// on.
    pub(super) fn reserve(
        &mut self,
        now: Instant,
        ear: ClassId,
        protects: Duration,
        parties: [RadioId; 2],
    ) {
        let reservations = &mut self.classes[ear].reservations;
        reservations.retain(|r| r.until > now);
        let until = now + protects;
        reservations.push(Reserved { until, parties });
    }

    /// Classes that heard nothing since an RTS ended at `heard` and hold its reservation until
    /// `until` cancel it.
    pub(super) fn forget_reservation(&mut self, now: Instant, heard: Instant, until: Instant) {
        for class in &mut self.classes {
            if class.active > 0 || class.idle_since != heard {
                continue;
            }
            class.reservations.retain(|r| r.until != until);
            if class.reference == until {
                class.reference = now;
                self.stale = true;
                self.not_before = Instant::ZERO;
            }
        }
    }

    /// When the next contender may transmit; where that is after `event_at`, any instant after it.
    #[inline]
    fn next_grant(&mut self, event_at: Instant, all: &Table<ContenderId, Contender>) -> Instant {
        if self.stale {
            if event_at < self.not_before {
                return self.not_before;
            }
            self.refresh(all);
        }
        self.next_grant
    }

    /// Computes when the next contender may transmit.
    #[inline(never)]
    fn refresh(&mut self, all: &Table<ContenderId, Contender>) {
        let mut next = Instant::MAX;
        for class in &mut self.classes {
            class.next = class.next_access(self.slot, all);
            next = next.min(class.next);
        }
        for (due, _) in &self.blind {
            next = next.min(*due);
        }
        self.next_grant = next;
        self.stale = false;
    }

    /// Takes the contenders whose counters end at `now` out of the count.
    #[inline(always)]
    fn take_winners(
        &mut self,
        now: Instant,
        all: &mut Table<ContenderId, Contender>,
        winners: &mut Vec<ContenderId>,
    ) {
        if !self.blind.is_empty() {
            let due = self.blind.extract_if(.., |(due, _)| *due <= now);
            winners.extend(due.map(|(_, contender)| contender));
        }
        for class in &mut self.classes {
            if class.next > now {
                continue;
            }
            for group in &mut class.groups {
                let start = class.reference + group.kind.aifs;
                if start > now {
                    continue;
                }
                let count = group.base + (now - start) / self.slot;
                while let Some(Reverse(entry)) = group.heap.peek() {
                    if entry >> CONTENDER_BITS > count {
                        break;
                    }
                    winners.push(ContenderId::new((entry & CONTENDER_MASK) as u32));
                    group.heap.pop();
                }
            }
            if !class.late.is_empty() {
                class.take_late(now, self.slot, all, winners);
            }
            class.next = if self.cca.is_zero() {
                TAKEN
            } else {
                class.next
            };
        }
    }
}

impl Mac {
    /// An interferer to which nodes defer begins or ends: counters freeze, or count again.
    #[cold]
    pub fn interferer_turned(&mut self, now: Instant, turn: &Turn) {
        for (channel, domain) in self.domains.pairs_mut() {
            if turn.channel.is_some_and(|own| own != channel) {
                continue;
            }
            let ears: Vec<ClassId> = domain.classes.ids().collect();
            if turn.begins {
                domain.become_busy(now, &ears, &mut self.contenders);
                continue;
            }
            for ear in ears {
                domain.become_idle(now, ear, now, &mut self.contenders);
            }
        }
    }

    /// The next instant at which a contender may transmit, and on which channel; where that is after the
    /// next event at `event_at`, any instant after it.
    #[inline]
    pub fn next_grant(&mut self, event_at: Instant) -> (Instant, ChannelId) {
        let mut first = (Instant::MAX, ChannelId::new(0));
        if self.domains.len() == 1 {
            let domain = &mut self.domains[first.1];
            return (domain.next_grant(event_at, &self.contenders), first.1);
        }
        for (i, domain) in self.domains.pairs_mut() {
            let next = domain.next_grant(event_at, &self.contenders);
            if next < first.0 {
                first = (next, i);
            }
        }
        first
    }

    /// A node's NAV: the latest end of the exchanges of others that it decoded. EIFS is no part of it,
    /// and does not keep a node from answering (10.3.2.9).
    pub(super) fn nav_of(&self, medium: &Medium, node: RadioId) -> Instant {
        let domain = &self.domains[medium.channel_of(node)];
        let decoded = domain.classes[medium.class_of(node)].reservations.iter();
        decoded
            .filter(|r| !r.parties.contains(&node))
            .map(|r| r.until)
            .max()
            .unwrap_or(Instant::ZERO)
    }

    /// A node that sent an RTS reserved the medium, and nothing may have followed.
    pub fn nav_reset(&mut self, cx: &mut Context, channel: ChannelId, reservation: ReservationId) {
        let (heard, until) = self.reservations.remove(reservation);
        self.domains[channel].forget_reservation(cx.now(), heard, until);
    }

    /// A frame came into the empty queue of a contender at rest.
    pub(super) fn request_access(&mut self, cx: &Context, medium: &Medium, id: ContenderId) {
        self.request_access_after(cx, medium, id, false);
    }

    /// The same; where the medium was `sensed` before, its interframe space may have passed. Gives
    /// when the back-off had ended, where it had.
    #[inline]
    pub(super) fn request_access_after(
        &mut self,
        cx: &Context,
        medium: &Medium,
        id: ContenderId,
        sensed: bool,
    ) -> Option<Instant> {
        let now = cx.now();
        if self.reuse.is_some() {
            self.waits_since(id, now);
        }
        let contender = &mut self.contenders[id];
        // A frame does not set the NAV of the node it is addressed to (10.3.2.4), so what its
        // arrival causes there finds the medium idle although an Ack is owed.
        let answers = medium.engaged_until(contender.node) > now;
        // The last MPDU of an A-MPDU is handed up before the PHY indicates the end of the PPDU.
        let amid_aggregate = answers && self.nodes[contender.node].aggregate_ended == Some(now);
        debug_assert_eq!(contender.standing, Standing::Resting);
        contender.standing = Standing::Counting;
        let domain = &mut self.domains[contender.channel];
        let class = &mut domain.classes[contender.class];
        let kind = class.groups[contender.kind as usize].kind;
        let slot = domain.slot;
        // On a busy medium it changes nothing yet.
        if class.active == 0 {
            domain.stale = true;
            domain.not_before = Instant::ZERO;
            class.note_request();
        }
        let mut ended = None;
        if contender.late {
            let at = class.late.iter().position(|l| l.contender == id);
            let at = at.expect("a late contender is in the list");
            let start = late_start(class.idle_since, &class.late[at], kind.aifs);
            let end = start + slot * u64::from(contender.slots);
            if class.active > 0 || end > now {
                return None;
            }
            ended = Some(end);
            class.late.swap_remove(at);
            contender.late = false;
            contender.key = 0;
        }
        let group = &mut class.groups[contender.kind as usize];
        let busy = class.active > 0 || amid_aggregate || (class.reference > now && !answers);
        let start = class.reference + kind.aifs;
        let left = contender.key.saturating_sub(group.base);
        let counted_down = left == 0 || (class.active == 0 && start + slot * left <= now);
        if !counted_down {
            group
                .heap
                .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
            return None;
        }
        if busy {
            // 10.3.4.2: a frame that finds the medium busy is sent after a back-off.
            let draw = self.streams[contender.node].up_to(contender.cw);
            self.excess_half_slots += 2 * i64::from(draw) - i64::from(contender.cw);
            if class.active == 0 && class.reference < now {
                // Its class did not sense the frame that kept it busy: it counts from now on, and
                // not from the time since which its class is idle.
                contender.slots = draw;
                contender.late = true;
                class.late.push(Late {
                    contender: id,
                    reference: now,
                    exact: false,
                });
                return None;
            }
            contender.key = group.base + u64::from(draw);
            group
                .heap
                .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
        } else if kind.edca {
            // 10.23.2.4: EDCA functions act at slot boundaries only.
            let slots = if now <= start {
                0
            } else {
                (now - start).div_ceil(slot)
            };
            contender.key = group.base + slots;
            group
                .heap
                .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
        } else {
            // 10.3.4.2: sent once the medium has been sensed idle for a whole DIFS.
            contender.slots = 0;
            contender.late = true;
            let reference = if sensed {
                start.max(now)
            } else {
                now + kind.aifs
            };
            class.late.push(Late {
                contender: id,
                reference,
                exact: true,
            });
            return ended.or((start <= now).then(|| start + slot * left));
        }
        None
    }

    /// Drawn back-off slots less their expectation, of all draws since the warm-up. Its expectation is
    /// zero whatever the draws lead to: whether there is another draw depends on earlier ones alone.
    pub fn excess_slots(&self) -> f64 {
        self.excess_half_slots as f64 / 2.0
    }

    /// The warm-up ends: draws count from here.
    pub fn restart(&mut self) {
        self.excess_half_slots = 0;
    }

    /// The same as [`Self::back_off`], off the way of an exchange.
    #[inline(never)]
    pub(super) fn back_off_apart(
        &mut self,
        now: Instant,
        id: ContenderId,
        reference: Instant,
        has_frame: bool,
    ) {
        self.back_off(now, id, reference, has_frame);
    }

    /// Draws a new back-off for a contender that is done with an exchange, and lets it count from
    /// `reference` at the earliest.
    #[inline(always)]
    pub(super) fn back_off(
        &mut self,
        now: Instant,
        id: ContenderId,
        reference: Instant,
        has_frame: bool,
    ) {
        let contender = &mut self.contenders[id];
        contender.slots = self.streams[contender.node].up_to(contender.cw);
        self.excess_half_slots += 2 * i64::from(contender.slots) - i64::from(contender.cw);
        contender.standing = if has_frame {
            Standing::Counting
        } else {
            Standing::Resting
        };
        let domain = &mut self.domains[contender.channel];
        let class = &mut domain.classes[contender.class];
        // Frames do not set the NAV of the station that sent or answered them.
        let own_nav = contender.cf_end.is_some() && self.exchanges[id].reserves_beyond(now);
        class.note_request();
        let in_step = class.active == 0
            && now <= class.idle_since
            && reference <= class.idle_since
            && !own_nav;
        if in_step {
            join(&mut class.groups, contender, id);
            if !domain.stale {
                domain.look_again();
            }
        } else {
            let late = Late {
                contender: id,
                reference,
                exact: false,
            };
            contender.late = true;
            class.late.push(late);
            if class.active == 0 {
                let aifs = class.groups[contender.kind as usize].kind.aifs;
                let earliest = late_start(class.idle_since, &late, aifs);
                domain.note_access(earliest);
            }
        }
    }

    /// Counters have ended at the present instant on a channel: takes the contenders that won;
    /// gives how many. [`Mac::admit`], [`Mac::prepare`] and [`Mac::start_exchanges`] follow.
    #[inline]
    pub fn take_winners(&mut self, cx: &Context, channel: ChannelId) -> usize {
        let now = cx.now();
        let winners = &mut self.winners;
        winners.clear();
        let domain = &mut self.domains[channel];
        domain.take_winners(now, &mut self.contenders, winners);
        // Highest rank first, so that it wins inside its node; ids keep the order total.
        if winners.len() > 1 {
            let all = &self.contenders;
            winners.sort_unstable_by_key(|&w| (all[w].node, u8::MAX - all[w].rank, w));
        }
        domain.look_again();
        self.transmitting = (0, None);
        winners.len()
    }

    /// The contender that won as number `winner`, unless its node is busy: then it collides
    /// internally or tries again later.
    #[inline]
    pub fn admit(&mut self, cx: &Context, medium: &Medium, winner: usize) -> Option<ContenderId> {
        let now = cx.now();
        let id = self.winners[winner];
        let node = self.contenders[id].node;
        let engaged_until = medium.engaged_until(node);
        if self.has_cards
            && let Some(ready) = self.held_by_card(id, now)
        {
            self.send_at(id, ready);
            return None;
        }
        if self.single_radios.is_some() && self.wins_without_radio(id, now) {
            return None;
        }
        if Some(node) == self.transmitting.1 {
            self.internal_collision(now, id);
        } else if engaged_until > now {
            self.postpone(id, engaged_until);
        } else {
            return Some(id);
        }
        None
    }

    /// A contender that was admitted has something to send.
    #[inline]
    pub(super) fn keep_winner(&mut self, id: ContenderId) {
        let (kept, _) = self.transmitting;
        self.winners[kept] = id;
        self.transmitting = (kept + 1, Some(self.contenders[id].node));
    }

    /// All winners have decided what they send; now they are heard.
    #[inline]
    pub fn start_exchanges(&mut self, cx: &mut Context, medium: &mut Medium) {
        for at in 0..self.transmitting.0 {
            let id = self.winners[at];
            self.start_exchange(cx, medium, id);
        }
    }

    /// A higher access category of the same node won at the same instant (10.23.2.4).
    fn internal_collision(&mut self, now: Instant, id: ContenderId) {
        self.widen(id);
        // One that another radio has emptied the queue of learns that when it wins.
        let has_frame = self.shares_queue(id) || self.has_frame(id);
        self.back_off_apart(now, id, now, has_frame);
    }

    /// The card of the node has not prepared the frame of its contender, which sends when it is
    /// ready, on a medium that is idle then.
    pub(super) fn send_at(&mut self, id: ContenderId, ready: Instant) {
        self.wait_out_of_step(id, ready, true);
        let channel = self.contenders[id].channel;
        self.domains[channel].look_again();
    }

    /// Since when the medium is idle for a contender.
    pub(super) fn idle_since(&self, id: ContenderId) -> Instant {
        let contender = &self.contenders[id];
        let domain = &self.domains[contender.channel];
        domain.classes[contender.class].idle_since
    }

    /// Interframe space of a contender.
    pub(super) fn aifs_of(&self, id: ContenderId) -> Duration {
        let contender = &self.contenders[id];
        let domain = &self.domains[contender.channel];
        domain.kinds[contender.kind as usize].aifs
    }

    /// Takes a contender that counts out of contention, with the slots that it has left.
    pub(super) fn withdraw(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        contender.standing = Standing::Resting;
        let domain = &mut self.domains[contender.channel];
        let class = &mut domain.classes[contender.class];
        let group = &mut class.groups[contender.kind as usize];
        if std::mem::take(&mut contender.late) {
            class.late.retain(|late| late.contender != id);
            contender.key = group.base + u64::from(contender.slots);
        } else {
            let own = |entry: u64| entry & CONTENDER_MASK == u64::from(id);
            group.heap.retain(|Reverse(entry)| !own(*entry));
        }
        domain.blind.retain(|(_, contender)| *contender != id);
        domain.look_again();
    }

    /// Takes a contender that counts out of contention, and keeps the slots that it has left.
    pub(super) fn set_aside(&mut self, now: Instant, id: ContenderId) {
        let contender = &self.contenders[id];
        let domain = &self.domains[contender.channel];
        let class = &domain.classes[contender.class];
        let group = &class.groups[contender.kind as usize];
        let (start, left) = if contender.late {
            let own = class.late.iter().find(|late| late.contender == id);
            let start = own.map_or(now, |late| {
                late_start(class.idle_since, late, group.kind.aifs)
            });
            (start, u64::from(contender.slots))
        } else {
            let start = class.reference + group.kind.aifs;
            (start, contender.key.saturating_sub(group.base))
        };
        let passed = if class.active == 0 && now >= start {
            (now - start) / domain.slot
        } else {
            0
        };
        self.withdraw(id);
        let contender = &mut self.contenders[id];
        contender.slots = left.saturating_sub(passed) as u32;
        contender.standing = Standing::Preparing;
    }

    /// A contender that was set aside counts its slots from now on.
    pub(super) fn take_up(&mut self, now: Instant, id: ContenderId) {
        let slots = self.contenders[id].slots;
        self.contenders[id].standing = Standing::Counting;
        self.wait_out_of_step(id, now, false);
        self.contenders[id].slots = slots;
        let channel = self.contenders[id].channel;
        self.domains[channel].look_again();
    }

    /// Draws a back-off for a contender that is not in contention.
    pub(super) fn draw_aside(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        contender.slots = self.streams[contender.node].up_to(contender.cw);
        self.excess_half_slots += 2 * i64::from(contender.slots) - i64::from(contender.cw);
        contender.standing = Standing::Preparing;
    }

    /// The node transmits or owes a response: its contender tries again afterwards.
    fn postpone(&mut self, id: ContenderId, until: Instant) {
        self.wait_out_of_step(id, until, false);
    }

    /// A contender without a back-off waits for `reference`, beside the counters of its class.
    fn wait_out_of_step(&mut self, id: ContenderId, reference: Instant, exact: bool) {
        let contender = &mut self.contenders[id];
        contender.slots = 0;
        contender.late = true;
        let domain = &mut self.domains[contender.channel];
        let class = &mut domain.classes[contender.class];
        class.note_request();
        class.late.push(Late {
            contender: id,
            reference,
            exact,
        });
    }

    /// Doubles the contention window; at the failure after the last attempt of a frame it falls
    /// back (10.23.2.2: QSRC below the limit is incremented, else it becomes 0).
    pub(super) fn widen(&mut self, id: ContenderId) {
        let link = self.exchanges[id].link();
        let limit = self.links.get(link).map_or(7, |l| l.max_attempts);
        let contender = &mut self.contenders[id];
        if contender.retries < limit {
            contender.retries += 1;
            contender.cw = (contender.cw * 2 + 1).min(contender.cw_max);
        } else {
            contender.retries = 0;
            contender.cw = contender.cw_min;
        }
    }

    /// Resets the contention window.
    pub(super) fn narrow(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id];
        contender.cw = contender.cw_min;
        contender.retries = 0;
    }

    /// Whether the access categories of a node contend separately.
    #[inline]
    pub fn has_categories(&self, node: RadioId) -> bool {
        self.nodes[node].several_contenders()
    }

    /// Whether a contender rests: it has no frame.
    #[inline]
    pub fn rests(&self, contender: ContenderId) -> bool {
        self.contenders[contender].standing == Standing::Resting
    }
}
