//! Network-layer tunnels and what each adds to a packet.
//!
//! Takes a tunnel and the length of an inner packet; gives the length on the outside. Never
//! touches a key or a packet: the data formats are in `esp` and `wireguard`.

use serde::{Deserialize, Serialize};

/// The transform of an ESP security association in tunnel mode, or WireGuard.
///
/// Key lengths change no octet count, so AES stands for all of its key lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelSuite {
    /// NULL encryption (RFC 2410), HMAC-MD5-96 (RFC 2403).
    EspNullMd5,
    /// NULL encryption, HMAC-SHA1-96 (RFC 2404).
    EspNullSha1,
    /// DES-CBC (RFC 2405), HMAC-MD5-96.
    EspDesMd5,
    /// DES-CBC, HMAC-SHA1-96.
    EspDesSha1,
    /// 3DES-CBC (RFC 2451), HMAC-MD5-96.
    #[serde(rename = "esp-3des-md5")]
    Esp3desMd5,
    /// 3DES-CBC, HMAC-SHA1-96.
    #[serde(rename = "esp-3des-sha1")]
    Esp3desSha1,
    /// AES-CBC (RFC 3602), HMAC-MD5-96.
    EspAesCbcMd5,
    /// AES-CBC, HMAC-SHA1-96.
    EspAesCbcSha1,
    /// AES-GCM with a 16-octet ICV (RFC 4106).
    EspAesGcm,
    /// WireGuard transport data (Donenfeld 2017, section 5.4.6).
    #[serde(rename = "wireguard")]
    WireGuard,
}

impl TunnelSuite {
    /// Every tunnel suite.
    pub const ALL: [Self; 10] = [
        Self::EspNullMd5,
        Self::EspNullSha1,
        Self::EspDesMd5,
        Self::EspDesSha1,
        Self::Esp3desMd5,
        Self::Esp3desSha1,
        Self::EspAesCbcMd5,
        Self::EspAesCbcSha1,
        Self::EspAesGcm,
        Self::WireGuard,
    ];

    /// The name used in profiles and output; the same as the serialised form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EspNullMd5 => "esp-null-md5",
            Self::EspNullSha1 => "esp-null-sha1",
            Self::EspDesMd5 => "esp-des-md5",
            Self::EspDesSha1 => "esp-des-sha1",
            Self::Esp3desMd5 => "esp-3des-md5",
            Self::Esp3desSha1 => "esp-3des-sha1",
            Self::EspAesCbcMd5 => "esp-aes-cbc-md5",
            Self::EspAesCbcSha1 => "esp-aes-cbc-sha1",
            Self::EspAesGcm => "esp-aes-gcm",
            Self::WireGuard => "wireguard",
        }
    }

    /// The suite of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }

    /// Octets of IV carried in each ESP packet; WireGuard carries none (its counter is part of
    /// the 16-octet header).
    #[must_use]
    pub const fn iv_octets(self) -> usize {
        match self {
            Self::EspNullMd5 | Self::EspNullSha1 | Self::WireGuard => 0,
            Self::EspDesMd5
            | Self::EspDesSha1
            | Self::Esp3desMd5
            | Self::Esp3desSha1
            | Self::EspAesGcm => 8,
            Self::EspAesCbcMd5 | Self::EspAesCbcSha1 => 16,
        }
    }

    /// The multiple to which the encrypted part is padded, octets. ESP aligns to 4 at least
    /// (RFC 4303, 2.4), WireGuard to 16.
    #[must_use]
    pub const fn padding_multiple(self) -> usize {
        match self {
            Self::EspNullMd5 | Self::EspNullSha1 | Self::EspAesGcm => 4,
            Self::EspDesMd5 | Self::EspDesSha1 | Self::Esp3desMd5 | Self::Esp3desSha1 => 8,
            Self::EspAesCbcMd5 | Self::EspAesCbcSha1 | Self::WireGuard => 16,
        }
    }

    /// Octets of integrity check value at the end.
    #[must_use]
    pub const fn icv_octets(self) -> usize {
        match self {
            Self::EspAesGcm | Self::WireGuard => 16,
            _ => 12,
        }
    }
}

/// IP version of the outer header; neither carries options or extension headers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum OuterIp {
    /// IPv4, 20 octets.
    #[default]
    Ipv4,
    /// IPv6, 40 octets.
    Ipv6,
}

impl OuterIp {
    /// Octets of the header.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Ipv4 => 20,
            Self::Ipv6 => 40,
        }
    }
}

