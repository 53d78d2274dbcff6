//! The fast-transition key hierarchy: PMK-R0, PMK-R1, PTK and their names.
//!
//! Takes the XXKey (PSK, PMK of SAE, or part of the MSK) and the identities of the mobility
//! domain; gives keys and names of IEEE 802.11-2020, 12.7.1.6. Never talks to a key holder.

use airtoll_wire::MacAddress;
use zeroize::Zeroizing;

use super::pairwise::Ptk;
use super::prf::{kdf, truncated_digest};
use crate::akm::{AkmHash, AkmSuite};
use crate::error::KeyError;
use crate::suite::CipherSuite;

/// Names and addresses: the inputs of PMK-R0 besides the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FtIdentity<'a> {
    /// SSID, at most 32 octets.
    pub ssid: &'a [u8],
    /// Mobility domain identifier.
    pub mobility_domain: [u8; 2],
    /// R0 key holder identifier, 1 to 48 octets.
    pub r0_key_holder: &'a [u8],
    /// S0 key holder: the station's MAC address.
    pub station: MacAddress,
}

/// The first level: held by the R0 key holder and the station.
#[derive(Clone, PartialEq, Eq)]
pub struct PmkR0 {
    akm: AkmSuite,
    hash: AkmHash,
    key: Zeroizing<Vec<u8>>,
    name: [u8; 16],
    station: MacAddress,
}

/// The second level: held by one AP and the station.
#[derive(Clone, PartialEq, Eq)]
pub struct PmkR1 {
    akm: AkmSuite,
    hash: AkmHash,
    key: Zeroizing<Vec<u8>>,
    name: [u8; 16],
}

impl PmkR0 {
    /// R0-Key-Data = KDF-Hash-(Q+128)(XXKey, "FT-R0", SSIDlength || SSID || MDID || R0KHlength ||
    /// R0KH-ID || S0KH-ID) and PMKR0Name (12.7.1.6.3). `hash` counts for FT-SAE-EXT-KEY only.
    ///
    /// # Errors
    /// An AKM without FT, an SSID over 32 octets or an R0KH-ID outside 1 to 48.
    pub fn derive(
        akm: AkmSuite,
        hash: AkmHash,
        xxkey: &[u8],
        identity: &FtIdentity<'_>,
    ) -> Result<Self, KeyError> {
        if !akm.is_ft() {
            return Err(KeyError::NotDefined("only FT AKMs have a PMK-R0"));
        }
        if identity.ssid.len() > 32 {
            return Err(KeyError::Ssid(identity.ssid.len()));
        }
        let holder = identity.r0_key_holder;
        if !(1..=48).contains(&holder.len()) {
            return Err(KeyError::Field {
                what: "R0KH-ID",
                limit: 48,
                got: holder.len(),
            });
        }
        let hash = akm.hash().unwrap_or(hash);
        let octets = hash.octets();
        let mut data = Zeroizing::new(vec![0; octets + 16]);
        kdf(
            hash,
            xxkey,
            "FT-R0",
            &[
                &[identity.ssid.len() as u8],
                identity.ssid,
                &identity.mobility_domain,
                &[holder.len() as u8],
                holder,
                identity.station.octets(),
            ],
            &mut data,
        );
        Ok(Self {
            akm,
            hash,
            name: truncated_digest(hash, &[b"FT-R0N", &data[octets..]]),
            key: Zeroizing::new(data[..octets].to_vec()),
            station: identity.station,
        })
    }

    /// PMK-R1 = KDF-Hash-Q(PMK-R0, "FT-R1", R1KH-ID || S1KH-ID) and PMKR1Name (12.7.1.6.4).
    /// The R1KH-ID is the AP's MAC address.
    #[must_use]
    pub fn r1(&self, r1_key_holder: MacAddress) -> PmkR1 {
        let context: [&[u8]; 2] = [r1_key_holder.octets(), self.station.octets()];
        let mut key = Zeroizing::new(vec![0; self.hash.octets()]);
        kdf(self.hash, &self.key, "FT-R1", &context, &mut key);
        PmkR1 {
            akm: self.akm,
            hash: self.hash,
            key,
            name: truncated_digest(self.hash, &[b"FT-R1N", &self.name, context[0], context[1]]),
        }
    }

    /// PMK-R0.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// PMKR0Name.
    #[must_use]
    pub const fn name(&self) -> [u8; 16] {
        self.name
    }
}

