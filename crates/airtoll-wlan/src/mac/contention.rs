//! Contention: DCF and EDCA back-off (IEEE 802.11-2020 clauses 10.3.4 and 10.23.2).
//!
//! Counters are not decremented slot by slot. Per sensing class and interframe space there is one
//! running count of idle slots; a contender's counter is the value of that count at which it will
//! transmit, in a heap. Freezing a class is then one addition, whatever the number of stations.
//! Contenders whose slots are shifted against those of their class (after a missing
//! acknowledgement, EIFS, immediate access) wait in a short list until the next busy period brings
//! them back into step.

use std::cmp::Reverse;

use airtoll_units::{Duration, Instant};

use crate::medium::channel::{CONTENDER_BITS, Channel, Class, Late};
use crate::world::World;

/// What a contender does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No frame; its post-back-off may still count.
    Resting,
    /// Has a frame and counts.
    Counting,
    /// In a frame exchange.
    Exchanging,
}

/// One queue that contends: a DCF station, one access category, or an AP's beacons.
#[derive(Debug)]
pub(crate) struct Contender {
    pub node: u32,
    pub channel: u32,
    pub class: u32,
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
}

const CONTENDER_MASK: u64 = (1 << CONTENDER_BITS) - 1;

impl Class {
    /// A transmission begins to be heard at `now` where all was quiet: counters freeze.
    fn freeze(
        &mut self,
        now: Instant,
        slot: Duration,
        air: &FreezeRules<'_>,
        all: &mut [Contender],
    ) {
        for (group, kind) in self.groups.iter_mut().zip(air.kinds) {
            let start = self.reference + kind.aifs;
            if now >= start {
                group.base += (now - start) / slot + u64::from(kind.edca);
            }
        }
        for late in self.late.drain(..) {
            let contender = &mut all[late.contender as usize];
            let kind = air.kinds[contender.kind as usize];
            let start = late_start(self.idle_since, &late, kind.aifs);
            if now >= start {
                let passed = (now - start) / slot + u64::from(kind.edca);
                contender.slots = u64::from(contender.slots).saturating_sub(passed) as u32;
            }
            join(&mut self.groups, contender, late.contender);
        }
    }

    /// The last transmission heard ended at `now`; NAV lasts until `nav`.
    fn thaw(&mut self, now: Instant, nav: Instant, all: &mut [Contender]) {
        self.idle_since = now;
        self.reference = now.max(nav);
        let groups = &mut self.groups;
        self.late.retain(|late| {
            if late.exact || late.reference > now {
                return true;
            }
            join(groups, &mut all[late.contender as usize], late.contender);
            false
        });
    }

    /// The next instant at which one of its contenders may transmit.
    fn next_access(&self, slot: Duration, air: &FreezeRules<'_>, all: &[Contender]) -> Instant {
        if self.active > 0 {
            return Instant::MAX;
        }
        let mut next = Instant::MAX;
        for (group, kind) in self.groups.iter().zip(air.kinds) {
            if let Some(Reverse(entry)) = group.heap.peek() {
                let left = (entry >> CONTENDER_BITS) - group.base;
                next = next.min(self.reference + kind.aifs + slot * left);
            }
        }
        for late in &self.late {
            let contender = &all[late.contender as usize];
            if contender.standing == Standing::Counting {
                let aifs = air.kinds[contender.kind as usize].aifs;
                let start = late_start(self.idle_since, late, aifs);
                next = next.min(start + slot * u64::from(contender.slots));
            }
        }
        next
    }
}

/// What freezing needs of the channel, apart from the class itself.
struct FreezeRules<'a> {
    kinds: &'a [crate::medium::channel::AccessKind],
}

fn late_start(idle_since: Instant, late: &Late, aifs: Duration) -> Instant {
    if late.exact {
        late.reference
    } else {
        idle_since.max(late.reference) + aifs
    }
}

fn join(groups: &mut [crate::medium::channel::Group], contender: &mut Contender, id: u32) {
    let group = &mut groups[contender.kind as usize];
    contender.late = false;
    contender.key = group.base + u64::from(contender.slots);
    if contender.standing == Standing::Counting {
        group
            .heap
            .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
    }
}

impl Channel {
    /// The classes in `ears` begin to hear a transmission.
    pub fn become_busy(&mut self, now: Instant, ears: &[u32], all: &mut [Contender]) {
        let rules = FreezeRules { kinds: &self.kinds };
        for &ear in ears {
            let class = &mut self.classes[ear as usize];
            if class.active == 0 {
                class.freeze(now, self.slot, &rules, all);
                class.next = Instant::MAX;
            }
            class.active += 1;
        }
        self.stale = true;
    }

