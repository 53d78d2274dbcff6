//! Tunnels of recorded packets: takes inner packets, gives them as ESP or WireGuard messages.
//!
//! Keys are given or drawn; IVs and counters follow from the packet's number in its tunnel, so that
//! a packet reads the same on every hop.

use std::rc::Rc;

use airtoll_security::esp::EspKey;
use airtoll_security::openvpn::OpenVpnKey;
use airtoll_security::wireguard::WireGuardKey;
use airtoll_security::{OuterIp, Tunnel, TunnelSuite};
use airtoll_wire::openvpn::PORT as OPENVPN_PORT;
use airtoll_wire::udp::UdpRepr;

use super::{Key, ip};
use crate::address::{self, Locator};
use crate::id::{Ends, NodeId};

/// One direction of a tunnel, with one key between two addresses.
#[derive(Debug, Clone)]
pub(crate) struct TunnelCipher {
    tunnel: Tunnel,
    ends: Ends<Locator>,
    index: u32,
    key: Rc<[u8]>,
    engine: Rc<Engine>,
    /// Messages that the handshake had sent under the key.
    earlier: u64,
    /// Packets that the tunnel had taken before the key.
    before: u32,
}

/// One direction of a tunnel through all its keys and addresses.
#[derive(Debug, Default)]
pub(crate) struct TunnelDirection {
    /// The ciphers, each with the number of packets after which it came into force.
    ciphers: Vec<(u32, TunnelCipher)>,
}

impl TunnelDirection {
    /// Another key, or another address, for packets that the tunnel takes after this many.
    pub fn begin(&mut self, taken: u32, cipher: TunnelCipher) {
        self.ciphers.push((taken, cipher));
    }

    /// The cipher in force.
    pub fn last(&self) -> Option<&TunnelCipher> {
        self.ciphers.last().map(|(_, cipher)| cipher)
    }

    /// The outer packet of an inner one, the `number`-th of this direction (from 1 on).
    pub fn encapsulate(&self, inner: &[u8], number: u32, fragile: bool) -> Option<Vec<u8>> {
        let number = number.max(1);
        let mut ciphers = self.ciphers.iter().rev();
        let (_, cipher) = ciphers.find(|(taken, _)| *taken < number)?;
        Some(cipher.encapsulate(inner, number, fragile))
    }
}

#[derive(Debug)]
enum Engine {
    Esp(Box<EspKey>),
    WireGuard(Box<WireGuardKey>),
    OpenVpn(Box<OpenVpnKey>),
}

/// UDP ports: ESP in UDP (RFC 3948), WireGuard's usual one.
const ESP_PORT: u16 = 4_500;
const WIREGUARD_PORT: u16 = 51_820;
/// IP protocol of ESP.
const ESP: u8 = 50;
/// Next headers (RFC 4303 section 2.6): an IPv4 or IPv6 packet.
const NEXT_IPV4: u8 = 4;
const NEXT_IPV6: u8 = 41;

/// The outer packet of IP in IP (RFC 2003).
pub(super) fn ip_in_ip(inner: &[u8], ends: Ends<NodeId>, number: u32, fragile: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(inner.len() + 20);
    let (from, to) = (address::ip(ends.from, false), address::ip(ends.to, false));
    let identification = fragile.then_some(number as u16);
    ip::wrap(from, to, NEXT_IPV4, 0, identification, inner, &mut out);
    out
}

/// Octets of the keys of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyOctets {
    /// Encryption key, with AES-GCM's salt.
    pub encryption: usize,
    pub integrity: usize,
}

pub(crate) const fn key_octets(suite: TunnelSuite) -> KeyOctets {
    use TunnelSuite as S;
    let (encryption, integrity) = match suite {
        S::EspNullMd5 => (0, 16),
        S::EspNullSha1 => (0, 20),
        S::EspDesMd5 => (8, 16),
        S::EspDesSha1 => (8, 20),
        S::Esp3desMd5 => (24, 16),
        S::Esp3desSha1 => (24, 20),
        S::EspAesCbcMd5 => (16, 16),
        S::EspAesCbcSha1 => (16, 20),
        S::EspAesGcm => (20, 0),
        S::WireGuard => (32, 0),
        S::OpenVpnAesGcm => (40, 0),
    };
    KeyOctets {
        encryption,
        integrity,
    }
}

impl TunnelCipher {
    /// One direction, with its index or SPI, encryption key and integrity key behind one another.
    pub fn new(tunnel: Tunnel, ends: Ends<Locator>, index: u32, key: &[u8]) -> Option<Self> {
        let (encryption, integrity) = key.split_at_checked(key_octets(tunnel.suite).encryption)?;
        let engine = match tunnel.suite {
            TunnelSuite::WireGuard => {
                Engine::WireGuard(Box::new(WireGuardKey::new(encryption, index).ok()?))
            }
            TunnelSuite::OpenVpnAesGcm => {
                Engine::OpenVpn(Box::new(OpenVpnKey::new(encryption, index).ok()?))
            }
            suite => Engine::Esp(Box::new(
                EspKey::new(suite, index, encryption, integrity).ok()?,
            )),
        };
        Some(Self {
            tunnel,
            ends,
            index,
            key: Rc::from([encryption, integrity].concat()),
            engine: Rc::new(engine),
            earlier: 0,
            before: 0,
        })
    }

