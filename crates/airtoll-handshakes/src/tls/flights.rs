//! The flights of a handshake of TLS 1.3 in which both ends show certificates, as a stream carries them.
//!
//! Takes a chain and a random source; gives the octets of each flight and the work before it.

use rand_core::CryptoRng;

use super::{Chain, Credential, TlsClient, TlsConfig, TlsServer, TlsSuite, TlsVersion};
use crate::exchange::Context;
use crate::operation::Operation;

/// Octets that TLS 1.3 adds to data of one record: header, content type and tag of AES-GCM (RFC 8446
/// section 5.2).
pub const RECORD_OCTETS: u32 = 5 + 1 + 16;

/// Header of a record of application data that is `octets` long with it (RFC 8446 section 5.2).
#[must_use]
pub fn application_data(octets: u32) -> [u8; 5] {
    let [high, low] = u16::try_from(octets - 5).unwrap_or(u16::MAX).to_be_bytes();
    [23, 3, 3, high, low]
}

/// One flight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamFlight {
    /// The client sends it, not the server.
    pub from_client: bool,
    /// Its records.
    pub octets: Vec<u8>,
    /// Work of its sender before it.
    pub operations: Vec<Operation>,
}

/// The flights of a handshake, the client's first. After the third, the client sends data.
#[must_use]
pub fn mutual(chain: Chain, mut rng: Box<dyn CryptoRng>) -> Vec<StreamFlight> {
    let client = TlsConfig {
        version: TlsVersion::Tls13,
        suite: TlsSuite::default(),
        groups: Vec::new(),
        credential: Some(Credential::client(chain)),
        trusted: chain,
        client_certificate: true,
        certificate_compression: false,
        resume: None,
    };
    let server = TlsConfig {
        credential: Some(Credential::server(chain)),
        ..client.clone()
    };
    let Some(mut server) = TlsServer::new(server) else {
        return Vec::new();
    };
    let mut client = TlsClient::new(client);
    let mut flights = Vec::new();
    let mut last = Vec::new();
    loop {
        let from_client = flights.len().is_multiple_of(2);
        let mut context = Context::new(&mut *rng);
        let answer = match (from_client, last.is_empty()) {
            (true, true) => Ok(client.start(&mut context)),
            (true, false) => client.receive(&mut context, &last),
            (false, _) => server.receive(&mut context, &last),
        };
        // Both ends trust each other's root, so that neither refuses.
        let Ok(octets) = answer else {
            return flights;
        };
        if octets.is_empty() {
            return flights;
        }
        flights.push(StreamFlight {
            from_client,
            octets: octets.clone(),
            operations: context.finish().operations,
        });
        last = octets;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn both_ends_show_their_chains_in_the_second_and_third_flight() {
        for (chain, least) in [(Chain::P256, 600), (Chain::RSA_2048, 1_500)] {
            let flights = mutual(chain, Box::new(ChaCha8Rng::seed_from_u64(1)));
            let sides: Vec<bool> = flights.iter().map(|f| f.from_client).collect();
            assert_eq!(sides[..3], [true, false, true]);
            assert!(flights[0].octets.len() < 300, "{flights:?}");
            for flight in &flights[1..3] {
                assert!(flight.octets.len() > least, "{flight:?}");
                let signs = flight.operations.iter();
                let signs = signs.filter(|o| matches!(o, Operation::Sign { .. }));
                assert_eq!(signs.count(), 1, "{flight:?}");
            }
        }
    }
}
