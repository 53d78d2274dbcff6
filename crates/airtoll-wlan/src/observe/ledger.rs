//! The ledger: every nanosecond of the air and every octet on it, booked once.
//!
//! The parts add up to the whole: the time categories to the length of the trial (for each
//! channel), because every interval of the air is booked at its end to exactly one entry, and the
//! octet of a frame's share is taken from the interval that the frame occupied.

use airtoll_units::Duration;

use super::{Moment, Observation, Observer};

/// Booked time and octets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub payload: Duration,
    pub ip_transport: Duration,
    pub mac_phy: Duration,
    pub security: Duration,
    pub ack: Duration,
    pub contention: Duration,
    /// Silence that ended only when a network card had prepared the next frame.
    pub card: Duration,
    /// Time in which a frame waited because an interferer made the medium busy.
    pub interference: Duration,
    /// Frame exchanges of neighbours' BSSs.
    pub neighbours: Duration,
    pub retry: Duration,
    pub protection: Duration,
    pub management: Duration,
    pub idle: Duration,
    /// Part of `idle` in which a cipher worked: crypto time that the air does not hide.
    pub crypto_exposed: Duration,
    pub octets: OctetSums,
    pub octets_retry: u64,
    pub octets_management: u64,
    pub octets_control: u64,
}

/// The use of a stretch of the air, apart from data frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Air {
    Ack,
    Contention,
    Interference,
    Neighbours,
    Retry,
    Protection,
    Management,
    Idle,
}

/// Kind of a frame that the end of the trial cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfinished {
    Management,
    Protection,
    Response,
    Data,
}

/// Octets of the data in one PPDU by what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Octets {
    pub payload: u32,
    pub ip_transport: u32,
    pub mac: u32,
    pub security: u32,
    /// Of address resolution.
    pub management: u32,
}

/// Octets of all data by what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OctetSums {
    pub payload: u64,
    pub ip_transport: u64,
    pub mac: u64,
    pub security: u64,
    pub management: u64,
}

impl OctetSums {
    /// Adds those of a PPDU.
    #[inline]
    fn add(&mut self, other: &Octets) {
        self.payload += u64::from(other.payload);
        self.ip_transport += u64::from(other.ip_transport);
        self.mac += u64::from(other.mac);
        self.security += u64::from(other.security);
        self.management += u64::from(other.management);
    }
}

impl Octets {
    /// All of them.
    #[inline]
    pub fn total(&self) -> u32 {
        self.payload + self.ip_transport + self.mac + self.security + self.management
    }

    /// Adds another frame's.
    #[inline]
    pub fn add(&mut self, other: &Self) {
        self.payload += other.payload;
        self.ip_transport += other.ip_transport;
        self.mac += other.mac;
        self.security += other.security;
        self.management += other.management;
    }
}

impl Observer for Ledger {
    #[inline(always)]
    fn observe(&mut self, _: Moment, observation: Observation<'_>) {
        match observation {
            Observation::Air { used, span } => match used {
                Air::Ack => self.ack += span,
                Air::Contention => self.contention += span,
                Air::Interference => self.interference += span,
                Air::Neighbours => self.neighbours += span,
                Air::Retry => self.retry += span,
                Air::Protection => self.protection += span,
                Air::Management => self.management += span,
                Air::Idle => self.idle += span,
            },
            Observation::CiphersExposed { span } => self.crypto_exposed += span,
            Observation::WaitedForCard { span } => self.blame_card(span),
            Observation::Data {
                alone,
                length,
                bit_rate,
                good,
                bad,
            } => self.book_data(alone, length, bit_rate, good, bad),
            Observation::ControlOctets { octets } => self.octets_control += u64::from(octets),
            Observation::ManagementOctets { octets } => {
                self.octets_management += u64::from(octets);
            }
            Observation::CutOff { kind, alone } => self.book_unfinished(kind, alone),
            Observation::WarmedUp => *self = Self::default(),
            _ => {}
        }
    }
}

impl Ledger {
    /// All booked time.
    #[cfg(test)]
    pub fn total(&self) -> Duration {
        [
            self.payload,
            self.ip_transport,
            self.mac_phy,
            self.security,
            self.ack,
            self.contention,
            self.card,
            self.interference,
            self.neighbours,
            self.retry,
            self.protection,
            self.management,
            self.idle,
        ]
        .into_iter()
        .sum()
    }

    /// A network card caused the last `waited` of the silence that is booked as contention.
    fn blame_card(&mut self, waited: Duration) {
        let moved = waited.min(self.contention);
        self.contention -= moved;
        self.card += moved;
    }

    /// Books a transmission that the end of the trial cut off.
    fn book_unfinished(&mut self, kind: Unfinished, alone: Duration) {
        match kind {
            Unfinished::Management => self.management += alone,
            Unfinished::Protection => self.protection += alone,
            Unfinished::Response => self.ack += alone,
            // Whether its octets arrive is not known.
            Unfinished::Data => self.mac_phy += alone,
        }
    }

    /// Books `alone` ns of a data PPDU of `length`, sent at `bit_rate`: delivered octets by their
    /// kind, octets that have to be sent again as retries, and the rest (preamble, padding to the
    /// symbol, MAC octets) as MAC and PHY.
    #[inline(always)]
    fn book_data(
        &mut self,
        alone: Duration,
        length: Duration,
        bit_rate: u64,
        good: &Octets,
        bad: u32,
    ) {
        self.octets.add(good);
        self.octets_retry += u64::from(bad);
        if good.total() == 0 {
            self.retry += alone;
            return;
        }
        let clipped = alone < length;
        let share = |octets: u32| {
            let ns = u64::from(octets) * 8_000_000_000 / bit_rate;
            let ns = if clipped {
                (u128::from(ns) * u128::from(alone.as_nanos()) / u128::from(length.as_nanos()))
                    as u64
            } else {
                ns
            };
            Duration::from_nanos(ns)
        };
        let (payload, ip, security) = (
            share(good.payload),
            share(good.ip_transport),
            share(good.security),
        );
        let management = if good.management == 0 {
            Duration::ZERO
        } else {
            share(good.management)
        };
        let retry = if bad == 0 { Duration::ZERO } else { share(bad) };
        self.payload += payload;
        self.ip_transport += ip;
        self.security += security;
        self.retry += retry;
        self.management += management;
        self.mac_phy += alone - payload - ip - security - retry - management;
    }
}
