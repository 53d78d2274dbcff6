//! Pairwise and group keys: from PMK to KCK, KEK and temporal key.
//!
//! Takes a PMK (or PMK-R1, or the MSK it comes from), addresses and nonces; gives the split
//! pairwise transient key, or a group key. Never chooses a nonce.

use airtoll_wire::MacAddress;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::prf::kdf;
use crate::akm::{AkmHash, AkmSuite};
use crate::error::KeyError;
use crate::suite::CipherSuite;

const MAX_PTK: usize = 96;

/// A pairwise transient key, split.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Ptk {
    octets: [u8; MAX_PTK],
    #[zeroize(skip)]
    kck: usize,
    #[zeroize(skip)]
    kek: usize,
    #[zeroize(skip)]
    tk: usize,
}

impl Ptk {
    /// PTK = KDF(PMK, "Pairwise key expansion", min(AA, SPA) || max(AA, SPA) || min(ANonce,
    /// SNonce) || max(ANonce, SNonce)), split into KCK, KEK and TK (IEEE 802.11-2020, 12.7.1.3).
    ///
    /// `hash` decides for OWE and SAE-EXT-KEY; the other AKMs fix it and ignore the argument.
    /// For AKMs with FT use [`super::PmkR1::ptk`].
    ///
    /// # Errors
    /// A cipher suite that has no pairwise key.
    #[expect(clippy::too_many_arguments, reason = "the derivation has these inputs")]
    pub fn derive(
        akm: AkmSuite,
        hash: AkmHash,
        cipher: CipherSuite,
        pmk: &[u8],
        authenticator: MacAddress,
        supplicant: MacAddress,
        anonce: &[u8; 32],
        snonce: &[u8; 32],
    ) -> Result<Self, KeyError> {
        let (aa, spa) = (authenticator.octets(), supplicant.octets());
        let addresses = [aa.min(spa), aa.max(spa)];
        let nonces = [anonce.min(snonce), anonce.max(snonce)];
        Self::expand(
            akm,
            hash,
            cipher,
            pmk,
            "Pairwise key expansion",
            &[addresses[0], addresses[1], nonces[0], nonces[1]],
        )
    }

    pub(super) fn expand(
        akm: AkmSuite,
        hash: AkmHash,
        cipher: CipherSuite,
        key: &[u8],
        label: &str,
        context: &[&[u8]],
    ) -> Result<Self, KeyError> {
        if cipher.is_group_management() || cipher == CipherSuite::Open {
            return Err(KeyError::NotDefined("the cipher suite has no pairwise key"));
        }
        let hash = akm.hash().unwrap_or(hash);
        let mut ptk = Self {
            octets: [0; MAX_PTK],
            kck: akm.kck_octets(hash),
            kek: akm.kek_octets(hash),
            tk: cipher.key_octets(),
        };
        let total = ptk.kck + ptk.kek + ptk.tk;
        kdf(hash, key, label, context, &mut ptk.octets[..total]);
        Ok(ptk)
    }

    /// The key whose parts are these, as an earlier handshake gave them.
    ///
    /// # Errors
    /// Parts that are longer together than any pairwise transient key.
    pub fn from_parts(kck: &[u8], kek: &[u8], tk: &[u8]) -> Result<Self, KeyError> {
        let mut octets = [0; MAX_PTK];
        let parts = [kck, kek, tk].concat();
        let Some(place) = octets.get_mut(..parts.len()) else {
            return Err(KeyError::NotDefined("no pairwise key is as long"));
        };
        place.copy_from_slice(&parts);
        Ok(Self {
            octets,
            kck: kck.len(),
            kek: kek.len(),
            tk: tk.len(),
        })
    }

    /// EAPOL-Key confirmation key.
    #[must_use]
    pub fn kck(&self) -> &[u8] {
        &self.octets[..self.kck]
    }

    /// EAPOL-Key encryption key.
    #[must_use]
    pub fn kek(&self) -> &[u8] {
        &self.octets[self.kck..][..self.kek]
    }

