//! Stages of a negotiation above the link: Mobile IP's registration, tunnels, and their move.
//!
//! Takes a tunnel's specification and the addresses of its ends; gives both ends as state machines.

use super::{Negotiation, PASSPHRASE};
use crate::exchange::{Context, Peer, SecretName};
use crate::mobility::mobile_ip::MobileIpConfig;
use crate::operation::HashAlgorithm;
use crate::policy::{KeyExchange, MobileIp, TunnelSpec};
use crate::sides::Sides;
use crate::tunnel::ike_v1::{IkeCipher, IkeV1Config, IkeV1Peer};
use crate::tunnel::ike_v2::{IkeSa, IkeV2Config, IkeV2Peer, MobikeInitiator, MobikeResponder};
use crate::tunnel::openvpn::{OpenVpnClient, OpenVpnConfig, OpenVpnServer, STATIC_KEY_OCTETS};
use crate::tunnel::wireguard::{
    RosenpassInitiator, RosenpassResponder, WireGuardInitiator, WireGuardResponder, draw_configs,
};
use airtoll_security::TunnelSuite;

/// The time that tls-crypt writes, seconds since 1970: there is no clock, and no end compares it with one.
const OPENVPN_TIME_S: u32 = 1_700_000_000;

impl Negotiation {
    pub(super) fn mobile_ip(&self) -> MobileIpConfig {
        let foreign = self.options.mobile_ip == MobileIp::Foreign;
        MobileIpConfig {
            home_address: self.mobile_addresses[0],
            home_agent: self.mobile_addresses[1],
            foreign_agent: foreign.then_some(self.mobile_addresses[2]),
            listens: self.options.listens,
            reverse_tunnel: true,
            lifetime_s: 300,
            spi: 1000,
            key: *b"mobility secret!",
        }
    }

    pub(super) fn tunnel(
        &self,
        tunnel: &TunnelSpec,
        context: &mut Context<'_>,
    ) -> Vec<Box<dyn Peer>> {
        let addresses = self.addresses;
        let preshared = |passphrase: &str| passphrase.as_bytes().to_vec();
        match tunnel.key_exchange {
            KeyExchange::Tls => {
                let gateway = OpenVpnConfig {
                    static_key: context.random_octets(STATIC_KEY_OCTETS),
                    time: OPENVPN_TIME_S,
                    chain: self.options.chain,
                    rogue: self.options.faults.wrong_certificate,
                    groups: self.options.tls_group.into_iter().collect(),
                    requests: false,
                    peer: 0,
                    inner: addresses,
                };
                let mut station = gateway.clone();
                if self.options.faults.wrong_passphrase {
                    // The client's own pair: the gateway sees it at once.
                    station.static_key[STATIC_KEY_OCTETS / 2] ^= 1;
                }
                vec![
                    Box::new(OpenVpnClient::new(station)),
                    Box::new(OpenVpnServer::new(gateway)),
                ]
            }
            KeyExchange::Noise => {
                let Sides {
                    initiator: station,
                    responder: gateway,
                } = draw_configs(context);
                if self.options.rosenpass {
                    let mut gateway = RosenpassResponder::new(gateway);
                    gateway.set_busy(self.options.cookies);
                    return vec![
                        Box::new(RosenpassInitiator::new(station)),
                        Box::new(gateway),
                    ];
                }
                let mut gateway = WireGuardResponder::new(gateway);
                gateway.set_busy(self.options.cookies);
                vec![
                    Box::new(WireGuardInitiator::new(station)),
                    Box::new(gateway),
                ]
            }
            KeyExchange::IkeV1 => {
                let config = |passphrase: &str| IkeV1Config {
                    preshared: preshared(passphrase),
                    group: if self.options.ike_group == 0 {
                        2
                    } else {
                        self.options.ike_group
                    },
                    cipher: match tunnel.suite {
                        TunnelSuite::EspDesMd5 | TunnelSuite::EspDesSha1 => IkeCipher::Des,
                        TunnelSuite::EspAesCbcMd5
                        | TunnelSuite::EspAesCbcSha1
                        | TunnelSuite::EspAesGcm => IkeCipher::Aes128,
                        _ => IkeCipher::TripleDes,
                    },
                    hash: if tunnel.suite.integrity() == "md5" {
                        HashAlgorithm::Md5
                    } else {
                        HashAlgorithm::Sha1
                    },
                    forward_secrecy: true,
                    addresses,
                    inner: addresses,
                    nat_traversal: false,
                };
                vec![
                    Box::new(IkeV1Peer::initiator(config(self.station_passphrase()))),
                    Box::new(IkeV1Peer::responder(config(PASSPHRASE))),
                ]
            }
            KeyExchange::IkeV2 => {
                let group = match self.options.ike_group {
                    0 => 14,
                    group => group,
                };
                let gcm = tunnel.suite == TunnelSuite::EspAesGcm;
                let config = |passphrase: &str| IkeV2Config {
                    mobike: self.options.mobike,
                    chain: self.options.ike_chain,
                    rogue: self.options.faults.wrong_certificate,
                    additional: self.options.ike_additional,
                    fragment_octets: self.options.ike_fragment_octets,
                    ..IkeV2Config::new(preshared(passphrase), group, gcm, addresses)
                };
                vec![
                    Box::new(IkeV2Peer::initiator(config(self.station_passphrase()))),
                    Box::new(IkeV2Peer::responder(config(PASSPHRASE))),
                ]
            }
        }
    }

    pub(super) fn tunnel_move(&self) -> Vec<Box<dyn Peer>> {
        let sa = self.secrets.get(&SecretName::IkeSa);
        let Some(sa) = sa.and_then(|octets| IkeSa::from_octets(octets)) else {
            return Vec::new();
        };
        let (address, checks) = (self.addresses.initiator, self.options.return_routability);
        vec![
            Box::new(MobikeInitiator::new(sa.clone(), address)),
            Box::new(MobikeResponder::new(sa, address, checks)),
        ]
    }
}
