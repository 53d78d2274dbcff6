//! Some parties of one handshake, from settings, so that strangers can play the others.
//!
//! Takes the JSON of a [`RoleSettings`] and the parties that are ours; gives them ready to start.
//! Never plays both sides by itself and never opens a socket: the carrier of the octets decides
//! who is at the other end.

pub mod air;

use airtoll_security::EapMethod;
use airtoll_wire::MacAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::air::AirSettings;

use crate::eap::{
    EapAuthenticator, EapConfig, EapLimits, EapServer, EapSupplicant, StationChallenge,
};
use crate::exchange::{Party, Peer};
use crate::link::agreed::{Link, ManagementProtection};
use crate::operation::{HashAlgorithm, KemAlgorithm};
use crate::tls::{Chain, Credential, NamedGroup, Session, TlsSuite, TlsVersion};
use crate::tunnel::ike_v1::{IkeCipher, IkeV1Config, IkeV1Peer};
use crate::tunnel::ike_v2::{IkeSa, IkeV2Config, IkeV2Peer, MobikeInitiator, MobikeResponder};
use crate::tunnel::openvpn::{OpenVpnClient, OpenVpnConfig, OpenVpnServer, STATIC_KEY_OCTETS};
use crate::tunnel::wireguard::{WireGuardConfig, WireGuardInitiator, WireGuardResponder};
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::suite::CipherSuite;

/// Which certificate a party shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shown {
    /// The chain of its own role.
    #[default]
    Own,
    /// A server's, with an untrusted root.
    Rogue,
}

