//! Network-layer tunnels: one table, and what each adds to a packet.
//!
//! Takes a tunnel and the length of an inner packet; gives the length on the outside. Never
//! touches a key or a packet: the data formats are in `esp` and `wireguard`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::table::table;

struct Row {
    encryption: &'static str,
    integrity: &'static str,
    iv: usize,
    padding: usize,
    icv: usize,
}

table! {
    /// The transform of an ESP security association in tunnel mode, WireGuard or OpenVPN.
    ///
    /// Key lengths change no octet count, so AES stands for all of its key lengths.
    pub enum TunnelSuite: Row {
        /// NULL encryption (RFC 2410), HMAC-MD5-96 (RFC 2403).
        EspNullMd5 = "esp-null-md5" {
            encryption: "null",
            integrity: "md5",
            iv: 0,
            padding: 4,
            icv: 12,
        }
        /// NULL encryption, HMAC-SHA1-96 (RFC 2404).
        EspNullSha1 = "esp-null-sha1" {
            encryption: "null",
            integrity: "sha1",
            iv: 0,
            padding: 4,
            icv: 12,
        }
        /// DES-CBC (RFC 2405), HMAC-MD5-96.
        EspDesMd5 = "esp-des-md5" {
            encryption: "des",
            integrity: "md5",
            iv: 8,
            padding: 8,
            icv: 12,
        }
        /// DES-CBC, HMAC-SHA1-96.
        EspDesSha1 = "esp-des-sha1" {
            encryption: "des",
            integrity: "sha1",
            iv: 8,
            padding: 8,
            icv: 12,
        }
        /// 3DES-CBC (RFC 2451), HMAC-MD5-96.
        Esp3desMd5 = "esp-3des-md5" {
            encryption: "3des",
            integrity: "md5",
            iv: 8,
            padding: 8,
            icv: 12,
        }
        /// 3DES-CBC, HMAC-SHA1-96.
        Esp3desSha1 = "esp-3des-sha1" {
            encryption: "3des",
            integrity: "sha1",
            iv: 8,
            padding: 8,
            icv: 12,
        }
        /// AES-CBC (RFC 3602), HMAC-MD5-96.
        EspAesCbcMd5 = "esp-aes-cbc-md5" {
            encryption: "aes-cbc",
            integrity: "md5",
            iv: 16,
            padding: 16,
            icv: 12,
        }
        /// AES-CBC, HMAC-SHA1-96.
        EspAesCbcSha1 = "esp-aes-cbc-sha1" {
            encryption: "aes-cbc",
            integrity: "sha1",
            iv: 16,
            padding: 16,
            icv: 12,
        }
        /// AES-GCM with a 16-octet ICV (RFC 4106).
        EspAesGcm = "esp-aes-gcm" {
            encryption: "aes-gcm",
            integrity: "none",
            iv: 8,
            padding: 4,
            icv: 16,
        }
        /// WireGuard transport data (Donenfeld 2017, section 5.4.6).
        WireGuard = "wireguard" {
            encryption: "chacha20-poly1305",
            integrity: "none",
            iv: 0,
            padding: 16,
            icv: 16,
        }
        /// OpenVPN's data channel over UDP, `P_DATA_V2` with AES-256-GCM.
        OpenVpnAesGcm = "openvpn-aes-gcm" {
            encryption: "aes-gcm",
            integrity: "none",
            iv: 0,
            padding: 1,
            icv: 16,
        }
    }
}

impl TunnelSuite {
    /// The encryption algorithm: null, des, 3des, aes-cbc, aes-gcm or chacha20-poly1305.
    #[must_use]
    pub const fn encryption(self) -> &'static str {
        self.row().encryption
    }

    /// The integrity algorithm beside it: md5, sha1, or none where the encryption authenticates.
    #[must_use]
    pub const fn integrity(self) -> &'static str {
        self.row().integrity
    }

    /// Octets of IV carried in each ESP packet; WireGuard carries none (its counter is part of
    /// the 16-octet header).
    #[must_use]
    pub const fn iv_octets(self) -> usize {
        self.row().iv
    }

    /// The multiple to which the encrypted part is padded, octets. ESP aligns to 4 at least
    /// (RFC 4303, 2.4), WireGuard to 16.
    #[must_use]
    pub const fn padding_multiple(self) -> usize {
        self.row().padding
    }

    /// Octets of integrity check value at the end.
    #[must_use]
    pub const fn icv_octets(self) -> usize {
        self.row().icv
    }
}

/// IP version of the outer header; neither carries options or extension headers.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Encapsulation")]
pub struct Tunnel {
    /// The transform.
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
    /// OpenVPN: outer IP + UDP 8 + opcode, peer ID and packet ID 8 + tag 16 + inner.
    #[must_use]
    pub const fn outer_octets(self, inner: usize) -> usize {
        let multiple = self.suite.padding_multiple();
        match self.suite {
            TunnelSuite::WireGuard => {
                self.outer.octets() + 8 + 16 + inner.next_multiple_of(multiple) + 16
            }
            TunnelSuite::OpenVpnAesGcm => self.outer.octets() + 8 + 8 + 16 + inner,
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
