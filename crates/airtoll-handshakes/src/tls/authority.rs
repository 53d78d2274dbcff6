//! The test PKI of chains whose keys are not all of one classical algorithm.
//!
//! Takes a [`Chain`]; gives X.509 certificates (RFC 5280; RFC 9881 for ML-DSA, RFC 9909 for SLH-DSA) and
//! leaf keys. Equal chains give equal octets: keys and serial numbers follow from fixed seeds, RSA keys
//! are committed. Names and extensions are those of `fixtures/make.sh`. The keys protect nothing.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rsa::pkcs1v15;
use sha1::{Digest, Sha1};
use sha2::{Sha256, Sha384};
use x509_cert::builder::profile::BuilderProfile;
use x509_cert::builder::{self, Builder, CertificateBuilder};
use x509_cert::certificate::TbsCertificate;
use x509_cert::der::asn1::{Ia5String, ObjectIdentifier, OctetString};
use x509_cert::der::{DateTime, Encode};
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::pkix::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, KeyUsages,
    SubjectAltName, SubjectKeyIdentifier,
};
use x509_cert::ext::{Extension, ToExtension};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::spki::{SubjectPublicKeyInfoOwned, SubjectPublicKeyInfoRef};
use x509_cert::time::{Time, Validity};

use super::by_size::{SizedKey, SizedSignature};
use super::chain::Chain;
use super::private_key::PrivateKey;
use super::rsa_key::RsaKey;
use crate::operation::SignatureAlgorithm;

/// The holder of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Holder {
    Root,
    Issuing,
    Server,
    Client,
}

/// A key of the PKI.
type Key = (Holder, SignatureAlgorithm);

/// Certificates by subject and issuer: a signature of SLH-DSA takes longer than a whole handshake.
static ISSUED: Mutex<BTreeMap<(Key, Key), Vec<u8>>> = Mutex::new(BTreeMap::new());

/// The self-signed root.
pub(super) fn root(chain: Chain) -> Option<Vec<u8>> {
    let root = (Holder::Root, chain.root());
    certificate(root, root)
}

/// The certificates below the root, the holder's first, and the holder's key.
pub(super) fn issue(chain: Chain, holder: Holder) -> Option<(Vec<Vec<u8>>, PrivateKey)> {
    let leaf = (holder, chain.leaf());
    let root = (Holder::Root, chain.root());
    let issuing = chain
        .issuing()
        .map(|algorithm| (Holder::Issuing, algorithm));
    let mut certificates = vec![certificate(leaf, issuing.unwrap_or(root))?];
    if let Some(issuing) = issuing {
        certificates.push(certificate(issuing, root)?);
    }
    Some((certificates, key(leaf)?))
}

fn certificate(subject: Key, issuer: Key) -> Option<Vec<u8>> {
    let mut issued = ISSUED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = issued.get(&(subject, issuer)) {
        return Some(known.clone());
    }
    let certificate = sign(subject, issuer)?;
    issued.insert((subject, issuer), certificate.clone());
    Some(certificate)
}

fn sign(subject: Key, issuer: Key) -> Option<Vec<u8>> {
    let profile = Profile { subject, issuer };
    let mut rng = ChaCha8Rng::seed_from_u64(seed(subject) << 8 | seed(issuer));
    let serial = SerialNumber::generate(&mut rng);
    let builder = CertificateBuilder::new(profile, serial, validity()?, public(&key(subject)?)?);
    let builder = builder.ok()?;
    let certificate = match key(issuer)? {
        PrivateKey::Rsa(key) if issuer.1 == SignatureAlgorithm::Rsa3072 => {
            builder.build(&pkcs1v15::SigningKey::<Sha384>::new(key.key().clone()))
        }
        PrivateKey::Rsa(key) => {
            builder.build(&pkcs1v15::SigningKey::<Sha256>::new(key.key().clone()))
        }
        PrivateKey::P256(key) => builder.build::<_, p256::ecdsa::DerSignature>(&key),
        PrivateKey::P384(key) => builder.build::<_, p384::ecdsa::DerSignature>(&key),
        PrivateKey::MlDsa44(key) => builder.build(&*key),
        PrivateKey::MlDsa65(key) => builder.build(&*key),
        PrivateKey::MlDsa87(key) => builder.build(&*key),
        PrivateKey::SlhDsa(key) => builder.build(&*key),
        PrivateKey::BySize(key) => builder.build::<_, SizedSignature>(&key),
    };
    certificate.ok()?.to_der().ok()
}

