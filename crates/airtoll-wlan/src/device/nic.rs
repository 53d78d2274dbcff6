//! Network cards: the stages that prepare a frame, and the instant at which it is ready.
//!
//! Takes the next frames of a contender and the instant at which its last exchange was over; gives
//! the instant at which they are ready for the radio. `mac` decides what that means for
//! contention.

use airtoll_engine::Stream;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::host::Price;
use crate::scenario::{self, Meanwhile, Overlap, StageKind};

const STAGES: usize = StageKind::ALL.len();

/// The MPDUs of one PPDU that a card prepares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub mpdus: u32,
    /// Octets of MSDU in them.
    pub octets: u32,
    pub cipher: CipherSuite,
    /// When the last of their packets came into the queue.
    pub queued: Instant,
    /// Airtime of those octets.
    pub airtime: Duration,
}

/// Time of a stage for a frame of one cipher, or for any frame.
#[derive(Debug, Clone, Copy)]
struct Entry {
    cipher: Option<CipherSuite>,
    price: Price,
    /// Mean of the exponentially distributed part.
    random_ns: f64,
}

/// Time of a stage for the frames of a PPDU.
#[derive(Debug, Clone, Copy)]
struct StageTime {
    fixed: Duration,
    /// The part that grows with the length.
    by_length: Duration,
}

/// The network card of a node.
#[derive(Debug)]
pub(crate) struct Nic {
    overlap: Overlap,
    meanwhile: Meanwhile,
    /// By stage: its entries.
    prices: [Vec<Entry>; STAGES],
    /// Draws of random times.
    stream: Stream,
    /// When each stage is done with its last frame.
    free_at: [Instant; STAGES],
}

impl Nic {
    /// A card at rest.
    pub fn new(model: &scenario::Nic, stream: Stream) -> Self {
        let prices = StageKind::ALL.map(|kind| {
            let own = model.stages.iter().filter(|s| s.stage == kind);
            own.map(|s| Entry {
                cipher: s.cipher,
                price: s.cost.into(),
                random_ns: s.random_ns,
            })
            .collect()
        });
        Self {
            overlap: model.overlap,
            meanwhile: model.meanwhile,
            prices,
            stream,
            free_at: [Instant::ZERO; STAGES],
        }
    }

    /// Which part of contention passes while it prepares a frame.
    pub fn meanwhile(&self) -> Meanwhile {
        self.meanwhile
    }

    /// Prepares frames after an exchange that was over at `over`; gives when they are ready.
    pub fn prepare(&mut self, work: &Work, over: Instant) -> Instant {
        let costs = self.costs(work);
        if self.overlap == Overlap::Pipelined {
            let mut at = work.queued;
            for (free, cost) in self.free_at.iter_mut().zip(costs) {
                at = at.max(*free) + cost.fixed + cost.by_length;
                *free = at;
            }
            return at;
        }
        let start = over.max(work.queued).max(self.free_at[STAGES - 1]);
        let fixed: Duration = costs.iter().map(|c| c.fixed).sum();
        let late = match self.overlap {
            Overlap::CutThrough => {
                let slowest = costs.iter().map(|c| c.by_length).max();
                slowest
                    .unwrap_or(Duration::ZERO)
                    .saturating_sub(work.airtime)
            }
            _ => costs.iter().map(|c| c.by_length).sum(),
        };
        let ready = start + fixed + late;
        self.free_at[STAGES - 1] = ready;
        ready
    }

    /// Time of each stage.
    fn costs(&mut self, work: &Work) -> [StageTime; STAGES] {
        let stream = &mut self.stream;
        self.prices.each_ref().map(|entries| {
            let mut cost = StageTime {
                fixed: Duration::ZERO,
                by_length: Duration::ZERO,
            };
            for entry in entries {
                if entry.cipher.is_none_or(|c| c == work.cipher) {
                    let fixed = entry.price.of(0);
                    cost.fixed += fixed * u64::from(work.mpdus);
                    if entry.random_ns > 0.0 {
                        cost.fixed += random(stream, entry.random_ns, work.mpdus);
                    }
                    cost.by_length += entry.price.of(work.octets).saturating_sub(fixed);
                }
            }
            cost
        })
    }
}

/// The sum of `count` exponentially distributed times.
fn random(stream: &mut Stream, mean_ns: f64, count: u32) -> Duration {
    let drawn: f64 = (0..count)
        .map(|_| -mean_ns * libm::log1p(-stream.unit()))
        .sum();
    Duration::from_nanos(libm::round(drawn) as u64)
}
