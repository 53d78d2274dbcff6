//! Mobile IPv4 (RFC 5944): registration messages and agent advertisement.
//!
//! Takes octets; gives [`RegistrationRequest`], [`RegistrationReply`] and
//! [`AgentAdvertisement`], and octets back. Never computes an authenticator
//! (HMAC-MD5 by default): that takes the mobility security association.

use crate::{Cursor, Error, Result};

/// UDP port of registration (RFC 5944 section 3.3).
pub const PORT: u16 = 434;
/// Octets of a registration request before its extensions (section 3.3).
pub const REQUEST_OCTETS: usize = 24;
/// Octets of a registration reply before its extensions (section 3.4).
pub const REPLY_OCTETS: usize = 20;

/// Extension types (section 3.5).
pub mod extension {
    /// Mobile-Home Authentication (section 3.5.2).
    pub const MOBILE_HOME_AUTHENTICATION: u8 = 32;
    /// Mobile-Foreign Authentication (section 3.5.3).
    pub const MOBILE_FOREIGN_AUTHENTICATION: u8 = 33;
    /// Foreign-Home Authentication (section 3.5.4).
    pub const FOREIGN_HOME_AUTHENTICATION: u8 = 34;
}

/// Reply codes (section 3.4).
pub mod reply_code {
    /// Registration accepted.
    pub const ACCEPTED: u8 = 0;
    /// Mobile node failed authentication, said by the foreign agent.
    pub const FOREIGN_MOBILE_FAILED: u8 = 67;
    /// Home agent failed authentication, said by the foreign agent.
    pub const FOREIGN_HOME_FAILED: u8 = 68;
    /// Mobile node failed authentication, said by the home agent.
    pub const HOME_MOBILE_FAILED: u8 = 131;
    /// Registration identification mismatch, said by the home agent.
    pub const HOME_IDENTIFICATION_MISMATCH: u8 = 133;
}

/// An extension: type and data (at most 255 octets).
pub type Extension = (u8, Vec<u8>);

/// Flags of a registration request (section 3.3), as they stand on the wire.
pub mod request_flag {
    /// S: simultaneous bindings.
    pub const SIMULTANEOUS: u8 = 0x80;
    /// B: broadcast datagrams.
    pub const BROADCAST: u8 = 0x40;
    /// D: the mobile node decapsulates itself (co-located care-of address).
    pub const DECAPSULATES: u8 = 0x20;
    /// M: minimal encapsulation.
    pub const MINIMAL: u8 = 0x10;
    /// G: GRE.
    pub const GRE: u8 = 0x08;
    /// T: reverse tunnelling (RFC 3024).
    pub const REVERSE_TUNNEL: u8 = 0x02;
}

/// Registration request, type 1 (section 3.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationRequest {
    /// See [`request_flag`].
    pub flags: u8,
    /// Seconds; 0 deregisters.
    pub lifetime_s: u16,
    /// Home address.
    pub home_address: [u8; 4],
    /// Home agent.
    pub home_agent: [u8; 4],
    /// Care-of address.
    pub care_of_address: [u8; 4],
    /// Matches replies and protects against replay (section 5.7).
    pub identification: u64,
    /// Extensions in order.
    pub extensions: Vec<Extension>,
}

impl RegistrationRequest {
    const TYPE: u8 = 1;

    /// Reads a request.
    ///
    /// # Errors
    /// [`Error`] when it is another message or cut short.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let format = "Mobile IP registration request";
        let mut cursor = Cursor::new(format, octets);
        if cursor.u8()? != Self::TYPE {
            return Err(Error::malformed(format, "type is not 1"));
        }
        Ok(Self {
            flags: cursor.u8()?,
            lifetime_s: cursor.u16_be()?,
            home_address: cursor.array()?,
            home_agent: cursor.array()?,
            care_of_address: cursor.array()?,
            identification: cursor.u64_be()?,
            extensions: extensions(&mut cursor)?,
        })
    }

    /// Appends the request.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([Self::TYPE, self.flags]);
        out.extend(self.lifetime_s.to_be_bytes());
        out.extend(self.home_address);
        out.extend(self.home_agent);
        out.extend(self.care_of_address);
        out.extend(self.identification.to_be_bytes());
        emit_extensions(&self.extensions, out);
    }
}

/// Registration reply, type 3 (section 3.4).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistrationReply {
    /// See [`reply_code`].
    pub code: u8,
    /// Granted seconds.
    pub lifetime_s: u16,
    /// Home address.
    pub home_address: [u8; 4],
    /// Home agent.
    pub home_agent: [u8; 4],
    /// As in the request.
    pub identification: u64,
    /// Extensions in order.
    pub extensions: Vec<Extension>,
}

