//! Handles: the typed numbers of nodes, links, packets and the like, and the tables that they index.
//!
//! A handle is four octets long, and so is an `Option` of a handle that a packet carries: these keep
//! one more than their number, so that no value stands for "none".

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// A number that indexes a [`Table`].
pub(crate) trait Id: Copy {
    /// The handle of an index.
    fn at(index: usize) -> Self;
    /// The index of a handle.
    fn index(self) -> usize;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(u32);

        #[allow(dead_code, reason = "one set of methods for all handles")]
        impl $name {
            /// The handle with this number.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// Its number.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0
            }

            /// Its number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn at(index: usize) -> Self {
                Self(index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl From<$name> for u64 {
            fn from(id: $name) -> Self {
                Self::from(id.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    )*};
}

macro_rules! optional_ids {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(NonZeroU32);

        #[allow(dead_code, reason = "one set of methods for all handles")]
        impl $name {
            /// The handle with this number, which is below the greatest of its type.
            #[inline]
            pub const fn new(number: u32) -> Self {
                match NonZeroU32::new(number.wrapping_add(1)) {
                    Some(kept) => Self(kept),
                    None => panic!("too many handles"),
                }
            }

            /// Its number.
            #[inline]
            pub const fn number(self) -> u32 {
                self.0.get() - 1
            }

            /// Its number as an index.
            #[inline]
            pub const fn index(self) -> usize {
                self.number() as usize
            }
        }

        impl Id for $name {
            #[inline]
            fn at(index: usize) -> Self {
                Self::new(index as u32)
            }

            #[inline]
            fn index(self) -> usize {
                self.number() as usize
            }
        }

        impl SlabId for $name {
            #[inline]
            fn of_place(place: NonZeroU32) -> Self {
                Self(place)
            }

            #[inline]
            fn place(self) -> usize {
                self.0.get() as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.number().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.number())
            }
        }

        const _: () = assert!(size_of::<Option<$name>>() == 4);
    )*};
}

ids! {
    /// A node: an access point, a station or a wired host.
    NodeId,
    /// The radio of a node in a BSS. A node's first radio has the node's number. A station that hands
    /// over has one more in every further BSS; these are numbered after all nodes.
    RadioId,
    /// A radio channel.
    ChannelId,
    /// A transmission on a channel.
    TransmissionId,
    /// The nodes of a channel that hear the same transmitters.
    ClassId,
    /// A queue that contends for the medium.
    ContenderId,
    /// A source of interference.
    InterfererId,
    /// The network card of a node, which all of its radios share.
    CardId,
    /// One sender's traffic of one access category to one receiver.
    LinkId,
    /// A transmission vector with its response times.
    ModeId,
    /// One direction of a wire.
    WireId,
    /// An entry of address resolution: a host that needs the address of another.
    ResolutionId,
    /// A flow.
    FlowId,
    /// A message of a negotiation under way.
    SignalId,
    /// A connection of RADIUS over TLS.
    StreamId,
    /// A session: a station joins at an access point.
    SessionId,
    /// An access point that renews its group keys.
    RenewalId,
    /// An access point that ends all of its associations.
    DeauthenticationId,
    /// A flood of forged commits.
    FloodId,
    /// A hand-over.
    HandoverId,
    /// A mobility agent that advertises itself.
    AgentId,
    /// A node that sends messages to a group.
    GroupSourceId,
}

impl RadioId {
    /// The first radio of a node.
    #[inline]
    pub const fn first_of(node: NodeId) -> Self {
        Self(node.0)
    }
}

/// Ends of what goes from one to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ends<T> {
    /// Where it begins.
    pub from: T,
    /// Where it arrives.
    pub to: T,
}

impl<T> Ends<T> {
    /// Those of the way back.
    #[inline]
    pub fn reversed(self) -> Self {
        Self {
            from: self.to,
            to: self.from,
        }
    }
}

/// A station and an access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pair<T> {
    pub station: T,
    pub access_point: T,
}

optional_ids! {
    /// A packet.
    PacketId,
    /// A TCP segment under way, among those of its flow.
    SegmentId,
    /// A TCP segment of RADIUS over TLS under way, among those of its connection.
    PieceId,
    /// The fragments of one IP packet.
    FragmentGroupId,
    /// A packet's state before its encapsulation in a tunnel.
    LayerId,
    /// The reservation of an RTS.
    ReservationId,
    /// A tunnel among those of a node.
    TunnelId,
    /// A radio neighbour among those of a node.
    NeighbourId,
}

/// A handle of a [`Slab`].
pub(crate) trait SlabId: Copy {
    /// The handle of a place.
    fn of_place(place: NonZeroU32) -> Self;
    /// The place of a handle.
    fn place(self) -> usize;
}

/// A handle of another table: all lookups of a function jump to one call without arguments. The
/// checks of the standard library keep index and length in registers for their message.
#[cold]
#[inline(never)]
fn missing() -> ! {
    panic!("a handle without an item")
}