/// Settings of a handshake.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "handshake", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RoleSettings {
    /// EAP between station, access point and authentication server.
    Eap {
        /// The method.
        method: EapMethod,
        /// Which TLS, for the methods that use it.
        #[serde(default)]
        tls: TlsVersion,
        /// Its suite.
        #[serde(default)]
        suite: TlsSuite,
        /// Its groups, where they are not the suite's usual ones.
        #[serde(default)]
        groups: Vec<NamedGroup>,
        /// Certificates of both ends.
        #[serde(default)]
        chain: Chain,
        /// The chain whose root our end trusts, where it is another.
        #[serde(default)]
        trusted: Option<Chain>,
        /// Which of them our end shows.
        #[serde(default)]
        shown: Shown,
        /// Identity that the station claims.
        identity: String,
        /// Password.
        password: String,
        /// Secret that access point and server share.
        radius_secret: String,
        /// Octets of TLS data in one EAP packet.
        fragment_octets: usize,
        /// When a server gives the conversation up.
        #[serde(default)]
        limits: EapLimits,
        /// Whether certificates are compressed (RFC 8879).
        #[serde(default)]
        certificate_compression: bool,
        /// Whether PEAP's server binds the tunnel to what runs in it.
        #[serde(default)]
        cryptobinding: bool,
        /// A TLS session of an earlier conversation to resume, as the exchange gave it.
        #[serde(default)]
        session: Option<Vec<u8>>,
        /// Whether our end remembers the session of a conversation for the next.
        #[serde(default)]
        remembers: bool,
        /// The station's address, colon-separated.
        station: String,
        /// The access point's.
        access_point: String,
    },
    /// LEAP's authentication server.
    Leap {
        /// Identity of its user.
        identity: String,
        /// Password of the user.
        password: String,
        /// Secret that access point and server share.
        radius_secret: String,
        /// The way of the station's challenge to the server.
        #[serde(default)]
        challenge: StationChallenge,
    },
    /// IKEv1, the station being the initiator and the gateway the responder.
    IkeV1 {
        /// Pre-shared key.
        preshared: String,
        /// IKE group: 2, 5 or 14.
        group: u16,
        /// des, triple-des or aes128.
        cipher: IkeCipher,
        /// md5 or sha1.
        hash: HashAlgorithm,
        /// Whether quick mode has a Diffie-Hellman exchange of its own.
        forward_secrecy: bool,
        /// IPv4 addresses of initiator and responder.
        addresses: [[u8; 4]; 2],
        /// Their addresses inside the tunnel.
        inner: [[u8; 4]; 2],
        /// Whether the ends look for address translation.
        #[serde(default)]
        nat_traversal: bool,
    },
    /// IKEv2 with one ESP tunnel.
    IkeV2 {
        /// Pre-shared key.
        preshared: String,
        /// The chains with which both ends authenticate instead.
        #[serde(default)]
        chain: Option<Chain>,
        /// Transform of the first key exchange: 14, 19, 31, or 35 to 37.
        group: u16,
        /// The second key exchange.
        #[serde(default)]
        additional: Option<KemAlgorithm>,
        /// Octets of the longest IPv4 datagram before messages are fragmented; null: never.
        #[serde(default)]
        fragment_octets: Option<usize>,
        /// AES-GCM instead of AES-CBC with HMAC-SHA-1.
        gcm: bool,
        /// IPv4 addresses of initiator and responder.
        addresses: [[u8; 4]; 2],
        /// The initiator's address inside the tunnel.
        inner: [u8; 4],
        /// Whether the ends look for address translation.
        #[serde(default)]
        nat_traversal: bool,
        /// Whether the tunnel may move.
        #[serde(default)]
        mobike: bool,
    },
    /// A tunnel of IKEv2 that moves: the station's end comes from another address.
    Mobike {
        /// The IKE SA, as an exchange with `mobike` gave it.
        sa: Vec<u8>,
        /// The new address.
        address: [u8; 4],
        /// Whether the gateway checks that the station is there.
        #[serde(default)]
        checks: bool,
    },
    /// A stage between station and access point.
    Air {
        /// The handshake and its settings.
        settings: AirSettings,
    },
    /// OpenVPN with tls-crypt, the station being the client and the gateway the server.
    OpenVpn {
        /// The shared key of tls-crypt, 256 octets.
        static_key: Vec<u8>,
        /// Seconds since 1970.
        time: u32,
        /// Certificates of both ends.
        #[serde(default)]
        chain: Chain,
        /// Which of them a gateway shows.
        #[serde(default)]
        shown: Shown,
        /// Groups of TLS; empty: X25519.
        #[serde(default)]
        groups: Vec<NamedGroup>,
        /// Whether the client sends PUSH_REQUEST before it gets the options.
        #[serde(default)]
        requests: bool,
        /// Addresses in the tunnel: the client's, the gateway's.
        inner: [[u8; 4]; 2],
    },
    /// WireGuard, the station being the initiator and the gateway the responder.
    WireGuard {
        /// Our static private key.
        private: [u8; 32],
        /// Their static public key.
        peer: [u8; 32],
        /// Pre-shared key; zero without one.
        preshared: [u8; 32],
        /// First TAI64N timestamp of the initiator.
        timestamp: [u8; 12],
        /// The other end's outer address and port, which a cookie is for.
        #[serde(default)]
        source: [u8; 6],
    },
}