/// A hundred years, as the committed certificates have.
fn validity() -> Option<Validity> {
    let from = DateTime::new(2026, 1, 1, 0, 0, 0).ok()?;
    let to =
        DateTime::from_unix_duration(from.unix_duration() + Duration::from_secs(36_500 * 86_400));
    Some(Validity::new(Time::from(from), Time::from(to.ok()?)))
}

fn seed((holder, algorithm): Key) -> u64 {
    (holder as u64) << 4 | algorithm as u64
}

fn key(wanted: Key) -> Option<PrivateKey> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed(wanted));
    let (holder, algorithm) = wanted;
    Some(match algorithm {
        SignatureAlgorithm::Rsa2048 | SignatureAlgorithm::Rsa3072 => {
            let short = algorithm == SignatureAlgorithm::Rsa2048;
            let key: &[u8] = match (holder, short) {
                (Holder::Root, true) => include_bytes!("fixtures/rsa-mixed-root.key.der"),
                (Holder::Root, false) => include_bytes!("fixtures/rsa3072-mixed-root.key.der"),
                (Holder::Issuing, true) => include_bytes!("fixtures/rsa-mixed-issuing.key.der"),
                (Holder::Issuing, false) => {
                    include_bytes!("fixtures/rsa3072-mixed-issuing.key.der")
                }
                (Holder::Server, true) => include_bytes!("fixtures/rsa-server.key.der"),
                (Holder::Server, false) => include_bytes!("fixtures/rsa3072-server.key.der"),
                (Holder::Client, true) => include_bytes!("fixtures/rsa-client.key.der"),
                (Holder::Client, false) => include_bytes!("fixtures/rsa3072-client.key.der"),
            };
            PrivateKey::Rsa(Arc::new(RsaKey::from_pkcs8(key)?))
        }
        SignatureAlgorithm::EcdsaP256 => {
            PrivateKey::P256(p256::ecdsa::SigningKey::from_slice(&drawn::<32>(&mut rng)).ok()?)
        }
        SignatureAlgorithm::EcdsaP384 => {
            PrivateKey::P384(p384::ecdsa::SigningKey::from_slice(&drawn::<48>(&mut rng)).ok()?)
        }
        SignatureAlgorithm::MlDsa44 => {
            let seed = drawn::<32>(&mut rng).into();
            PrivateKey::MlDsa44(Box::new(ml_dsa::SigningKey::<MlDsa44>::from_seed(&seed)))
        }
        SignatureAlgorithm::MlDsa65 => {
            let seed = drawn::<32>(&mut rng).into();
            PrivateKey::MlDsa65(Box::new(ml_dsa::SigningKey::<MlDsa65>::from_seed(&seed)))
        }
        SignatureAlgorithm::MlDsa87 => {
            let seed = drawn::<32>(&mut rng).into();
            PrivateKey::MlDsa87(Box::new(ml_dsa::SigningKey::<MlDsa87>::from_seed(&seed)))
        }
        SignatureAlgorithm::SlhDsaSha2128s => {
            PrivateKey::SlhDsa(Box::new(slh_dsa::SigningKey::new(&mut rng)))
        }
        SignatureAlgorithm::Falcon512 | SignatureAlgorithm::Falcon1024 => {
            PrivateKey::BySize(SizedKey::new(algorithm, &drawn::<32>(&mut rng))?)
        }
    })
}

fn drawn<const N: usize>(rng: &mut ChaCha8Rng) -> [u8; N] {
    let mut octets = [0; N];
    rng.fill_bytes(&mut octets);
    octets
}

fn public(key: &PrivateKey) -> Option<SubjectPublicKeyInfoOwned> {
    match key {
        PrivateKey::Rsa(key) => SubjectPublicKeyInfoOwned::from_key(&key.key().to_public_key()),
        PrivateKey::P256(key) => SubjectPublicKeyInfoOwned::from_key(key.verifying_key()),
        PrivateKey::P384(key) => SubjectPublicKeyInfoOwned::from_key(key.verifying_key()),
        PrivateKey::MlDsa44(key) => SubjectPublicKeyInfoOwned::from_key(AsRef::as_ref(&**key)),
        PrivateKey::MlDsa65(key) => SubjectPublicKeyInfoOwned::from_key(AsRef::as_ref(&**key)),
        PrivateKey::MlDsa87(key) => SubjectPublicKeyInfoOwned::from_key(AsRef::as_ref(&**key)),
        PrivateKey::SlhDsa(key) => SubjectPublicKeyInfoOwned::from_key(AsRef::as_ref(&**key)),
        PrivateKey::BySize(key) => SubjectPublicKeyInfoOwned::from_key(key),
    }
    .ok()
}

