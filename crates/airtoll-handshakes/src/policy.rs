//! A policy as the handshakes need it.
//!
//! [`PolicySpec`] and [`Options`] cross the border as JSON. The Python catalogue resolves a policy's
//! name; nothing here parses one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eap::EapLimits;
use crate::link::agreed::ManagementProtection;
use crate::operation::KemAlgorithm;
pub use crate::spec_error::SpecError;
use crate::tls::{Chain, NamedGroup, TlsVersion};
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;
use airtoll_security::{EapMethod, TunnelSuite};

/// The 802.11 authentication algorithm of a first association (802.11-2020, 9.4.1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AuthenticationAlgorithm {
    /// Open System.
    #[default]
    Open,
    /// Shared Key, with the WEP key.
    SharedKey,
    /// Simultaneous authentication of equals.
    Sae,
    /// Fast BSS transition; the first association in a mobility domain authenticates with Open
    /// System.
    Ft,
}

/// The link of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// Pairwise cipher.
    pub cipher: CipherSuite,
    /// Group cipher.
    pub group_cipher: CipherSuite,
    /// AKM suite; null without link keys.
    #[serde(default)]
    pub akm: Option<AkmSuite>,
    /// EAP method; null without 802.1X.
    #[serde(default)]
    pub eap_method: Option<EapMethod>,
    /// 802.11 authentication algorithm.
    #[serde(default)]
    pub authentication: AuthenticationAlgorithm,
    /// Protected management frames.
    #[serde(default)]
    pub pmf: ManagementProtection,
    /// Whether 802.1X hands out WEP keys.
    #[serde(default)]
    pub dynamic_wep: bool,
}

/// The protocol that agrees on the keys of a tunnel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyExchange {
    /// IKE version 1 (RFC 2409).
    IkeV1,
    /// IKE version 2 (RFC 7296).
    IkeV2,
    /// The handshake of WireGuard, an instance of the Noise framework.
    Noise,
    /// OpenVPN's control channel with TLS 1.3.
    Tls,
}

/// A tunnel of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TunnelSpec {
    /// Transform of its packets.
    pub suite: TunnelSuite,
    /// Protocol that agrees on its keys.
    pub key_exchange: KeyExchange,
}

/// A policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicySpec {
    /// Its name.
    pub name: String,
    /// Its link.
    pub link: LinkSpec,
    /// Its tunnels, outermost first.
    #[serde(default)]
    pub tunnels: Vec<TunnelSpec>,
}

/// Faults to inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// The station has another passphrase or password.
    pub wrong_passphrase: bool,
    /// The RADIUS server shows a chain of an unknown root.
    pub wrong_certificate: bool,
    /// The RADIUS server does not answer.
    pub silent_server: bool,
    /// The station asks to go on from a PMKSA that the AP does not have. Acts with SAE and with 802.1X.
    pub stale_pmksa: bool,
    /// It keeps that PMKSA after the AP has refused it.
    pub keeps_stale_pmksa: bool,
}

/// Where Mobile IP stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum MobileIp {
    /// Not used.
    #[default]
    Off,
    /// The node registers with its home agent.
    Home,
    /// The node registers through a foreign agent.
    Foreign,
}

/// Treatment of a tunnel whose end is at another access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunnelMove {
    /// It is set up anew from the new address.
    #[default]
    Anew,
    /// IKEv2's SA moves (RFC 4555).
    Mobike,
    /// WireGuard's other end follows the next packet that it can authenticate (Donenfeld 2017,
    /// section 2.1).
    Roams,
    /// Its address is a home address of Mobile IP and stays what it was.
    Stays,
}

/// RADIUS over TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RadiusTls {
    /// The connections are up before the first request; otherwise a request opens them.
    pub up: bool,
    /// The chains that both ends of a connection show.
    pub chain: Chain,
}