impl RoleSettings {
    /// Reads settings.
    ///
    /// # Errors
    /// What is wrong with the JSON.
    pub fn parse(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| format!("settings: {error}"))
    }

    /// The party of these settings, ready to start.
    ///
    /// # Errors
    /// A party that takes no part in this handshake, or an address that is none.
    pub fn party(&self, party: Party) -> Result<Box<dyn Peer>, String> {
        let peer: Option<Box<dyn Peer>> = match (self, party) {
            (Self::Eap { .. }, _) => return self.eap(party),
            (Self::Leap { .. }, _) => self.leap(party),
            (Self::Air { settings }, _) => return settings.party(party),
            (Self::IkeV1 { .. }, _) => self.ike_v1(party),
            (Self::IkeV2 { .. }, _) => self.ike_v2(party),
            (
                Self::Mobike {
                    sa,
                    address,
                    checks,
                },
                _,
            ) => {
                let sa = IkeSa::from_octets(sa).ok_or("settings: sa is no IKE SA")?;
                match party {
                    Party::Station => Some(Box::new(MobikeInitiator::new(sa, *address))),
                    Party::Gateway => Some(Box::new(MobikeResponder::new(sa, *address, *checks))),
                    _ => None,
                }
            }
            (Self::OpenVpn { .. }, _) => return self.openvpn(party),
            (Self::WireGuard { .. }, _) => self.wireguard(party),
        };
        peer.ok_or_else(|| format!("settings: {party:?} takes no part in this handshake"))
    }

    fn eap(&self, party: Party) -> Result<Box<dyn Peer>, String> {
        let Self::Eap {
            method,
            tls,
            suite,
            groups,
            chain,
            trusted,
            shown,
            identity,
            password,
            radius_secret,
            fragment_octets,
            limits,
            certificate_compression,
            cryptobinding,
            session,
            remembers,
            station,
            access_point,
        } = self
        else {
            return Err("settings: these are not EAP's".to_owned());
        };
        let own = match party {
            Party::Station => Credential::client(*chain),
            _ => Credential::server(*chain),
        };
        let config = EapConfig {
            method: *method,
            identity: identity.clone().into_bytes(),
            password: password.clone().into_bytes(),
            tls: *tls,
            suite: *suite,
            groups: groups.clone(),
            credential: Some(match shown {
                Shown::Own => own,
                Shown::Rogue => Credential::rogue_server(),
            }),
            trusted: trusted.unwrap_or(*chain),
            resume: match session {
                Some(octets) => Some(
                    Session::from_octets(octets).ok_or("settings: session is no TLS session")?,
                ),
                None => None,
            },
            remembers: *remembers,
            fragment_octets: *fragment_octets,
            limits: match party {
                Party::AuthenticationServer => *limits,
                _ => EapLimits::default(),
            },
            certificate_compression: *certificate_compression,
            cryptobinding: *cryptobinding,
        };
        let secret = radius_secret.clone().into_bytes();
        Ok(match party {
            Party::Station => Box::new(EapSupplicant::new(config)),
            Party::AccessPoint => {
                let link = wired_link(address(station)?, address(access_point)?);
                Box::new(EapAuthenticator::new(link, secret))
            }
            Party::AuthenticationServer => Box::new(EapServer::new(config, secret)),
            _ => return Err(format!("settings: {party:?} takes no part in EAP")),
        })
    }

    fn leap(&self, party: Party) -> Option<Box<dyn Peer>> {
        let Self::Leap {
            identity,
            password,
            radius_secret,
            challenge,
        } = self
        else {
            return None;
        };
        if party != Party::AuthenticationServer {
            return None;
        }
        let config = EapConfig::with_password(EapMethod::Leap, identity, password);
        let server = EapServer::new(config, radius_secret.clone().into_bytes());
        Some(Box::new(server.with_challenge(challenge.clone())))
    }

    fn ike_v1(&self, party: Party) -> Option<Box<dyn Peer>> {
        let Self::IkeV1 {
            preshared,
            group,
            cipher,
            hash,
            forward_secrecy,
            addresses,
            inner,
            nat_traversal,
        } = self
        else {
            return None;
        };
        let config = IkeV1Config {
            preshared: preshared.clone().into_bytes(),
            group: *group,
            cipher: *cipher,
            hash: *hash,
            forward_secrecy: *forward_secrecy,
            addresses: (*addresses).into(),
            inner: (*inner).into(),
            nat_traversal: *nat_traversal,
        };
        match party {
            Party::Station => Some(Box::new(IkeV1Peer::initiator(config))),
            Party::Gateway => Some(Box::new(IkeV1Peer::responder(config))),
            _ => None,
        }
    }

    fn ike_v2(&self, party: Party) -> Option<Box<dyn Peer>> {
        let Self::IkeV2 {
            preshared,
            chain,
            group,
            additional,
            fragment_octets,
            gcm,
            addresses,
            inner,
            nat_traversal,
            mobike,
        } = self
        else {
            return None;
        };
        let config = IkeV2Config {
            preshared: preshared.clone().into_bytes(),
            chain: *chain,
            rogue: false,
            group: *group,
            additional: *additional,
            fragment_octets: *fragment_octets,
            gcm: *gcm,
            addresses: (*addresses).into(),
            inner: *inner,
            nat_traversal: *nat_traversal,
            mobike: *mobike,
        };
        match party {
            Party::Station => Some(Box::new(IkeV2Peer::initiator(config))),
            Party::Gateway => Some(Box::new(IkeV2Peer::responder(config))),
            _ => None,
        }
    }

    fn openvpn(&self, party: Party) -> Result<Box<dyn Peer>, String> {
        let Self::OpenVpn {
            static_key,
            time,
            chain,
            shown,
            groups,
            requests,
            inner,
        } = self
        else {
            return Err("settings: these are not OpenVPN's".to_owned());
        };
        if static_key.len() != STATIC_KEY_OCTETS {
            let octets = static_key.len();
            return Err(format!(
                "settings: static_key has {octets} octets; give {STATIC_KEY_OCTETS}"
            ));
        }
        let config = OpenVpnConfig {
            static_key: static_key.clone(),
            time: *time,
            chain: *chain,
            rogue: *shown == Shown::Rogue,
            groups: groups.clone(),
            requests: *requests,
            peer: 0,
            inner: (*inner).into(),
        };
        match party {
            Party::Station => Ok(Box::new(OpenVpnClient::new(config))),
            Party::Gateway => Ok(Box::new(OpenVpnServer::new(config))),
            _ => Err(format!("settings: {party:?} takes no part in OpenVPN")),
        }
    }

    fn wireguard(&self, party: Party) -> Option<Box<dyn Peer>> {
        let Self::WireGuard {
            private,
            peer,
            preshared,
            timestamp,
            source,
        } = self
        else {
            return None;
        };
        let config = WireGuardConfig {
            private: *private,
            peer: *peer,
            preshared: *preshared,
            timestamp: *timestamp,
            source: *source,
        };
        match party {
            Party::Station => Some(Box::new(WireGuardInitiator::new(config))),
            Party::Gateway => Some(Box::new(WireGuardResponder::new(config))),
            _ => None,
        }
    }
}