    /// The class `ear` no longer hears a transmission; its NAV lasts until `nav`.
    pub fn become_idle(&mut self, now: Instant, ear: u32, nav: Instant, all: &mut [Contender]) {
        let class = &mut self.classes[ear as usize];
        class.active -= 1;
        if class.active == 0 {
            let nav = nav.max(class.reference);
            class.thaw(now, nav, all);
        } else {
            class.reference = class.reference.max(nav);
        }
        self.stale = true;
    }

    /// Classes that heard nothing since an RTS ended at `heard` and hold its reservation until
    /// `until` let go of it.
    pub fn forget_reservation(&mut self, now: Instant, heard: Instant, until: Instant) {
        for class in &mut self.classes {
            if class.active == 0 && class.idle_since == heard && class.reference == until {
                class.reference = now;
                self.stale = true;
            }
        }
    }

    /// Works out when the next contender may transmit.
    pub fn refresh(&mut self, all: &[Contender]) {
        let rules = FreezeRules { kinds: &self.kinds };
        let mut next = Instant::MAX;
        for class in &mut self.classes {
            class.next = class.next_access(self.slot, &rules, all);
            next = next.min(class.next);
        }
        self.next_grant = next;
        self.stale = false;
    }

    /// Takes the contenders whose counters end at `now` out of the count.
    pub fn take_winners(&mut self, now: Instant, all: &mut [Contender], winners: &mut Vec<u32>) {
        for class in &mut self.classes {
            if class.next > now {
                continue;
            }
            for (group, kind) in class.groups.iter_mut().zip(&self.kinds) {
                let start = class.reference + kind.aifs;
                if start > now {
                    continue;
                }
                let count = group.base + (now - start) / self.slot;
                while let Some(Reverse(entry)) = group.heap.peek() {
                    if entry >> CONTENDER_BITS > count {
                        break;
                    }
                    winners.push((entry & CONTENDER_MASK) as u32);
                    group.heap.pop();
                }
            }
            let (slot, kinds, idle_since) = (self.slot, &self.kinds, class.idle_since);
            class.late.retain(|late| {
                let contender = &mut all[late.contender as usize];
                let start = late_start(idle_since, late, kinds[contender.kind as usize].aifs);
                let due = start + slot * u64::from(contender.slots) <= now;
                if due && contender.standing == Standing::Counting {
                    contender.late = false;
                    winners.push(late.contender);
                    return false;
                }
                true
            });
        }
    }
}

impl World {
    /// A frame came into the empty queue of a contender at rest.
    pub(crate) fn request_access(&mut self, id: u32) {
        let now = self.stack.lower.cx.events.now();
        let contender = &mut self.stack.lower.mac.contenders[id as usize];
        // A frame does not set the NAV of the node it is addressed to (10.3.2.4), so what its
        // arrival causes there finds the medium idle although an Ack is owed.
        let answers = self.stack.lower.medium.nodes[contender.node as usize].engaged_until > now;
        debug_assert_eq!(contender.standing, Standing::Resting);
        contender.standing = Standing::Counting;
        let channel = &mut self.stack.lower.medium.channels[contender.channel as usize];
        let class = &mut channel.classes[contender.class as usize];
        let kind = channel.kinds[contender.kind as usize];
        let slot = channel.slot;
        channel.stale = true;
        if contender.late {
            let at = class.late.iter().position(|l| l.contender == id);
            let at = at.expect("a late contender is in the list");
            let start = late_start(class.idle_since, &class.late[at], kind.aifs);
            if class.active > 0 || start + slot * u64::from(contender.slots) > now {
                return;
            }
            class.late.swap_remove(at);
            contender.late = false;
            contender.key = 0;
        }
        let group = &mut class.groups[contender.kind as usize];
        let busy = class.active > 0 || (class.reference > now && !answers);
        let start = class.reference + kind.aifs;
        let left = contender.key.saturating_sub(group.base);
        let counted_down = left == 0 || (class.active == 0 && start + slot * left <= now);
        if !counted_down {
            group
                .heap
                .push(Reverse(contender.key << CONTENDER_BITS | u64::from(id)));
            return;
        }
        if busy {
            // 10.3.4.2: a frame that finds the medium busy is sent after a back-off.
            let draw = self.stack.lower.mac.streams[contender.node as usize].up_to(contender.cw);
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
            class.late.push(Late {
                contender: id,
                reference: now + kind.aifs,
                exact: true,
            });
        }
    }