    /// Temporal key; for TKIP the encryption key (16) and the Michael keys of the authenticator
    /// (8) and the supplicant (8).
    #[must_use]
    pub fn tk(&self) -> &[u8] {
        &self.octets[self.kck + self.kek..][..self.tk]
    }
}

impl core::fmt::Debug for Ptk {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "Ptk(kck {}, kek {}, tk {} octets)",
            self.kck, self.kek, self.tk
        )
    }
}

/// The PMK an EAP method's MSK gives (IEEE 802.11-2020, 12.7.1.3): its first 256 bits, 384 for
/// AKM 12. For AKM 3 the XXKey is the second 256 bits and for AKM 13 the first 384
/// (12.7.1.6.3); both are what the FT hierarchy starts from.
///
/// # Errors
/// An MSK shorter than that.
pub fn pmk_from_msk(akm: AkmSuite, msk: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let range = match akm {
        AkmSuite::SuiteB192 | AkmSuite::Ft8021xSha384 => 0..48,
        AkmSuite::Ft8021x => 32..64,
        _ => 0..32,
    };
    let expected = range.end;
    match msk.get(range) {
        Some(pmk) => Ok(Zeroizing::new(pmk.to_vec())),
        None => Err(KeyError::Length {
            what: "the MSK of this AKM",
            expected,
            got: msk.len(),
        }),
    }
}

/// GTK, IGTK or BIGTK from a group master key: KDF(GMK, "Group key expansion", AA || GNonce)
/// (IEEE 802.11-2020, 12.7.1.4); `out` has the key's octets.
pub fn group_key(
    hash: AkmHash,
    gmk: &[u8],
    authenticator: MacAddress,
    gnonce: &[u8; 32],
    out: &mut [u8],
) {
    kdf(
        hash,
        gmk,
        "Group key expansion",
        &[authenticator.octets(), gnonce],
        out,
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// IEEE 802.11-2020, J.7.1 gives PMK, addresses and nonces.
    fn annex(akm: AkmSuite, cipher: CipherSuite) -> Ptk {
        Ptk::derive(
            akm,
            AkmHash::Sha256,
            cipher,
            &hex!("0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"),
            MacAddress(hex!("a0a1a1a3a4a5")),
            MacAddress(hex!("b0b1b2b3b4b5")),
            &hex!("e0e1e2e3e4e5e6e7e8e9f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405"),
            &hex!("c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5"),
        )
        .unwrap()
    }

    #[test]
    fn ccmp_is_a_prefix_of_tkip_under_prf() {
        let ccmp = annex(AkmSuite::Psk, CipherSuite::Ccmp128);
        let tkip = annex(AkmSuite::Psk, CipherSuite::Tkip);
        assert_eq!((ccmp.kck(), ccmp.kek()), (tkip.kck(), tkip.kek()));
        assert_eq!(ccmp.tk(), &tkip.tk()[..16]);
        assert_eq!(tkip.tk().len(), 32);
    }

    #[test]
    fn swapping_sides_changes_nothing() {
        let derive = |aa, spa, an: &[u8; 32], sn: &[u8; 32]| {
            Ptk::derive(
                AkmSuite::Sae,
                AkmHash::Sha256,
                CipherSuite::Ccmp128,
                &[7; 32],
                MacAddress(aa),
                MacAddress(spa),
                an,
                sn,
            )
            .unwrap()
        };
        assert_eq!(
            derive([1; 6], [2; 6], &[3; 32], &[4; 32]),
            derive([2; 6], [1; 6], &[4; 32], &[3; 32])
        );
    }

    #[test]
    fn sizes_follow_akm_and_cipher() {
        let ptk = annex(AkmSuite::SuiteB192, CipherSuite::Gcmp256);
        assert_eq!(
            (ptk.kck().len(), ptk.kek().len(), ptk.tk().len()),
            (24, 32, 32)
        );
        assert!(format!("{ptk:?}").starts_with("Ptk(kck 24"));
        assert_eq!(
            pmk_from_msk(AkmSuite::Ft8021x, &hex!("00").repeat(40)),
            Err(KeyError::Length {
                what: "the MSK of this AKM",
                expected: 64,
                got: 40
            })
        );
    }
}