impl PmkR1 {
    /// PMK-R1 as it arrives from the R0 key holder over the distribution system.
    ///
    /// # Errors
    /// A key of another length than the AKM's.
    pub fn from_key(
        akm: AkmSuite,
        hash: AkmHash,
        key: &[u8],
        name: [u8; 16],
    ) -> Result<Self, KeyError> {
        let hash = akm.hash().unwrap_or(hash);
        if key.len() != hash.octets() {
            return Err(KeyError::Length {
                what: "PMK-R1",
                expected: hash.octets(),
                got: key.len(),
            });
        }
        Ok(Self {
            akm,
            hash,
            key: Zeroizing::new(key.to_vec()),
            name,
        })
    }

    /// PTK = KDF(PMK-R1, "FT-PTK", SNonce || ANonce || BSSID || STA-ADDR) and PTKName
    /// (12.7.1.6.5).
    ///
    /// # Errors
    /// A cipher suite that has no pairwise key.
    pub fn ptk(
        &self,
        cipher: CipherSuite,
        bssid: MacAddress,
        station: MacAddress,
        anonce: &[u8; 32],
        snonce: &[u8; 32],
    ) -> Result<(Ptk, [u8; 16]), KeyError> {
        let context: [&[u8]; 4] = [snonce, anonce, bssid.octets(), station.octets()];
        let ptk = Ptk::expand(self.akm, self.hash, cipher, &self.key, "FT-PTK", &context)?;
        let name = truncated_digest(
            self.hash,
            &[
                &self.name, b"FT-PTKN", context[0], context[1], context[2], context[3],
            ],
        );
        Ok((ptk, name))
    }

    /// PMK-R1.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// PMKR1Name.
    #[must_use]
    pub const fn name(&self) -> [u8; 16] {
        self.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    fn identity(ssid: &[u8]) -> FtIdentity<'_> {
        FtIdentity {
            ssid,
            mobility_domain: [0xa1, 0xb2],
            r0_key_holder: b"ap1.example",
            station: MacAddress([2, 0, 0, 0, 1, 0]),
        }
    }

    #[test]
    fn both_sides_meet_and_another_ap_does_not() {
        let r0 =
            PmkR0::derive(AkmSuite::FtPsk, AkmHash::Sha256, &[5; 32], &identity(b"ft")).unwrap();
        let ap1 = r0.r1(MacAddress([2; 6]));
        let ap2 = r0.r1(MacAddress([4; 6]));
        assert_ne!(ap1.key(), ap2.key());
        assert_ne!(ap1.name(), ap2.name());
        let received =
            PmkR1::from_key(AkmSuite::FtPsk, AkmHash::Sha256, ap1.key(), ap1.name()).unwrap();
        let derive = |r1: &PmkR1| {
            r1.ptk(
                CipherSuite::Ccmp128,
                MacAddress([2; 6]),
                MacAddress([2, 0, 0, 0, 1, 0]),
                &[1; 32],
                &[2; 32],
            )
            .unwrap()
        };
        assert_eq!(derive(&ap1), derive(&received));
        assert_ne!(derive(&ap1).1, derive(&ap2).1);
    }

    #[test]
    fn lengths_follow_the_hash() {
        for (akm, hash, octets) in [
            (AkmSuite::FtPsk, AkmHash::Sha256, 32),
            (AkmSuite::Ft8021xSha384, AkmHash::Sha256, 48),
            (AkmSuite::FtSaeExtKey, AkmHash::Sha512, 64),
        ] {
            let r0 = PmkR0::derive(akm, hash, &[5; 64], &identity(b"x")).unwrap();
            assert_eq!(r0.key().len(), octets);
            assert_eq!(r0.r1(MacAddress([2; 6])).key().len(), octets);
        }
        assert!(PmkR0::derive(AkmSuite::Psk, AkmHash::Sha1, &[5; 32], &identity(b"x")).is_err());
    }

    struct Recorded {
        akm: AkmSuite,
        cipher: CipherSuite,
        xxkey: &'static [u8],
        r0: &'static [u8],
        r0_name: [u8; 16],
        r1: &'static [u8],
        r1_name: [u8; 16],
        snonce: [u8; 32],
        anonce: [u8; 32],
        ptk: &'static [u8],
        ptk_name: Option<[u8; 16]>,
    }

