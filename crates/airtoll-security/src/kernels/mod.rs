//! AES-CCM kernels: one frame encrypted or decrypted, several frames decrypted at once.
//!
//! Takes jobs of nonce, associated data and octets; works on them in place. Never looks at an
//! 802.11 header and never compares a tag: [`crate::ccm`] does.
//! All `unsafe` code of the crate is in here, each block with its reason; every kernel is tested
//! against the others and against the RustCrypto crates in `agreement`.

#[cfg(target_arch = "x86_64")]
pub mod aes_round_keys;
#[cfg(target_arch = "x86_64")]
pub mod ccm_aesni;
#[cfg(target_arch = "x86_64")]
pub mod ccm_vaes_keys;
#[cfg(target_arch = "x86_64")]
mod lanes;

#[cfg(test)]
mod agreement;

/// Engines of the processor, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// AVX-512 with VAES: decrypts 16 frames in lock step, else as AES-NI.
    Vaes,
    /// AES-NI: decrypts 4 frames in lock step.
    AesNi,
    /// The RustCrypto crates, one frame at a time (they use AES instructions where they find
    /// them, bit slicing elsewhere).
    Portable,
}

impl Engine {
    /// The best engine this processor runs.
    #[must_use]
    pub fn detect() -> Self {
        [Self::Vaes, Self::AesNi]
            .into_iter()
            .find(|engine| engine.is_available())
            .unwrap_or(Self::Portable)
    }

    /// Every engine this processor runs.
    pub fn available() -> impl Iterator<Item = Self> {
        [Self::Vaes, Self::AesNi, Self::Portable]
            .into_iter()
            .filter(|engine| engine.is_available())
    }

    /// Whether this processor runs it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Vaes => {
                Self::AesNi.is_available()
                    && std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512bw")
                    && std::is_x86_feature_detected!("avx512vl")
                    && std::is_x86_feature_detected!("avx512dq")
                    && std::is_x86_feature_detected!("vaes")
                    && std::is_x86_feature_detected!("bmi2")
            }
            #[cfg(target_arch = "x86_64")]
            Self::AesNi => {
                std::is_x86_feature_detected!("aes")
                    && std::is_x86_feature_detected!("sse4.1")
                    && std::is_x86_feature_detected!("avx")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Vaes | Self::AesNi => false,
            Self::Portable => true,
        }
    }

    /// The name used in output: `vaes-512`, `aes-ni`, `portable`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vaes => "vaes-512",
            Self::AesNi => "aes-ni",
            Self::Portable => "portable",
        }
    }
}

/// One frame of AES-CCM: 13-octet nonce, two blocks of associated data, payload.
#[derive(Debug)]
pub struct CcmJob<'a> {
    /// Payload, worked on in place; at most 65535 octets.
    pub(crate) data: &'a mut [u8],
    /// A0 (RFC 3610, 2.3): flags for a two-octet counter, nonce, counter zero.
    pub(crate) counter: [u8; 16],
    /// Associated data as CCM encodes them (RFC 3610, 2.2): 16-bit big-endian length, the AAD of
    /// 15 to 30 octets, zeros. Every AAD of IEEE 802.11 has 22 to 30.
    pub(crate) aad: [u8; 32],
    /// The tag, in its first 8 or 16 octets: written by encryption, read by decryption.
    pub tag: [u8; 16],
    /// Whether decryption found the tag right; if not, the payload is all zeros.
    pub authentic: bool,
}

impl<'a> CcmJob<'a> {
    /// A job over nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            data: &mut [],
            counter: [0; 16],
            aad: [0; 32],
            tag: [0; 16],
            authentic: false,
        }
    }

    /// A job over `data`, with a nonce (IEEE 802.11-2020, 12.5.3.3.4) and an AAD.
    ///
    /// # Panics
    /// An AAD of fewer than 15 or more than 30 octets, or a payload above 65535 octets.
    #[must_use]
    #[inline]
    pub fn new(data: &'a mut [u8], nonce: [u8; 13], aad: &[u8]) -> Self {
        assert!((15..=30).contains(&aad.len()), "AAD of 15 to 30 octets");
        let mut encoded = [0; 32];
        encoded[1] = aad.len() as u8;
        encoded[2..2 + aad.len()].copy_from_slice(aad);
        Self::with_encoded(data, nonce, encoded)
    }

    /// As [`new`](Self::new), the AAD already encoded in two blocks.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    #[inline]
    pub fn with_encoded(data: &'a mut [u8], nonce: [u8; 13], aad: [u8; 32]) -> Self {
        assert!(
            aad[0] == 0 && (15..=30).contains(&aad[1]),
            "AAD of 15 to 30 octets"
        );
        assert!(
            data.len() <= usize::from(u16::MAX),
            "payload of at most 65535 octets"
        );
        let mut counter = [0; 16];
        counter[0] = 1;
        counter[1..14].copy_from_slice(&nonce);
        Self {
            data,
            counter,
            aad,
            tag: [0; 16],
            authentic: false,
        }
    }

    /// B0 (RFC 3610, 2.2): flags (associated data present, tag length, two octets of length),
    /// nonce, payload length.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn first_block(&self, tag: usize) -> [u8; 16] {
        let flags = 0x40 | (((tag as u8 - 2) / 2) << 3) | 1;
        let length = (self.data.len() as u16).swap_bytes();
        let changed = u128::from(flags ^ 1) | u128::from(length) << 112;
        (u128::from_le_bytes(self.counter) ^ changed).to_le_bytes()
    }
}