    /// Draws a new back-off for a contender that is done with an exchange, and lets it count from
    /// `reference` at the earliest.
    pub(crate) fn back_off(&mut self, id: u32, reference: Instant, has_frame: bool) {
        let now = self.stack.lower.cx.events.now();
        let contender = &mut self.stack.lower.mac.contenders[id as usize];
        contender.slots = self.stack.lower.mac.streams[contender.node as usize].up_to(contender.cw);
        contender.standing = if has_frame {
            Standing::Counting
        } else {
            Standing::Resting
        };
        let channel = &mut self.stack.lower.medium.channels[contender.channel as usize];
        let class = &mut channel.classes[contender.class as usize];
        channel.stale = true;
        let in_step = class.active == 0 && now <= class.idle_since && reference <= class.idle_since;
        if in_step {
            join(&mut class.groups, contender, id);
        } else {
            contender.late = true;
            class.late.push(Late {
                contender: id,
                reference,
                exact: false,
            });
        }
    }

    /// Someone's counter has ended at the present instant: whoever's did transmits.
    pub(crate) fn grant(&mut self, channel: u32) {
        let now = self.stack.lower.cx.events.now();
        let mut winners = std::mem::take(&mut self.stack.lower.mac.winners);
        winners.clear();
        self.stack.lower.medium.channels[channel as usize].take_winners(
            now,
            &mut self.stack.lower.mac.contenders,
            &mut winners,
        );
        // Highest rank first, so that it wins inside its node; ids keep the order total.
        if winners.len() > 1 {
            let all = &self.stack.lower.mac.contenders;
            winners.sort_unstable_by_key(|&w| {
                (all[w as usize].node, u8::MAX - all[w as usize].rank, w)
            });
        }
        // All of them decide before any of them is heard.
        let (mut transmitting, mut kept) = (u32::MAX, 0);
        for i in 0..winners.len() {
            let id = winners[i];
            let node = self.stack.lower.mac.contenders[id as usize].node;
            let engaged_until = self.stack.lower.medium.nodes[node as usize].engaged_until;
            if node == transmitting {
                self.internal_collision(id);
            } else if engaged_until > now {
                self.postpone(id, engaged_until);
            } else if self.prepare_exchange(id) {
                transmitting = node;
                winners[kept] = id;
                kept += 1;
            }
        }
        winners.truncate(kept);
        for &id in &winners {
            self.start_exchange(id);
        }
        self.stack.lower.mac.winners = winners;
        self.stack.lower.medium.channels[channel as usize].stale = true;
    }

    /// A higher access category of the same node won at the same instant (10.23.2.4).
    fn internal_collision(&mut self, id: u32) {
        self.widen(id);
        let has_frame = self.has_frame(id);
        let now = self.stack.lower.cx.events.now();
        self.back_off(id, now, has_frame);
    }

    /// The node transmits or owes a response: its contender tries again afterwards.
    fn postpone(&mut self, id: u32, until: Instant) {
        let contender = &mut self.stack.lower.mac.contenders[id as usize];
        contender.slots = 0;
        contender.late = true;
        let channel = &mut self.stack.lower.medium.channels[contender.channel as usize];
        channel.classes[contender.class as usize].late.push(Late {
            contender: id,
            reference: until,
            exact: false,
        });
    }

    /// Doubles the contention window; at the failure after the last attempt of a frame it falls
    /// back (10.23.2.2: QSRC below the limit is incremented, else it becomes 0).
    pub(crate) fn widen(&mut self, id: u32) {
        let link = self.stack.lower.mac.exchanges[id as usize].link;
        let limit = self
            .stack
            .lower
            .mac
            .links
            .get(link as usize)
            .map_or(7, |l| l.max_attempts);
        let contender = &mut self.stack.lower.mac.contenders[id as usize];
        if contender.retries < limit {
            contender.retries += 1;
            contender.cw = (contender.cw * 2 + 1).min(contender.cw_max);
        } else {
            contender.retries = 0;
            contender.cw = contender.cw_min;
        }
    }

    /// Resets the contention window.
    pub(crate) fn narrow(&mut self, id: u32) {
        let contender = &mut self.stack.lower.mac.contenders[id as usize];
        contender.cw = contender.cw_min;
        contender.retries = 0;
    }
}