/// Names and extensions of a certificate.
struct Profile {
    subject: Key,
    issuer: Key,
}

fn name((holder, algorithm): Key) -> Name {
    let algorithm = algorithm.name();
    let common = match holder {
        Holder::Root => format!("airtoll root {algorithm}"),
        Holder::Issuing => format!("airtoll issuing {algorithm}"),
        Holder::Server => "radius.example.org".to_owned(),
        Holder::Client => "alice@example.org".to_owned(),
    };
    Name::from_str(&format!("CN={common},O=airtoll test PKI,C=DE")).unwrap_or_default()
}

/// A key identifier (RFC 5280 section 4.2.1.2, method 1).
fn identifier(key: &SubjectPublicKeyInfoRef<'_>) -> builder::Result<OctetString> {
    let digest = Sha1::digest(key.subject_public_key.raw_bytes());
    Ok(OctetString::new(digest.to_vec())?)
}

impl BuilderProfile for Profile {
    fn get_issuer(&self, _subject: &Name) -> Name {
        name(self.issuer)
    }

    fn get_subject(&self) -> Name {
        name(self.subject)
    }

    fn build_extensions(
        &self,
        own: SubjectPublicKeyInfoRef<'_>,
        issuer: SubjectPublicKeyInfoRef<'_>,
        certificate: &TbsCertificate,
    ) -> builder::Result<Vec<Extension>> {
        let (holder, algorithm) = self.subject;
        let ca = matches!(holder, Holder::Root | Holder::Issuing);
        let usage = if ca {
            KeyUsage(KeyUsages::KeyCertSign | KeyUsages::CRLSign)
        } else if algorithm.is_post_quantum() {
            // RFC 9881 section 5 leaves signatures alone.
            KeyUsage(KeyUsages::DigitalSignature.into())
        } else {
            KeyUsage(KeyUsages::DigitalSignature | KeyUsages::KeyEncipherment)
        };
        let mut out = Vec::new();
        let subject = certificate.subject();
        let constraints = BasicConstraints {
            ca,
            path_len_constraint: None,
        };
        let mut add = |extension: &dyn Fn(&[Extension]) -> builder::Result<Extension>| {
            let made = extension(&out)?;
            out.push(made);
            builder::Result::Ok(())
        };
        add(&|all| Ok((true, &constraints).to_extension(subject, all)?))?;
        add(&|all| Ok((&usage).to_extension(subject, all)?))?;
        let own = SubjectKeyIdentifier(identifier(&own)?);
        add(&|all| Ok((&own).to_extension(subject, all)?))?;
        let authority = AuthorityKeyIdentifier {
            key_identifier: Some(identifier(&issuer)?),
            ..AuthorityKeyIdentifier::default()
        };
        add(&|all| Ok((&authority).to_extension(subject, all)?))?;
        // id-kp-serverAuth and id-kp-clientAuth (RFC 5280 section 4.2.1.12).
        let (purpose, alternative) = match holder {
            Holder::Server => (
                "1.3.6.1.5.5.7.3.1",
                GeneralName::DnsName(Ia5String::new("radius.example.org")?),
            ),
            Holder::Client => (
                "1.3.6.1.5.5.7.3.2",
                GeneralName::Rfc822Name(Ia5String::new("alice@example.org")?),
            ),
            Holder::Root | Holder::Issuing => return Ok(out),
        };
        let purpose = ExtendedKeyUsage(vec![ObjectIdentifier::new_unwrap(purpose)]);
        add(&|all| Ok((&purpose).to_extension(subject, all)?))?;
        let alternative = SubjectAltName(vec![alternative]);
        add(&|all| Ok((false, &alternative).to_extension(subject, all)?))?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::Credential;

    #[test]
    fn an_issued_chain_is_as_long_as_the_committed_one_of_openssl() {
        for algorithm in [SignatureAlgorithm::EcdsaP256, SignatureAlgorithm::Rsa2048] {
            let chain = Chain::uniform(algorithm);
            let committed = Credential::server(chain);
            let (issued, _) = issue(chain, Holder::Server).unwrap();
            for (ours, theirs) in issued.iter().zip(committed.chain()) {
                // Names of algorithms, and signatures of ECDSA, differ in length.
                assert!(ours.len().abs_diff(theirs.len()) < 24, "{algorithm:?}");
            }
        }
    }

    #[test]
    fn equal_chains_give_equal_octets() {
        let key = (Holder::Root, SignatureAlgorithm::MlDsa44);
        assert_eq!(sign(key, key), sign(key, key));
    }
}