    /// From the debug output (`-ddK`) of hostapd 2.10 when our station joined it: its keys are
    /// derived by its own code, from nonces of both ends.
    const RECORDED: [Recorded; 2] = [
        Recorded {
            akm: AkmSuite::FtPsk,
            cipher: CipherSuite::Ccmp128,
            xxkey: &hex!("7278bc3cab45b31fbbf669efd081f1f2da1e8d7e174c04c2407211156df54471"),
            r0: &hex!("a9695bee2362202d2d8bd475a248473c82c3d46d70810057cb6fa8febcd02815"),
            r0_name: hex!("afa51c1b0ffd101c8966a2a46777ec18"),
            r1: &hex!("c87b49b8536e6a4ecde4a3472a2e4888b8d5b6e422200d9e8e73d1306a7d314d"),
            r1_name: hex!("12d4b89281f0f481c32f3139b3dd5378"),
            snonce: hex!("3072e281e99d7c485600249e1db36e977f191487eaa110692c4db961e41701fa"),
            anonce: hex!("8f06e540b5d69427756360dbabe816fa7d6c32b0efb7fb29bfa06773e0eaa70d"),
            ptk: &hex!(
                "cf2d46799059169bb232b4f85d0d227f343ba79865ab4ff73a336595d1c890cc"
                "bf2a7860af14b2a1cff34399179bcfd9"
            ),
            ptk_name: Some(hex!("4610f14a5d5c60eb15c78488d0af0ef5")),
        },
        Recorded {
            akm: AkmSuite::Ft8021xSha384,
            cipher: CipherSuite::Gcmp256,
            xxkey: &hex!(
                "bc138ead434707e47dc9fa7a13d73d8cd0b5a2957edc2d35c0427320dbee6135"
                "63fc7e91fc0956d9fced6136cea456db"
            ),
            r0: &hex!(
                "0994544ad1e0a1eef123a0fdd65510c8f107d0c65e0252062ed09e21dc1352df"
                "cb821f4e165b9b2eb0e50f0c32ac88a3"
            ),
            r0_name: hex!("ff57fb322343197cae58af47eac23313"),
            r1: &hex!(
                "92ee96d22cab35cea3ffe0964b41bff380ef93559fc3f756ce31f7f37c1232db"
                "831165c559891c8a2a047067e1c01580"
            ),
            r1_name: hex!("1659a0d6b5dd403453acac55864414b8"),
            snonce: hex!("f0842cc6932b7059e2a6ebc292505a905ba6fc5fa9d12434f26b94fef16e3fa2"),
            anonce: hex!("2c9ef9c073369c1ae138c143ba31a046ab61270a112e6c66695d8ec8184e1b11"),
            ptk: &hex!(
                "2970d94b065b51374ab0a11a83085a45615648680bc0dfdd2f72c93d728d9df0"
                "b4f3feda6ff8b0cd95ad923759fbdb5b9b809d08258028c2676c30cdfa74d18a"
                "d887ea459097e3509345e61dd2adcdb50411b6e06c5d4ec6"
            ),
            // hostapd names a PTK with SHA-256 whatever the AKM; no frame carries the name.
            ptk_name: None,
        },
    ];

    #[test]
    fn hostapd_derives_the_same_keys_and_names() {
        let station = MacAddress([2, 0, 0, 0, 2, 0]);
        let access_point = MacAddress([2, 0, 0, 0, 0, 0]);
        for known in &RECORDED {
            let who = FtIdentity {
                ssid: b"airtoll",
                mobility_domain: [0xa1, 0xb2],
                r0_key_holder: b"ap1",
                station,
            };
            let r0 = PmkR0::derive(known.akm, AkmHash::Sha256, known.xxkey, &who).unwrap();
            assert_eq!((r0.key(), r0.name()), (known.r0, known.r0_name));
            let r1 = r0.r1(access_point);
            assert_eq!((r1.key(), r1.name()), (known.r1, known.r1_name));
            let (ptk, name) = r1
                .ptk(
                    known.cipher,
                    access_point,
                    station,
                    &known.anonce,
                    &known.snonce,
                )
                .unwrap();
            let whole = [ptk.kck(), ptk.kek(), ptk.tk()].concat();
            assert_eq!(whole, known.ptk);
            assert!(known.ptk_name.is_none_or(|known| known == name));
        }
    }
}
