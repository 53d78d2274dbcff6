//! IP packets on their way, in a slab: dense ids, no allocation per packet once warm.

use airtoll_units::Instant;

/// Index of a packet in the [`Slab`].
pub(crate) type PacketId = u32;

/// No packet, no segment, no fragment group.
pub(crate) const NONE: u32 = u32::MAX;

/// Access category of packets for which no application requests another.
pub(crate) const BEST_EFFORT: u8 = 1;

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    /// A UDP datagram of a flow, with its sequence number.
    Datagram { flow: u32, number: u32 },
    /// A TCP segment of a flow, with its place among the segments under way.
    Segment { flow: u32, place: u32 },
    /// A message of a negotiation, by its number among the messages under way.
    Signal { signal: u32 },
    /// An address resolution request, by its entry; in a frame with four addresses to this radio
    /// neighbour, in a group-addressed frame or on a wire without one.
    Request { entry: u32, bridge: Option<u32> },
    /// The reply to an address resolution request, by its entry.
    Reply { entry: u32 },
    /// An unsolicited advertisement of a Mobile IP agent.
    Advertisement { agent: u32 },
}

/// One IP packet, or one fragment of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packet {
    pub carries: Carries,
    /// Node at which it leaves the network (the far end of a tunnel while in one).
    pub to: u32,
    /// Length of the IP packet as it travels, octets.
    pub ip_octets: u32,
    /// Octets of the application in it.
    pub payload: u32,
    /// Octets that tunnels added to it.
    pub tunnel_octets: u32,
    /// Fragment group, or [`NONE`].
    pub group: u32,
    /// Where the octets of a fragment begin in the body of the whole packet.
    pub offset: u32,
    /// Next packet of the same A-MSDU, or [`NONE`].
    pub next: PacketId,
    /// When the application wrote it.
    pub created: Instant,
    /// When the sending host was done with it.
    pub left: Instant,
    /// When it reached the receiving host.
    pub arrived: Instant,
    /// Access category, 0 background to 3 voice.
    pub category: u8,
    /// Node that put it into a tunnel, or [`NONE`].
    pub entered: u32,
    /// Number of that tunnel among the node's.
    pub tunnel: u32,
    /// The layer before this tunnel, or [`NONE`].
    pub under: u32,
    /// How many packets that tunnel had taken with it.
    pub number: u32,
    /// IPv6 header outside all tunnels.
    pub ipv6: bool,
    /// Its receiver only counts it and never answers.
    pub only_counted: bool,
    /// Still occupies its sender's socket.
    pub held: bool,
    /// Direction: `true` from the flow's destination back to its source.
    pub reverse: bool,
    /// Created after the warm-up, so that it counts.
    pub counted: bool,
}

impl Packet {
    /// A packet without a flow, best effort, IPv4.
    pub fn new(carries: Carries, to: u32, ip_octets: u32, now: Instant) -> Self {
        Self {
            carries,
            to,
            ip_octets,
            payload: 0,
            tunnel_octets: 0,
            group: NONE,
            offset: 0,
            next: NONE,
            created: now,
            left: Instant::ZERO,
            arrived: now,
            category: BEST_EFFORT,
            entered: NONE,
            tunnel: 0,
            under: NONE,
            number: 0,
            ipv6: false,
            only_counted: false,
            held: false,
            reverse: false,
            counted: false,
        }
    }

    /// The flow that it belongs to.
    #[inline]
    pub fn flow(&self) -> Option<u32> {
        match self.carries {
            Carries::Datagram { flow, .. } | Carries::Segment { flow, .. } => Some(flow),
            _ => None,
        }
    }

    /// The message of a negotiation that it carries.
    #[inline]
    pub fn signal(&self) -> Option<u32> {
        match self.carries {
            Carries::Signal { signal } => Some(signal),
            _ => None,
        }
    }

    /// Whether it is a packet of a flow, in no tunnel and not a fragment.
    pub fn is_plain(&self) -> bool {
        self.flow().is_some() && self.entered == NONE && self.group == NONE
    }

    /// Whether it is an address resolution request or reply.
    #[inline]
    pub fn resolves(&self) -> bool {
        matches!(
            self.carries,
            Carries::Request { .. } | Carries::Reply { .. }
        )
    }

    /// Whether it is an address resolution request.
    #[inline]
    pub fn asks(&self) -> bool {
        matches!(self.carries, Carries::Request { .. })
    }

    /// Whether it is an unsolicited advertisement of an agent.
    #[inline]
    pub fn advertises(&self) -> bool {
        matches!(self.carries, Carries::Advertisement { .. })
    }

    /// Number of its content among others of the same kind.
    pub fn mark(&self) -> u32 {
        match self.carries {
            Carries::Datagram { number, .. } => number,
            Carries::Segment { place, .. } => place,
            Carries::Signal { signal } => signal,
            Carries::Request { entry, .. } | Carries::Reply { entry } => entry,
            Carries::Advertisement { agent } => agent,
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
