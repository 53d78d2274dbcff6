//! A network that loses, repeats and reorders: the driver of the property tests.
//!
//! Takes a [`Conversation`] and a schedule of octets; gives the outcome. The schedule is used up
//! message by message; after it the network is perfect, so that every exchange ends.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::exchange::{Conversation, Emission, Message, Outcome, Party, Peer, Status};

/// An exchange with a seeded random source.
pub fn exchange(peers: Vec<Box<dyn Peer>>, seed: u64) -> Conversation {
    Conversation::new(peers, Box::new(ChaCha8Rng::seed_from_u64(seed)))
}

/// Runs the peers on a perfect network.
pub fn run(peers: Vec<Box<dyn Peer>>, seed: u64) -> (Vec<Emission>, Outcome, Conversation) {
    let mut exchange = exchange(peers, seed);
    let (log, outcome) = exchange.run();
    (log, outcome, exchange)
}

/// Runs the peers; each octet of `schedule` says what happens to one message under way: its low
/// two bits 0 lose, 1 repeat, 2 and 3 deliver; the others choose which message.
pub fn run_adverse(
    peers: Vec<Box<dyn Peer>>,
    seed: u64,
    schedule: &[u8],
) -> (Outcome, Conversation) {
    let mut exchange = exchange(peers, seed);
    let mut air: Vec<Message> = messages(exchange.start());
    let mut schedule = schedule.iter();
    // Parties repeat a bounded number of times, so this is far beyond any end.
    for _ in 0..5000 {
        if air.is_empty() {
            let waiting: Vec<Party> = exchange
                .parties()
                .collect::<Vec<_>>()
                .into_iter()
                .filter(|party| exchange.status(*party) == Some(Status::Waiting))
                .collect();
            if waiting.is_empty() {
                return (exchange.outcome(), exchange);
            }
            for party in waiting {
                air.extend(messages(exchange.time_out(party).emissions));
            }
            continue;
        }
        let choice = schedule.next().copied().unwrap_or(2);
        let index = if choice == 2 {
            0
        } else {
            usize::from(choice >> 2) % air.len()
        };
        match choice & 3 {
            0 => {
                air.remove(index);
            }
            1 => {
                let message = air[index].clone();
                air.extend(messages(exchange.deliver(&message).emissions));
            }
            _ => {
                let message = air.remove(index);
                air.extend(messages(exchange.deliver(&message).emissions));
            }
        }
    }
    panic!("the exchange did not end");
}

/// Runs the peers on a network without loss that flips one bit of the `index`-th message.
pub fn run_flipped(
    peers: Vec<Box<dyn Peer>>,
    seed: u64,
    (index, octet, bit): (usize, usize, u8),
) -> (Outcome, Conversation) {
    let mut exchange = exchange(peers, seed);
    let mut queue: std::collections::VecDeque<Message> = messages(exchange.start()).into();
    let mut count = 0;
    for _ in 0..5000 {
        let Some(mut message) = queue.pop_front() else {
            let waiting: Vec<Party> = exchange
                .parties()
                .collect::<Vec<_>>()
                .into_iter()
                .filter(|party| exchange.status(*party) == Some(Status::Waiting))
                .collect();
            if waiting.is_empty() {
                return (exchange.outcome(), exchange);
            }
            for party in waiting {
                queue.extend(messages(exchange.time_out(party).emissions));
            }
            continue;
        };
        if count == index {
            let at = octet % message.octets.len();
            message.octets[at] ^= 1 << (bit % 8);
        }
        count += 1;
        queue.extend(messages(exchange.deliver(&message).emissions));
    }
    panic!("the exchange did not end");
}

/// Whether two parties that both finished agree on everything that both name.
pub fn agree(exchange: &Conversation, a: Party, b: Party) -> bool {
    match (exchange.status(a), exchange.status(b)) {
        (Some(Status::Established(a)), Some(Status::Established(b))) => a
            .iter()
            .all(|(name, value)| b.get(name).is_none_or(|other| other == value)),
        _ => true,
    }
}

fn messages(emissions: Vec<Emission>) -> Vec<Message> {
    emissions.into_iter().map(|e| e.message).collect()
}