/// Choices that a policy leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Which TLS the EAP methods run.
    pub tls: TlsVersion,
    /// The group of TLS in EAP and in OpenVPN, where it is not the suite's usual one.
    pub tls_group: Option<NamedGroup>,
    /// The signature algorithms of both ends' certificates, in EAP and in OpenVPN.
    pub chain: Chain,
    /// Whether certificates are compressed (RFC 8879).
    pub certificate_compression: bool,
    /// Octets of TLS data in one EAP packet.
    pub fragment_octets: usize,
    /// When the authentication server gives a conversation up.
    pub eap_limits: EapLimits,
    /// RADIUS proxies between access point and server, that of the access point first: octets of the
    /// Proxy-State value that each adds (RFC 2865 section 5.33); 0: the request's identifier in decimal.
    pub radius_proxies: Vec<u8>,
    /// RADIUS goes over TLS between access point, proxies and server (RFC 6614); null: over UDP.
    pub radius_tls: Option<RadiusTls>,
    /// Requests after the one for the identity that the station answers; null without a limit.
    pub station_rounds: Option<u32>,
    /// Whether PEAP's server binds the tunnel to what runs in it.
    pub cryptobinding: bool,
    /// IANA group of SAE and OWE.
    pub group: u16,
    /// SAE with hash-to-element.
    pub hash_to_element: bool,
    /// Whether the AP protects its beacons (BIGTK); acts with protected management frames.
    pub beacon_protection: bool,
    /// Whether both ends prove the channel that they are on (OCV); acts with protected management frames.
    pub operating_channel_validation: bool,
    /// Links of a multi-link association; 1: none. More need GCMP-256, SAE as AKM 24, OWE or 802.1X,
    /// required PMF and beacon protection.
    #[schemars(range(min = 1, max = 15))]
    pub links: u8,
    /// Whether the AP asks for anti-clogging tokens.
    pub anti_clogging: bool,
    /// Time that the AP waits for the next authentication frame of SAE before it deauthenticates the
    /// station, ms; null: as long as a station repeats its frames.
    pub authentication_timeout_ms: Option<u32>,
    /// Transmissions of a message that renews group keys before the AP deauthenticates the station.
    #[schemars(range(min = 1))]
    pub group_update_count: u8,
    /// Whether the gateway is under load and WireGuard asks for cookies.
    pub cookies: bool,
    /// WireGuard's pre-shared key comes from Rosenpass, which runs first.
    pub rosenpass: bool,
    /// IKE group; 0 takes 2 for IKEv1 and 14 for IKEv2.
    pub ike_group: u16,
    /// The chains with which both ends of IKEv2 authenticate (RFC 7427); null: a pre-shared key.
    pub ike_chain: Option<Chain>,
    /// The second key exchange of IKEv2 (RFC 9370).
    pub ike_additional: Option<KemAlgorithm>,
    /// Octets of the longest IPv4 datagram before IKEv2 fragments its messages (RFC 7383); null: IP does.
    pub ike_fragment_octets: Option<usize>,
    /// Mobile IP registration after the link is up.
    pub mobile_ip: MobileIp,
    /// Mobile IP: the node does not ask for an agent, but waits until it is told to or hears one.
    pub listens: bool,
    /// Both ends of an IKEv2 tunnel say that it may move to other addresses (RFC 4555).
    pub mobike: bool,
    /// The end that stays checks that the other one receives at its new address before it believes
    /// it (RFC 4555 section 3.7).
    pub return_routability: bool,
    /// The PMK of an earlier association is still cached at both ends (802.11-2020, 12.6.10.3;
    /// with opportunistic key caching at another AP): SAE or EAP are left out.
    pub cached_pmk: bool,
    /// Station and RADIUS server remember the TLS session of an earlier authentication, which
    /// EAP-TLS, PEAP and TTLS then resume (RFC 5246 section 7.3, RFC 8446 section 2.2, RFC 9190
    /// section 2.1.3).
    pub tls_resumption: bool,
    /// Faults to inject.
    pub faults: Faults,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            tls: TlsVersion::default(),
            tls_group: None,
            chain: Chain::default(),
            certificate_compression: false,
            fragment_octets: 1398,
            eap_limits: EapLimits::default(),
            radius_proxies: Vec::new(),
            radius_tls: None,
            station_rounds: None,
            cryptobinding: false,
            group: 19,
            hash_to_element: true,
            beacon_protection: false,
            operating_channel_validation: false,
            links: 1,
            anti_clogging: false,
            authentication_timeout_ms: None,
            group_update_count: 4,
            cookies: false,
            rosenpass: false,
            ike_group: 0,
            ike_chain: None,
            ike_additional: None,
            ike_fragment_octets: None,
            mobile_ip: MobileIp::default(),
            listens: false,
            mobike: false,
            return_routability: false,
            cached_pmk: false,
            tls_resumption: false,
            faults: Faults::default(),
        }
    }
}