fn address(text: &str) -> Result<MacAddress, String> {
    text.parse()
        .map_err(|error| format!("settings: {text:?} is no MAC address: {error}"))
}

/// A link without a cipher: EAP alone does not look at one.
fn wired_link(station: MacAddress, access_point: MacAddress) -> Link {
    Link {
        ssid: b"airtoll".to_vec(),
        station,
        access_point,
        akm: Some(AkmSuite::Ieee8021x),
        hash: AkmHash::Sha1,
        pairwise: CipherSuite::Ccmp128,
        group: CipherSuite::Ccmp128,
        protection: ManagementProtection::Off,
        multi_link: None,
        beacon_protection: false,
        operating_channel_validation: false,
        hash_to_element: false,
        announced: Default::default(),
        mobility_domain: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_give_the_parties_that_they_name_and_no_others() {
        let settings = RoleSettings::parse(
            r#"{"handshake": "ike-v2", "preshared": "x", "group": 14, "gcm": true,
                "addresses": [[10, 0, 0, 1], [10, 0, 0, 2]], "inner": [10, 0, 0, 1]}"#,
        )
        .unwrap();
        assert_eq!(
            settings.party(Party::Gateway).unwrap().party(),
            Party::Gateway
        );
        assert!(settings.party(Party::HomeAgent).is_err());
        assert!(RoleSettings::parse(r#"{"handshake": "pptp"}"#).is_err());
    }
}