/// A tunnel between two gateways or hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Tunnel {
    /// What protects the packets.
    pub suite: TunnelSuite,
    /// The outer IP version.
    #[serde(default)]
    pub outer: OuterIp,
    /// Whether ESP travels in UDP port 4500 (RFC 3948); ignored for WireGuard, which is UDP.
    #[serde(default)]
    pub udp_encapsulation: bool,
}

impl Tunnel {
    /// The tunnel over IPv4, ESP directly on IP.
    #[must_use]
    pub const fn new(suite: TunnelSuite) -> Self {
        Self {
            suite,
            outer: OuterIp::Ipv4,
            udp_encapsulation: false,
        }
    }

    /// Length in octets of the outer IP packet that carries an inner IP packet of `inner` octets.
    ///
    /// ESP (RFC 4303, 2): outer IP [+ UDP 8] + SPI and sequence number 8 + IV + payload, padding,
    /// pad length 1 and next header 1 filled to the multiple + ICV. WireGuard: outer IP + UDP 8 +
    /// type, receiver and counter 16 + inner padded to 16 + tag 16. Linux does not pad beyond the
    /// MTU of a WireGuard interface, so a full-size inner packet there can be up to 15 shorter.
    #[must_use]
    pub const fn outer_octets(self, inner: usize) -> usize {
        let multiple = self.suite.padding_multiple();
        match self.suite {
            TunnelSuite::WireGuard => {
                self.outer.octets() + 8 + 16 + inner.next_multiple_of(multiple) + 16
            }
            suite => {
                let udp = if self.udp_encapsulation { 8 } else { 0 };
                self.outer.octets()
                    + udp
                    + 8
                    + suite.iv_octets()
                    + (inner + 2).next_multiple_of(multiple)
                    + suite.icv_octets()
            }
        }
    }

    /// Octets added to an inner packet of `inner` octets.
    #[must_use]
    pub const fn added_octets(self, inner: usize) -> usize {
        self.outer_octets(inner) - inner
    }

    /// The longest inner packet whose outer packet is at most `mtu` octets; zero if none is.
    #[must_use]
    pub const fn longest_inner(self, mtu: usize) -> usize {
        let overhead = self.outer_octets(0);
        let mut inner = (mtu + 16).saturating_sub(overhead);
        while inner > 0 && self.outer_octets(inner) > mtu {
            inner -= 1;
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn esp_lengths_by_hand() {
        // 1500 + 2 = 1502 -> 1504 (8), 20 + 8 + 8 + 1504 + 12
        let t = Tunnel::new(TunnelSuite::Esp3desSha1);
        assert_eq!(t.outer_octets(1500), 1552);
        // 1400 + 2 -> 1408 (16), 20 + 8 + 16 + 1408 + 12
        let t = Tunnel::new(TunnelSuite::EspAesCbcSha1);
        assert_eq!(t.outer_octets(1400), 1464);
        // 40 + 8 + 8 + 8 + (1400 + 2 -> 1404) + 16
        let t = Tunnel {
            suite: TunnelSuite::EspAesGcm,
            outer: OuterIp::Ipv6,
            udp_encapsulation: true,
        };
        assert_eq!(t.outer_octets(1400), 1484);
        // 20 + 8 + 1404 + 12
        assert_eq!(
            Tunnel::new(TunnelSuite::EspNullMd5).outer_octets(1400),
            1444
        );
    }

    #[test]
    fn wireguard_adds_sixty_or_eighty() {
        let t = Tunnel::new(TunnelSuite::WireGuard);
        assert_eq!(t.added_octets(1424), 60);
        assert_eq!(t.added_octets(0), 60);
        assert_eq!(t.added_octets(1), 75);
        let t = Tunnel {
            outer: OuterIp::Ipv6,
            ..t
        };
        assert_eq!(t.added_octets(1424), 80);
    }

    #[test]
    fn longest_inner_is_the_longest() {
        for suite in TunnelSuite::ALL {
            for outer in [OuterIp::Ipv4, OuterIp::Ipv6] {
                for udp_encapsulation in [false, true] {
                    let t = Tunnel {
                        suite,
                        outer,
                        udp_encapsulation,
                    };
                    for mtu in [0, 60, 576, 1280, 1492, 1500, 9000] {
                        let inner = t.longest_inner(mtu);
                        assert!(t.outer_octets(inner) <= mtu || inner == 0);
                        assert!(t.outer_octets(inner + 1) > mtu);
                    }
                }
            }
        }
    }

    #[test]
    fn names_are_the_serialised_form() {
        for suite in TunnelSuite::ALL {
            let json = serde_json::to_string(&suite).unwrap();
            assert_eq!(json, format!("\"{}\"", suite.name()));
            assert_eq!(TunnelSuite::from_name(suite.name()), Some(suite));
        }
    }
}
