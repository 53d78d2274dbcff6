//! Decryption: takes protected frames and what was seen of handshakes, gives plaintext or the
//! reason why not.
//!
//! [`keyring`] holds the keys and who they belong to. In it [`handshake`] derives them from key messages
//! with the suites of `choices`, [`ft`] those of fast transitions, [`fils`] those of FILS, `dynamic_wep` those of
//! 802.1X with WEP, [`tdls`] those of direct links; `multi_link` knows the addresses of multi-link devices, [`replay`]
//! which packet numbers were there, and `suites` names the cipher of frames that stay closed. [`traffic`] applies
//! keys, [`bip`] checks group management frames. Never guesses a passphrase.

pub mod bip;
pub mod keyring;
pub mod traffic;

pub(crate) use keyring::multi_link::Association;
pub use keyring::{Keyring, LinkEnds, fils, ft, handshake, replay, tdls};
pub use traffic::TrafficKey;

/// Why a protected frame stays closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Undecrypted {
    /// No key was given that could fit.
    NoKey,
    /// Keys were given, but no whole key handshake of these two was seen.
    NoHandshake,
    /// The handshake was seen, and no given key makes its MIC: another passphrase or PMK.
    WrongKey,
    /// The same with SAE or OWE, whose PMK no passphrase tells.
    NoPmk,
    /// The station chose FILS, and no frame with the nonces of a shared-key exchange was seen.
    Fils,
    /// The station associated as a multi-link device, and no frame named that of the AP.
    MultiLink,
    /// Keys are there and none fits: a wrong key, or a frame received with an error.
    MicFailure,
    /// The capture does not hold the whole frame.
    CutShort,
    /// A frame without body, or too short for any cipher.
    NoBody,
}

impl Undecrypted {
    /// Every reason, in the order in which reports list them.
    pub const ALL: [Self; 9] = [
        Self::NoKey,
        Self::NoHandshake,
        Self::WrongKey,
        Self::NoPmk,
        Self::Fils,
        Self::MultiLink,
        Self::MicFailure,
        Self::CutShort,
        Self::NoBody,
    ];

    /// The reason in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NoKey => "no key",
            Self::NoHandshake => "no handshake seen",
            Self::WrongKey => "no key fits the handshake",
            Self::NoPmk => "no PMK of SAE or OWE (a passphrase gives none)",
            Self::Fils => "no FILS keys",
            Self::MultiLink => "MLD address not seen",
            Self::MicFailure => "MIC failure",
            Self::CutShort => "cut short",
            Self::NoBody => "no body",
        }
    }

    /// Whether a key learnt later could open the frame.
    pub const fn may_open_later(self) -> bool {
        !matches!(self, Self::CutShort | Self::NoBody)
    }
}