/// Items by handle; items are added and stay.
#[derive(Clone)]
pub(crate) struct Table<K, T> {
    items: Vec<T>,
    key: PhantomData<fn(K) -> K>,
}

impl<K: Id, T> Table<K, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            key: PhantomData,
        }
    }

    /// Adds an item; gives its handle.
    #[inline]
    pub fn push(&mut self, item: T) -> K {
        self.items.push(item);
        K::at(self.items.len() - 1)
    }

    /// The handle that the next item gets.
    #[inline]
    pub fn next_id(&self) -> K {
        K::at(self.items.len())
    }

    /// How many items there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item of a handle, if there is one.
    #[inline]
    pub fn get(&self, id: K) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The item of a handle to be changed, if there is one.
    #[inline]
    pub fn get_mut(&mut self, id: K) -> Option<&mut T> {
        self.items.get_mut(id.index())
    }

    /// All handles.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + use<K, T> {
        (0..self.items.len()).map(K::at)
    }

    /// All items.
    #[inline]
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// All items, to be changed.
    #[inline]
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// All items with their handles.
    pub fn pairs(&self) -> impl DoubleEndedIterator<Item = (K, &T)> {
        let pairs = self.items.iter().enumerate();
        pairs.map(|(at, item)| (K::at(at), item))
    }

    /// All items with their handles, to be changed.
    pub fn pairs_mut(&mut self) -> impl Iterator<Item = (K, &mut T)> {
        let pairs = self.items.iter_mut().enumerate();
        pairs.map(|(at, item)| (K::at(at), item))
    }

    /// The first item that `is` holds for.
    pub fn find(&self, is: impl FnMut(&T) -> bool) -> Option<K> {
        self.items.iter().position(is).map(K::at)
    }

    /// The last item that `is` holds for.
    pub fn find_last(&self, is: impl FnMut(&T) -> bool) -> Option<K> {
        self.items.iter().rposition(is).map(K::at)
    }

    /// Two items to be changed; the first was added before the second.
    pub fn two_mut(&mut self, first: K, second: K) -> [&mut T; 2] {
        let (low, high) = self.items.split_at_mut(second.index());
        [&mut low[first.index()], &mut high[0]]
    }

    /// The items in their order.
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<K: Id, T> Default for Table<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, T: fmt::Debug> fmt::Debug for Table<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<K: Id, T> FromIterator<T> for Table<K, T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self {
            items: items.into_iter().collect(),
            key: PhantomData,
        }
    }
}

impl<'a, K: Id, T> IntoIterator for &'a Table<K, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, K: Id, T> IntoIterator for &'a mut Table<K, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;
    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

impl<K: Id, T> Index<K> for Table<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: K) -> &T {
        match self.items.get(id.index()) {
            Some(item) => item,
            None => missing(),
        }
    }
}

impl<K: Id, T> IndexMut<K> for Table<K, T> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut T {
        match self.items.get_mut(id.index()) {
            Some(item) => item,
            None => missing(),
        }
    }
}

/// Items by handle, whose places are used again.
///
/// Place 0 stays unused: a handle is its place, and none is 0.
#[derive(Debug)]
pub(crate) struct Slab<K, T> {
    items: Vec<T>,
    free: Vec<K>,
}

impl<K: SlabId, T: Copy> Slab<K, T> {
    /// An empty slab.
    pub const fn new() -> Self {
        Self {
            items: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Items that are stored.
    pub const fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Stores `item`.
    #[inline]
    pub fn insert(&mut self, item: T) -> K {
        let id = self.place(|| item);
        self[id] = item;
        id
    }

    /// A place to be filled, new ones with `blank`. An item that is made where it stays is not copied
    /// right after its fields were stored, which would wait for these stores.
    #[inline]
    pub fn place(&mut self, blank: impl FnOnce() -> T) -> K {
        self.free.pop().unwrap_or_else(|| self.grow(blank()))
    }

    #[cold]
    fn grow(&mut self, item: T) -> K {
        let place = NonZeroU32::new(self.items.len() as u32).unwrap_or(NonZeroU32::MIN);
        self.items.resize(place.get() as usize + 1, item);
        K::of_place(place)
    }

    /// Gives the place of `id` back; the caller forgets `id`.
    #[inline]
    pub fn remove(&mut self, id: K) -> T {
        self.free.push(id);
        self[id]
    }

    /// Items that have not been removed.
    #[cfg(test)]
    pub fn alive(&self) -> usize {
        self.items.len().saturating_sub(1) - self.free.len()
    }
}

impl<K: SlabId, T> Index<K> for Slab<K, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: K) -> &T {
        match self.items.get(id.place()) {
            Some(item) => item,
            None => missing(),
        }
    }
}

impl<K: SlabId, T> IndexMut<K> for Slab<K, T> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut T {
        match self.items.get_mut(id.place()) {
            Some(item) => item,
            None => missing(),
        }
    }
}
