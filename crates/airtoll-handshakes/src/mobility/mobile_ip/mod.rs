//! Mobile IPv4 registration (RFC 5944): solicitation, advertisement, request, reply, straight to
//! the home agent or through a foreign agent.
//!
//! [`Registration`], [`Bindings`] and [`Visitors`] are the protocol of a mobile node, a home agent
//! and a foreign agent: ICMP and UDP messages in, messages and bindings out. A driver with real
//! addresses uses them with a time of day; [`parties`] makes them the parties of a conversation.
//! Tunnels and routes are the driver's.

mod advertiser;
mod foreign;
mod home;
mod node;
mod peers;

use airtoll_wire::mobile_ipv4::{Extension, extension};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use airtoll_wire::mobile_ipv4::PORT;

pub use advertiser::Advertiser;
pub use foreign::{ForeignAgentSettings, Visit, Visitors};
pub use home::{Answer, Binding, Bindings, HomeAgentSettings, HomedNode};
pub use node::{HeardAgent, MobileNodeSettings, Registration, RegistrationAnswer};
pub use peers::{MobileIpConfig, advertisement, parties};

use crate::exchange::Context;
use crate::octets::equal;
use crate::operation::HashAlgorithm;

/// Most seconds between the clocks of node and home agent (section 5.7.1).
const TOLERANCE_S: u64 = 7;
/// Seconds from 1900, where NTP's time starts, to 1970.
const NTP_EPOCH_S: u64 = 2_208_988_800;

/// A mobility security association (section 1.6): HMAC-MD5 with a 128-bit key, and timestamps
/// against replay where the parties have a time of day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecurityAssociation {
    /// Security parameters index.
    #[serde(default = "default_spi")]
    pub spi: u32,
    /// 128-bit key.
    pub key: [u8; 16],
}

const fn default_spi() -> u32 {
    256
}

impl SecurityAssociation {
    /// The authentication extension over the octets before it: HMAC-MD5 over message, type, length
    /// and SPI (section 3.5.1).
    fn extension(&self, context: &mut Context<'_>, message: &[u8]) -> Extension {
        let kind = extension::MOBILE_HOME_AUTHENTICATION;
        let mut data = self.spi.to_be_bytes().to_vec();
        let parts = [message, &[kind, 20], &data];
        let mac = context.hmac(HashAlgorithm::Md5, &self.key, &parts);
        data.extend(mac);
        (kind, data)
    }

    /// Whether the last extension authenticates everything before it.
    fn authenticates(
        &self,
        context: &mut Context<'_>,
        octets: &[u8],
        extensions: &[Extension],
    ) -> bool {
        let Some((kind, data)) = extensions.last() else {
            return false;
        };
        let covered = octets.len().saturating_sub(2 + data.len());
        let expected = self.extension(context, &octets[..covered]);
        *kind == expected.0 && equal(data, &expected.1)
    }
}

/// A time of day, in seconds since 1970, in NTP's format: seconds since 1900 modulo 2^32, then their
/// fraction in 32 bits (section 5.7.1).
#[must_use]
pub fn timestamp(unix_s: f64) -> u64 {
    let whole = unix_s as u64;
    let fraction = (unix_s - whole as f64) * 4_294_967_296.0;
    (whole + NTP_EPOCH_S) << 32 | fraction as u64
}

/// The low-order 32 bits of an identification, which a reply repeats in any case.
const fn low(identification: u64) -> u64 {
    identification & 0xffff_ffff
}

/// The high-order 32 bits of an identification: the seconds of a timestamp.
const fn high(identification: u64) -> u64 {
    identification & !0xffff_ffff
}

#[cfg(test)]
mod tests;
