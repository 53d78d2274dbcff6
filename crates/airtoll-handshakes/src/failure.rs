//! How a handshake can fail, and the code that a real station or AP would put on the air.
//!
//! Takes nothing; gives [`Failure`]. Reason codes are those of IEEE 802.11-2020 table 9-49,
//! status codes those of table 9-50. Never a number without a name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a party gave up.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    thiserror::Error,
    JsonSchema,
)]
#[serde(tag = "failure", rename_all = "kebab-case")]
pub enum Failure {
    /// The peer proved another passphrase, PMK or shared key than ours.
    #[error("wrong passphrase or key; give both ends the same one")]
    WrongPassphrase {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The authentication server refused the credentials.
    #[error("the authentication server refused the credentials")]
    WrongCredentials {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// A certificate chain does not end in the trusted root, or a signature is wrong.
    #[error("the certificate was not accepted; check the chain and the trusted root")]
    WrongCertificate {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// A message integrity code or signature over the exchange is wrong.
    #[error("a message failed its integrity check")]
    IntegrityFailure {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The RSN element in the handshake is not the one of the association.
    #[error("the RSN element differs from the one of the association")]
    ElementMismatch {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The peer's operating channel information names another channel than ours (802.11-2020, 12.2.9).
    #[error("the peer says that it is on another channel; a station between the two may relay")]
    WrongChannel {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The authentication server did not answer.
    #[error("the authentication server did not answer")]
    ServerTimeout {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The other party did not answer.
    #[error("the other party did not answer")]
    PeerTimeout {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// Two Michael failures within 60 seconds (802.11-2020, 12.5.2.4).
    #[error("TKIP countermeasures")]
    Countermeasures {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// No suite, group, method or AKM in common.
    #[error("nothing in common was offered")]
    NothingInCommon {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// The access point has no PMKSA of the station that asks to go on from one (802.11-2020, 12.6.8.3).
    #[error("the access point does not have the PMKSA that the station named")]
    UnknownPmksa {
        /// Code in the frame that reports it.
        code: Code,
    },
    /// An end of an EAP conversation gave it up (RFC 9191 section 3).
    #[error("more than {limit} rounds")]
    TooManyRounds {
        /// Code in the frame that reports it.
        code: Code,
        /// Rounds that it takes after the identity.
        limit: u32,
    },
    /// A RADIUS packet is longer than the protocol allows (RFC 2865 section 3).
    #[error("a RADIUS packet of {octets} octets; {limit} is the most")]
    PacketTooLong {
        /// Code in the frame that reports it.
        code: Code,
        /// Its octets.
        octets: u32,
        /// Octets that a packet can have.
        limit: u32,
    },
    /// A TLS flight is longer than the authentication server holds.
    #[error("a TLS flight of more than {limit} octets")]
    FlightTooLong {
        /// Code in the frame that reports it.
        code: Code,
        /// Octets that the server holds.
        limit: u32,
    },
}

/// A code of the air, or none where the protocol has no such code.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// Reason code of deauthentication or disassociation.
    Reason(u16),
    /// Status code of authentication or (re)association.
    Status(u16),
    /// Reply code of Mobile IP registration (RFC 5944 section 3.4).
    MobileIp(u8),
    /// Notify message type of IKE (RFC 2408 section 3.14.1, RFC 7296 section 3.10.1).
    Ike(u16),
    /// The protocol stays silent.
    Silent,
}

impl Failure {
    /// The code that goes over the air.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::WrongPassphrase { code }
            | Self::WrongCredentials { code }
            | Self::WrongCertificate { code }
            | Self::IntegrityFailure { code }
            | Self::ElementMismatch { code }
            | Self::WrongChannel { code }
            | Self::ServerTimeout { code }
            | Self::PeerTimeout { code }
            | Self::Countermeasures { code }
            | Self::NothingInCommon { code }
            | Self::UnknownPmksa { code }
            | Self::TooManyRounds { code, .. }
            | Self::PacketTooLong { code, .. }
            | Self::FlightTooLong { code, .. } => *code,
        }
    }
}

/// Reason codes (table 9-49).
pub mod reason {
    /// The STA left or reset.
    pub const LEAVING: u16 = 3;
    /// Invalid authentication: previous authentication is no longer valid.
    pub const PREVIOUS_AUTHENTICATION_INVALID: u16 = 2;
    /// Message integrity code failure.
    pub const MIC_FAILURE: u16 = 14;
    /// 4-way handshake time-out.
    pub const FOUR_WAY_TIMEOUT: u16 = 15;
    /// Group key handshake time-out.
    pub const GROUP_KEY_TIMEOUT: u16 = 16;
    /// Element in the 4-way handshake differs from (re)association request, probe or beacon.
    pub const ELEMENT_DIFFERS: u16 = 17;
    /// IEEE 802.1X authentication failed.
    pub const IEEE8021X_FAILED: u16 = 23;
}

/// Status codes (table 9-50).
pub mod status {
    /// Success.
    pub const SUCCESS: u16 = 0;
    /// Unspecified failure.
    pub const UNSPECIFIED: u16 = 1;
    /// Authentication algorithm not supported.
    pub const ALGORITHM_UNSUPPORTED: u16 = 13;
    /// Authentication frame out of sequence.
    pub const OUT_OF_SEQUENCE: u16 = 14;
    /// Challenge failure.
    pub const CHALLENGE_FAILURE: u16 = 15;
    /// Time-out waiting for the next frame.
    pub const TIMEOUT: u16 = 16;
    /// Invalid AKMP.
    pub const INVALID_AKMP: u16 = 43;
    /// Invalid PMKID.
    pub const INVALID_PMKID: u16 = 53;
    /// Invalid MDE.
    pub const INVALID_MDE: u16 = 54;
    /// Invalid FTE.
    pub const INVALID_FTE: u16 = 55;
    /// Anti-clogging token required.
    pub const ANTI_CLOGGING_TOKEN_REQUIRED: u16 = 76;
    /// Finite cyclic group not supported.
    pub const GROUP_UNSUPPORTED: u16 = 77;
    /// Unknown password identifier.
    pub const UNKNOWN_PASSWORD_IDENTIFIER: u16 = 123;
    /// SAE with the hash-to-element method.
    pub const SAE_HASH_TO_ELEMENT: u16 = 126;
}
