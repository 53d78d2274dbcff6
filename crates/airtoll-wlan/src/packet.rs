//! IP packets on their way, in a slab: dense ids, no allocation per packet once warm.

use airtoll_units::Instant;

/// Index of a packet in the [`Slab`].
pub(crate) type PacketId = u32;

/// No packet, no segment, no fragment group.
pub(crate) const NONE: u32 = u32::MAX;

/// Access category of what no application asks another for.
pub(crate) const BEST_EFFORT: u8 = 1;

/// One IP packet, or one fragment of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    /// Flow it belongs to; [`NONE`] for a message of a negotiation, whose `mark` says which.
    pub flow: u32,
    /// Node at which it leaves the network (the far end of a tunnel while in one).
    pub to: u32,
    /// Length of the IP packet as it travels, octets.
    pub ip_octets: u32,
    /// Octets of the application in it.
    pub payload: u32,
    /// Octets that tunnels added to it.
    pub tunnel_octets: u32,
    /// Transport's mark: sequence of a datagram or index of a segment.
    pub mark: u32,
    /// Fragment group, or [`NONE`].
    pub group: u32,
    /// Next packet of the same A-MSDU, or [`NONE`].
    pub next: PacketId,
    /// When the application gave it away.
    pub created: Instant,
    /// When the sending host was done with it.
    pub left: Instant,
    /// When it reached the receiving host.
    pub arrived: Instant,
    /// Access category, 0 background to 3 voice.
    pub category: u8,
    /// Node that put it into a tunnel, or [`NONE`].
    pub entered: u32,
    /// Which of that node's tunnels; of a question on its way over a wireless bridge, one more than
    /// the number of the radio neighbour that it goes to.
    pub end: u32,
    /// What it was before, or [`NONE`].
    pub under: u32,
    /// How many packets that tunnel had taken with it.
    pub number: u32,
    /// Still takes room in its sender's socket.
    pub held: bool,
    /// Direction: `true` from the flow's destination back to its source.
    pub reverse: bool,
    /// Created after the warm-up, so that it counts.
    pub counted: bool,
}

impl Packet {
    /// A packet of no flow, best effort: a message of a negotiation, a question, an advertisement.
    pub fn of_no_flow(to: u32, ip_octets: u32, mark: u32, now: Instant) -> Self {
        Self {
            flow: NONE,
            to,
            ip_octets,
            payload: 0,
            tunnel_octets: 0,
            mark,
            group: NONE,
            next: NONE,
            created: now,
            left: Instant::ZERO,
            arrived: now,
            category: BEST_EFFORT,
            entered: NONE,
            end: 0,
            under: NONE,
            number: 0,
            held: false,
            reverse: false,
            counted: false,
        }
    }
}

/// Storage with reuse.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    items: Vec<T>,
    free: Vec<u32>,
}

impl<T: Copy> Slab<T> {
    pub fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Stores `item`.
    #[inline]
    pub fn insert(&mut self, item: T) -> u32 {
        if let Some(id) = self.free.pop() {
            self.items[id as usize] = item;
            id
        } else {
            self.items.push(item);
            (self.items.len() - 1) as u32
        }
    }

    /// Gives the place of `id` back; the caller forgets `id`.
    #[inline]
    pub fn remove(&mut self, id: u32) -> T {
        self.free.push(id);
        self.items[id as usize]
    }

    /// Items that have not been removed.
    #[cfg(test)]
    pub fn alive(&self) -> usize {
        self.items.len() - self.free.len()
    }
}

impl<T> std::ops::Index<u32> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, id: u32) -> &T {
        &self.items[id as usize]
    }
}

impl<T> std::ops::IndexMut<u32> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut T {
        &mut self.items[id as usize]
    }
}