impl RegistrationReply {
    const TYPE: u8 = 3;

    /// Reads a reply.
    ///
    /// # Errors
    /// [`Error`] when it is another message or cut short.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let format = "Mobile IP registration reply";
        let mut cursor = Cursor::new(format, octets);
        if cursor.u8()? != Self::TYPE {
            return Err(Error::malformed(format, "type is not 3"));
        }
        Ok(Self {
            code: cursor.u8()?,
            lifetime_s: cursor.u16_be()?,
            home_address: cursor.array()?,
            home_agent: cursor.array()?,
            identification: cursor.u64_be()?,
            extensions: extensions(&mut cursor)?,
        })
    }

    /// Appends the reply.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend([Self::TYPE, self.code]);
        out.extend(self.lifetime_s.to_be_bytes());
        out.extend(self.home_address);
        out.extend(self.home_agent);
        out.extend(self.identification.to_be_bytes());
        emit_extensions(&self.extensions, out);
    }
}

/// Flags of an agent advertisement (section 2.1.1), most significant octet first.
pub mod agent_flag {
    /// R: registration with this foreign agent is required.
    pub const REGISTRATION_REQUIRED: u16 = 0x8000;
    /// B: the foreign agent takes no more registrations.
    pub const BUSY: u16 = 0x4000;
    /// H: a home agent.
    pub const HOME_AGENT: u16 = 0x2000;
    /// F: a foreign agent.
    pub const FOREIGN_AGENT: u16 = 0x1000;
    /// T: reverse tunnelling.
    pub const REVERSE_TUNNEL: u16 = 0x0100;
}

/// An ICMP router advertisement with the mobility agent advertisement extension
/// (RFC 1256 section 3; RFC 5944 section 2.1.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAdvertisement {
    /// Seconds for which the advertised router is valid.
    pub lifetime_s: u16,
    /// Router (the agent itself) and its preference.
    pub router: ([u8; 4], i32),
    /// Counts advertisements since the agent started.
    pub sequence: u16,
    /// Longest registration lifetime in seconds.
    pub registration_lifetime_s: u16,
    /// See [`agent_flag`].
    pub flags: u16,
    /// Care-of addresses on offer.
    pub care_of_addresses: Vec<[u8; 4]>,
}

impl AgentAdvertisement {
    const ICMP_TYPE: u8 = 9;
    const EXTENSION: u8 = 16;

    /// Reads an advertisement with one router address; checks the ICMP checksum.
    ///
    /// # Errors
    /// [`Error`] on another message, a wrong checksum, or a missing extension.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let format = "Mobile IP agent advertisement";
        let mut cursor = Cursor::new(format, octets);
        if cursor.u8()? != Self::ICMP_TYPE {
            return Err(Error::malformed(format, "ICMP type is not 9"));
        }
        cursor.u8()?;
        cursor.u16_be()?;
        if checksum(octets) != 0 {
            return Err(Error::malformed(format, "checksum is wrong"));
        }
        if (cursor.u8()?, cursor.u8()?) != (1, 2) {
            return Err(Error::malformed(format, "has not one router address"));
        }
        let lifetime_s = cursor.u16_be()?;
        let router = (cursor.array()?, i32::from_be_bytes(cursor.array()?));
        if cursor.u8()? != Self::EXTENSION {
            return Err(Error::malformed(format, "has no mobility extension"));
        }
        let addresses = usize::from(cursor.u8()?)
            .checked_sub(6)
            .filter(|length| length % 4 == 0)
            .ok_or(Error::malformed(format, "extension length is not 6 + 4N"))?
            / 4;
        let sequence = cursor.u16_be()?;
        let registration_lifetime_s = cursor.u16_be()?;
        let flags = cursor.u16_be()?;
        let care_of_addresses = (0..addresses)
            .map(|_| cursor.array())
            .collect::<Result<_>>()?;
        Ok(Self {
            lifetime_s,
            router,
            sequence,
            registration_lifetime_s,
            flags,
            care_of_addresses,
        })
    }

    /// Appends the ICMP message with its checksum; at most 62 care-of addresses fit.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let addresses = &self.care_of_addresses[..self.care_of_addresses.len().min(62)];
        out.extend([Self::ICMP_TYPE, 0, 0, 0, 1, 2]);
        out.extend(self.lifetime_s.to_be_bytes());
        out.extend(self.router.0);
        out.extend(self.router.1.to_be_bytes());
        out.push(Self::EXTENSION);
        out.push(u8::try_from(6 + 4 * addresses.len()).unwrap_or(u8::MAX));
        out.extend(self.sequence.to_be_bytes());
        out.extend(self.registration_lifetime_s.to_be_bytes());
        out.extend(self.flags.to_be_bytes());
        out.extend(addresses.iter().flatten());
        let sum = checksum(&out[start..]);
        out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Appends an ICMP router solicitation (RFC 1256 section 3), which RFC 5944 section 2.2
