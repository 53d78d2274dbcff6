//! The name of a PMK security association.
//!
//! Takes the PMK (or the KCK for Suite B) and both addresses; gives the 128-bit PMKID. Never
//! serves SAE and OWE, whose PMKID comes out of their own exchange.

use airtoll_wire::MacAddress;

use super::prf::hmac;
use crate::akm::{AkmHash, AkmSuite};
use crate::error::KeyError;

/// PMKID = Truncate-128(HMAC-Hash(key, "PMK Name" || AA || SPA)) (IEEE 802.11-2020, 12.7.1.3):
/// SHA-1 for AKM 1 and 2 (and FT 3 and 4, which name the first PMK so), SHA-256 for 5 and 6;
/// 11 and 12 key it with the KCK and SHA-256 or SHA-384; 13 with SHA-384.
///
/// # Errors
/// SAE and OWE AKMs, which derive their PMKID with the PMK.
pub fn pmkid(
    akm: AkmSuite,
    key: &[u8],
    authenticator: MacAddress,
    supplicant: MacAddress,
) -> Result<[u8; 16], KeyError> {
    let hash = match akm {
        AkmSuite::Wpa8021x
        | AkmSuite::WpaPsk
        | AkmSuite::Ieee8021x
        | AkmSuite::Psk
        | AkmSuite::Ft8021x
        | AkmSuite::FtPsk => AkmHash::Sha1,
        AkmSuite::Ieee8021xSha256 | AkmSuite::PskSha256 | AkmSuite::SuiteB => AkmHash::Sha256,
        AkmSuite::SuiteB192 | AkmSuite::Ft8021xSha384 => AkmHash::Sha384,
        AkmSuite::Sae
        | AkmSuite::FtSae
        | AkmSuite::Owe
        | AkmSuite::SaeExtKey
        | AkmSuite::FtSaeExtKey
        | AkmSuite::SaeMlKem768Draft
        | AkmSuite::OweMlKem768Draft => {
            return Err(KeyError::NotDefined(
                "SAE and OWE derive their PMKID together with the PMK",
            ));
        }
    };
    let digest = hmac(
        hash,
        key,
        &[b"PMK Name", authenticator.octets(), supplicant.octets()],
    );
    let mut out = [0; 16];
    out.copy_from_slice(&digest[..16]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_on_every_input_and_the_hash() {
        let (aa, spa) = (MacAddress([1; 6]), MacAddress([2; 6]));
        let a = pmkid(AkmSuite::Psk, &[3; 32], aa, spa).unwrap();
        assert_ne!(a, pmkid(AkmSuite::Psk, &[3; 32], spa, aa).unwrap());
        assert_ne!(a, pmkid(AkmSuite::PskSha256, &[3; 32], aa, spa).unwrap());
        assert_ne!(a, pmkid(AkmSuite::Psk, &[4; 32], aa, spa).unwrap());
        assert!(pmkid(AkmSuite::Sae, &[3; 32], aa, spa).is_err());
    }
}