    /// The direction whose key is in force after the tunnel took this many packets.
    pub const fn since(mut self, taken: u32) -> Self {
        self.before = taken;
        self
    }

    /// The same key between other addresses.
    pub fn between(&self, ends: Ends<Locator>) -> Self {
        Self {
            ends,
            ..self.clone()
        }
    }

    /// Sender and receiver.
    pub const fn ends(&self) -> Ends<Locator> {
        self.ends
    }

    /// Its row of the key log.
    pub fn own_row(&self) -> Key {
        Self::row(self.tunnel, self.ends(), self.index, &self.key)
    }

    /// The direction after `count` messages under its key.
    pub const fn after(mut self, count: u64) -> Self {
        self.earlier = count;
        self
    }

    /// The row of the key log for such a direction.
    pub fn row(tunnel: Tunnel, ends: Ends<Locator>, index: u32, key: &[u8]) -> Key {
        let six = tunnel.outer == OuterIp::Ipv6;
        let (source, destination) = (
            address::ip(ends.from, six).to_string(),
            address::ip(ends.to, six).to_string(),
        );
        let (encryption, integrity) =
            key.split_at(key_octets(tunnel.suite).encryption.min(key.len()));
        if tunnel.suite == TunnelSuite::WireGuard {
            return Key::WireguardSession {
                source,
                destination,
                receiver: format!("{index:#010x}"),
                key: super::hex(encryption),
            };
        }
        if tunnel.suite == TunnelSuite::OpenVpnAesGcm {
            return Key::OpenvpnData {
                source,
                destination,
                peer: format!("{:#08x}", index & 0x00ff_ffff),
                key: super::hex(encryption),
            };
        }
        Key::Esp {
            source,
            destination,
            spi: format!("{index:#010x}"),
            transform: tunnel.suite.name().to_owned(),
            encryption: super::hex(encryption),
            integrity: super::hex(integrity),
        }
    }

    /// The outer packet of an inner one, the `number`-th of this direction (from 1 on).
    pub fn encapsulate(&self, inner: &[u8], number: u32, fragile: bool) -> Vec<u8> {
        let six = self.tunnel.outer == OuterIp::Ipv6;
        let (from, to) = (
            address::ip(self.ends.from, six),
            address::ip(self.ends.to, six),
        );
        let mut message = Vec::with_capacity(inner.len() + 64);
        let mut port = 0;
        let sequence = number - self.before;
        let done = match &*self.engine {
            Engine::Esp(key) => {
                if self.tunnel.udp_encapsulation {
                    port = ESP_PORT;
                }
                let next = if inner[0] >> 4 == 6 {
                    NEXT_IPV6
                } else {
                    NEXT_IPV4
                };
                let iv = initial_vector(sequence, self.tunnel.suite.iv_octets());
                key.encapsulate(sequence, &iv, inner, next, &mut message)
            }
            Engine::WireGuard(key) => {
                port = WIREGUARD_PORT;
                key.encapsulate(self.earlier + u64::from(sequence - 1), inner, &mut message)
            }
            Engine::OpenVpn(key) => {
                port = OPENVPN_PORT;
                key.encapsulate(sequence, inner, &mut message)
            }
        };
        debug_assert!(done.is_ok(), "{done:?}");
        let mut out = Vec::with_capacity(message.len() + 48);
        let identification = fragile.then_some(number as u16);
        if port == 0 {
            ip::wrap(from, to, ESP, 0, identification, &message, &mut out);
        } else {
            let mut datagram = Vec::with_capacity(message.len() + 8);
            UdpRepr {
                source: port,
                destination: port,
                payload: &message,
            }
            .emit(from, to, &mut datagram);
            ip::wrap(from, to, 17, 0, identification, &datagram, &mut out);
        }
        out
    }
}

/// An IV that looks like noise (CBC) and never repeats (AES-GCM: RFC 4106 section 3.1), because
/// its first eight octets are a permutation of the number.
fn initial_vector(number: u32, octets: usize) -> Vec<u8> {
    let mut state = u64::from(number);
    let mut iv = Vec::with_capacity(16);
    while iv.len() < octets {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        iv.extend_from_slice(&(word ^ (word >> 31)).to_be_bytes());
    }
    iv.truncate(octets);
    iv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_as_long_as_the_model_says() {
        for suite in TunnelSuite::ALL {
            for outer in [OuterIp::Ipv4, OuterIp::Ipv6] {
                for udp_encapsulation in [false, true] {
                    let tunnel = Tunnel {
                        suite,
                        outer,
                        udp_encapsulation,
                    };
                    let ends = Ends {
                        from: NodeId::new(0).into(),
                        to: NodeId::new(1).into(),
                    };
                    let lengths = key_octets(suite);
                    let octets = lengths.encryption + lengths.integrity;
                    let key: Vec<u8> = (0..octets).map(|n| n as u8 * 3).collect();
                    let cipher = TunnelCipher::new(tunnel, ends, 0x1234, &key).unwrap();
                    for length in [40, 41, 1400] {
                        let mut inner = vec![0; length];
                        inner[0] = 0x45;
                        let outer = cipher.encapsulate(&inner, 3, false);
                        assert_eq!(outer.len(), tunnel.outer_octets(length), "{tunnel:?}");
                    }
                }
            }
        }
    }
}