/// uses unchanged as agent solicitation.
pub fn emit_solicitation(out: &mut Vec<u8>) {
    let sum = checksum(&[10, 0, 0, 0, 0, 0, 0, 0]).to_be_bytes();
    out.extend([10, 0, sum[0], sum[1], 0, 0, 0, 0]);
}

/// Whether `octets` are an ICMP router solicitation with a right checksum.
#[must_use]
pub fn is_solicitation(octets: &[u8]) -> bool {
    octets.len() == 8 && octets[..2] == [10, 0] && checksum(octets) == 0
}

fn extensions(cursor: &mut Cursor<'_>) -> Result<Vec<Extension>> {
    let mut list = Vec::new();
    while cursor.remaining() > 0 {
        let kind = cursor.u8()?;
        // One-octet padding (RFC 5944 section 1.9) has no length.
        if kind == 0 {
            continue;
        }
        let length = usize::from(cursor.u8()?);
        list.push((kind, cursor.take(length)?.to_vec()));
    }
    Ok(list)
}

fn emit_extensions(extensions: &[Extension], out: &mut Vec<u8>) {
    for (kind, data) in extensions {
        let length = u8::try_from(data.len()).unwrap_or(u8::MAX);
        out.extend([*kind, length]);
        out.extend(&data[..usize::from(length)]);
    }
}

/// The Internet checksum (RFC 1071).
fn checksum(octets: &[u8]) -> u16 {
    let mut sum: u64 = octets
        .chunks(2)
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !u16::try_from(sum).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut octets = Vec::new();
        emit(&mut octets);
        octets
    }

    #[test]
    fn a_solicitation_is_eight_octets_with_a_checksum() {
        let octets = written(emit_solicitation);
        assert_eq!(octets, [10, 0, 0xf5, 0xff, 0, 0, 0, 0]);
        assert!(is_solicitation(&octets));
    }

    #[test]
    fn a_flipped_octet_of_an_advertisement_is_noticed() {
        let advertisement = AgentAdvertisement {
            lifetime_s: 1800,
            router: ([10, 0, 1, 1], 0),
            sequence: 7,
            registration_lifetime_s: 300,
            flags: agent_flag::FOREIGN_AGENT | agent_flag::REGISTRATION_REQUIRED,
            care_of_addresses: vec![[10, 0, 1, 1]],
        };
        let octets = written(|o| advertisement.emit(o));
        assert_eq!(AgentAdvertisement::parse(&octets), Ok(advertisement));
        for at in 0..octets.len() {
            let mut wrong = octets.clone();
            wrong[at] ^= 0x10;
            assert!(AgentAdvertisement::parse(&wrong).is_err(), "octet {at}");
        }
    }

    fn extension_list() -> impl Strategy<Value = Vec<Extension>> {
        prop::collection::vec((1_u8.., prop::collection::vec(any::<u8>(), 0..60)), 0..4)
    }

    proptest! {
        #[test]
        fn registrations_round_trip(flags: u8, lifetime_s: u16, home_address: [u8; 4], home_agent: [u8; 4], care_of_address: [u8; 4], identification: u64, extensions in extension_list()) {
            let request = RegistrationRequest { flags, lifetime_s, home_address, home_agent, care_of_address, identification, extensions: extensions.clone() };
            prop_assert_eq!(RegistrationRequest::parse(&written(|o| request.emit(o))), Ok(request));
            let reply = RegistrationReply { code: flags, lifetime_s, home_address, home_agent, identification, extensions };
            prop_assert_eq!(RegistrationReply::parse(&written(|o| reply.emit(o))), Ok(reply));
        }

        #[test]
        fn no_octets_panic(kind in prop::sample::select(vec![1_u8, 3, 9, 10]), octets in prop::collection::vec(any::<u8>(), 0..60)) {
            let octets = [&[kind][..], &octets].concat();
            let _ = RegistrationRequest::parse(&octets);
            let _ = RegistrationReply::parse(&octets);
            let _ = AgentAdvertisement::parse(&octets);
            let _ = is_solicitation(&octets);
        }
    }
}
