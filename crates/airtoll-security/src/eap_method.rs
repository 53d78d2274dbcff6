//! EAP methods: one table of what each is made of.
//!
//! Takes nothing but a method; gives its type, its parts and what it proves. Never runs a method:
//! the state machines are in `airtoll-handshakes`.
//!
//! Source: IANA, "Extensible Authentication Protocol (EAP) Registry", and the documents named in
//! the table.

use airtoll_wire::eap::method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::table::table;

struct Row {
    /// EAP method type.
    number: u8,
    /// The method's name in a message ("Request/TLS").
    title: &'static str,
    gives_keys: bool,
    uses_tls: bool,
    /// Whether its key derivation under TLS 1.3 is implemented.
    tls13: bool,
    uses_password: bool,
    /// The authentication inside the method's tunnel, where there is one.
    inner: Option<&'static str>,
}

table! {
    /// An EAP method.
    pub enum EapMethod: Row {
        /// MD5-Challenge (RFC 3748 section 5.4): gives no key.
        Md5 = "md5" {
            number: method::MD5_CHALLENGE,
            title: "MD5-Challenge",
            gives_keys: false,
            uses_tls: false,
            tls13: false,
            uses_password: true,
            inner: None,
        }
        /// LEAP (Cisco).
        Leap = "leap" {
            number: method::LEAP,
            title: "LEAP",
            gives_keys: true,
            uses_tls: false,
            tls13: false,
            uses_password: true,
            inner: None,
        }
        /// EAP-TLS (RFC 5216, RFC 9190).
        Tls = "tls" {
            number: method::TLS,
            title: "TLS",
            gives_keys: true,
            uses_tls: true,
            tls13: true,
            uses_password: false,
            inner: None,
        }
        /// EAP-TTLS (RFC 5281) with PAP inside.
        Ttls = "ttls" {
            number: method::TTLS,
            title: "TTLS",
            gives_keys: true,
            uses_tls: true,
            tls13: true,
            uses_password: true,
            inner: Some("PAP"),
        }
        /// PEAPv0 (draft-kamath-pppext-peapv0, MS-PEAP) with EAP-MSCHAPv2 inside.
        Peap = "peap" {
            number: method::PEAP,
            title: "PEAP",
            gives_keys: true,
            uses_tls: true,
            tls13: true,
            uses_password: true,
            inner: Some("MSCHAPv2"),
        }
        /// EAP-TEAP version 1 (RFC 7170, RFC 9930) with EAP-MSCHAPv2 inside.
        Teap = "teap" {
            number: method::TEAP,
            title: "TEAP",
            gives_keys: true,
            uses_tls: true,
            tls13: false,
            uses_password: true,
            inner: Some("MSCHAPv2"),
        }
    }
}

/// EAP method types that captures may show and that no policy uses: type, name, whether the method
/// runs TLS with the framing of EAP-TLS.
const RECOGNISED: [(u8, &str, bool); 16] = [
    (5, "OTP", false),
    (6, "GTC", false),
    (18, "SIM", false),
    (23, "AKA", false),
    (method::MSCHAPV2, "MSCHAPv2", false),
    (38, "TNC", false),
    (43, "FAST", true),
    (46, "PAX", false),
    (47, "PSK", false),
    (48, "SAKE", false),
    (49, "IKEv2", false),
    (50, "AKA'", false),
    (51, "GPSK", false),
    (52, "PWD", false),
    (53, "EKE", false),
    (254, "expanded", false),
];

impl EapMethod {
    /// The EAP method type.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.row().number
    }

    /// The method of an EAP method type, if it is one of these.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.number() == number)
    }

    /// The name of any method type: this table's, that of a method that no policy uses, or `type N`.
    #[must_use]
    pub fn title_of(number: u8) -> String {
        let recognised = || RECOGNISED.iter().find(|(known, ..)| *known == number);
        Self::from_number(number).map_or_else(
            || recognised().map_or_else(|| format!("type {number}"), |(_, name, _)| (*name).into()),
            |known| known.title().to_owned(),
        )
    }

    /// Whether the method of a type runs TLS with the framing of EAP-TLS.
    #[must_use]
    pub fn type_uses_tls(number: u8) -> bool {
        let recognised = || RECOGNISED.contains(&(number, Self::title_of(number).as_str(), true));
        Self::from_number(number).map_or_else(recognised, Self::uses_tls)
    }

    /// The method's name in the description of a message.
    #[must_use]
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// Whether the method gives an MSK. A method that does authenticates both ends.
    #[must_use]
    pub const fn gives_keys(self) -> bool {
        self.row().gives_keys
    }

    /// Whether the method runs TLS. A session can then be resumed, and ephemeral keys give forward
    /// secrecy.
    #[must_use]
    pub const fn uses_tls(self) -> bool {
        self.row().uses_tls
    }

    /// Whether the method runs TLS 1.3 here.
    #[must_use]
    pub const fn runs_tls13(self) -> bool {
        self.row().tls13
    }

    /// Whether the station has a password. Without one it signs with its own key.
    #[must_use]
    pub const fn uses_password(self) -> bool {
        self.row().uses_password
    }

    /// The authentication inside the method's TLS tunnel (`PAP`, `MSCHAPv2`), where there is one.
    #[must_use]
    pub const fn inner(self) -> Option<&'static str> {
        self.row().inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_return_their_method() {
        for eap in EapMethod::ALL {
            assert_eq!(EapMethod::from_name(eap.name()), Some(eap));
            assert_eq!(EapMethod::from_number(eap.number()), Some(eap));
            let json = serde_json::to_string(&eap).unwrap();
            assert_eq!(json, format!("\"{}\"", eap.name()));
        }
        assert_eq!(EapMethod::from_number(method::IDENTITY), None);
        assert_eq!(EapMethod::title_of(6), "GTC");
        assert_eq!(EapMethod::title_of(200), "type 200");
    }

    #[test]
    fn no_type_is_listed_twice() {
        for (number, name, tls) in RECOGNISED {
            assert_eq!(EapMethod::from_number(number), None, "{name}");
            assert_eq!(EapMethod::type_uses_tls(number), tls, "{name}");
        }
    }

    #[test]
    fn a_tunnel_needs_tls() {
        for eap in EapMethod::ALL {
            assert!(eap.inner().is_none() || eap.uses_tls(), "{}", eap.name());
        }
    }
}
