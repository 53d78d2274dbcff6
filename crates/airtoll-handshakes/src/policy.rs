//! A policy as the handshakes need it.
//!
//! [`PolicySpec`] and [`Options`] cross the border as JSON. The Python catalogue resolves a policy's
//! name; nothing here parses one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::tls::{ChainKind, TlsVersion};
use airtoll_security::EapMethod;
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;
use airtoll_wire::ieee80211::suite::{OUI_IEEE, OUI_WPA};

/// An error in a policy or its options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// Not the JSON of a policy.
    #[error("policy: {0}")]
    Json(String),
    /// A name that is not known.
    #[error("policy: {key} is {value:?}; {allowed}")]
    Unknown {
        /// Which key.
        key: &'static str,
        /// The value.
        value: String,
        /// The allowed values.
        allowed: &'static str,
    },
}

/// The link of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// open, pre-rsna, 802.1x, wpa, wpa2, wpa3 or owe.
    pub generation: String,
    /// Pairwise cipher.
    pub cipher: String,
    /// Group cipher.
    pub group_cipher: String,
    /// Suite type of 00-0F-AC, or of WPA.
    #[serde(default)]
    pub akm: Option<u8>,
    /// md5, leap, tls, ttls or peap.
    #[serde(default)]
    pub eap_method: Option<EapMethod>,
    /// open, shared-key, sae or ft.
    #[serde(default = "open")]
    pub authentication: String,
    /// off, optional or required.
    #[serde(default = "off")]
    pub pmf: String,
    /// Whether 802.1X hands out WEP keys.
    #[serde(default)]
    pub dynamic_wep: bool,
}

/// A tunnel of a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TunnelSpec {
    /// esp or wireguard.
    pub kind: String,
    /// null, des, 3des, aes-cbc, aes-gcm or chacha20-poly1305.
    pub encryption: String,
    /// none, md5 or sha1.
    pub integrity: String,
    /// ikev1, ikev2 or noise.
    pub key_exchange: String,
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

impl PolicySpec {
    /// The AKM suite, if the policy derives link keys.
    ///
    /// # Errors
    /// A suite type that no AKM has.
    pub fn akm(&self) -> Result<Option<AkmSuite>, SpecError> {
        let Some(kind) = self.link.akm else {
            return Ok(None);
        };
        let oui = if self.link.generation == "wpa" {
            OUI_WPA
        } else {
            OUI_IEEE
        };
        AkmSuite::from_selector([oui[0], oui[1], oui[2], kind])
            .map(Some)
            .ok_or(SpecError::Unknown {
                key: "link.akm",
                value: kind.to_string(),
                allowed: "the AKM suite types of the catalogue",
            })
    }

    /// A cipher of the link by its name.
    ///
    /// # Errors
    /// A name that no cipher has.
    pub fn cipher(name: &str) -> Result<CipherSuite, SpecError> {
        if name == "none" {
            return Ok(CipherSuite::Open);
        }
        CipherSuite::from_name(name).ok_or(SpecError::Unknown {
            key: "link.cipher",
            value: name.to_string(),
            allowed: "none or a cipher suite of the catalogue",
        })
    }
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

/// Choices that a policy leaves open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Which TLS the EAP methods run.
    pub tls: TlsVersion,
    /// Certificates of RSA-2048 or P-256.
    pub chain: ChainKind,
    /// Octets of TLS data in one EAP packet.
    pub fragment_octets: usize,
    /// Whether PEAP's server binds the tunnel to what runs in it.
    pub cryptobinding: bool,
    /// IANA group of SAE and OWE.
    pub group: u16,
    /// SAE with hash-to-element.
    pub hash_to_element: bool,
    /// Whether the AP asks for anti-clogging tokens.
    pub anti_clogging: bool,
    /// Whether the gateway is under load and WireGuard asks for cookies.
    pub cookies: bool,
    /// IKE group; 0 takes 2 for IKEv1 and 14 for IKEv2.
    pub ike_group: u16,
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
            chain: ChainKind::default(),
            fragment_octets: 1398,
            cryptobinding: false,
            group: 19,
            hash_to_element: true,
            anti_clogging: false,
            cookies: false,
            ike_group: 0,
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

fn open() -> String {
    "open".to_string()
}

fn off() -> String {
    "off".to_string()
}
