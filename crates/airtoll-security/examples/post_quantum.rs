//! Operations of ML-KEM and ML-DSA in one second of CPU time, by AWS-LC: what device profiles cite.
//!
//! `cargo run --release --package airtoll-security --example post_quantum` prints a line per operation:
//! name, operations a second (the median of nine runs), microseconds.

use std::time::{Duration, Instant};

use aws_lc_rs::kem::{DecapsulationKey, ML_KEM_512, ML_KEM_768, ML_KEM_1024};
use aws_lc_rs::signature::{
    KeyPair, ML_DSA_44, ML_DSA_44_SIGNING, ML_DSA_65, ML_DSA_65_SIGNING, ML_DSA_87,
    ML_DSA_87_SIGNING, PqdsaKeyPair, UnparsedPublicKey,
};

const RUNS: usize = 9;
const RUN: Duration = Duration::from_millis(200);
const MESSAGE: &[u8] = &[7; 64];

fn main() {
    for (name, algorithm) in [
        ("ml-kem-512", &ML_KEM_512),
        ("ml-kem-768", &ML_KEM_768),
        ("ml-kem-1024", &ML_KEM_1024),
    ] {
        let key = DecapsulationKey::generate(algorithm).expect("a key");
        let public = key.encapsulation_key().expect("its public half");
        let (ciphertext, _) = public.encapsulate().expect("a secret");
        let ciphertext = ciphertext.as_ref().to_vec();
        print(&format!("{name}-keygen"), || {
            DecapsulationKey::generate(algorithm).expect("a key");
        });
        print(&format!("{name}-encapsulate"), || {
            public.encapsulate().expect("a secret");
        });
        print(&format!("{name}-decapsulate"), || {
            key.decapsulate(ciphertext[..].into()).expect("the secret");
        });
    }
    for (name, signing, verifying) in [
        ("ml-dsa-44", &ML_DSA_44_SIGNING, &ML_DSA_44),
        ("ml-dsa-65", &ML_DSA_65_SIGNING, &ML_DSA_65),
        ("ml-dsa-87", &ML_DSA_87_SIGNING, &ML_DSA_87),
    ] {
        let key = PqdsaKeyPair::generate(signing).expect("a key");
        let mut signature = vec![0; signing.signature_len()];
        let public = UnparsedPublicKey::new(verifying, key.public_key().as_ref().to_vec());
        print(&format!("{name}-sign"), || {
            key.sign(MESSAGE, &mut signature).expect("a signature");
        });
        key.sign(MESSAGE, &mut signature).expect("a signature");
        print(&format!("{name}-verify"), || {
            public.verify(MESSAGE, &signature).expect("it is right");
        });
    }
}

/// Prints the name and the rate of this work.
#[allow(
    clippy::disallowed_methods,
    reason = "an example that measures; the library reads no clock"
)]
fn print(name: &str, mut work: impl FnMut()) {
    let mut rates: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            let mut count = 0.0;
            while start.elapsed() < RUN {
                work();
                count += 1.0;
            }
            count / start.elapsed().as_secs_f64()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let rate = rates[RUNS / 2];
    println!("{name}\t{rate:.0}\t{:.2}", 1e6 / rate);
}
