//! The PSK of a network, mapped once from its passphrase and not for every association.
//!
//! Takes a passphrase and an SSID; gives the PSK, the same as [`psk::from_passphrase`]. Stations of
//! one network share it. The passphrases of simulated negotiations are no secrets.

use std::cell::RefCell;

use airtoll_security::error::KeyError;
use airtoll_security::keys::psk::{self, Psk};

/// Networks of which a thread remembers the key: more than a scenario has passphrases.
const REMEMBERED: usize = 16;

struct Network {
    passphrase: String,
    ssid: Vec<u8>,
    key: Psk,
}

thread_local! {
    static NETWORKS: RefCell<Vec<Network>> = const { RefCell::new(Vec::new()) };
}

/// The PSK of a network.
///
/// # Errors
/// Those of [`psk::from_passphrase`].
pub(super) fn network_key(passphrase: &str, ssid: &[u8]) -> Result<Psk, KeyError> {
    NETWORKS.with_borrow_mut(|networks| {
        let known = networks
            .iter()
            .find(|one| one.passphrase == passphrase && one.ssid == ssid);
        if let Some(network) = known {
            return Ok(network.key.clone());
        }
        let key = psk::from_passphrase(passphrase, ssid)?;
        if networks.len() == REMEMBERED {
            networks.remove(0);
        }
        networks.push(Network {
            passphrase: passphrase.to_owned(),
            ssid: ssid.to_vec(),
            key: key.clone(),
        });
        Ok(key)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_network_has_its_own_key_however_many_there_are() {
        for round in 0..2 {
            for number in 0..REMEMBERED + 3 {
                let (passphrase, ssid) =
                    (format!("passphrase {}", number / 2), format!("{number}"));
                let key = network_key(&passphrase, ssid.as_bytes()).unwrap();
                if round == 0 || number % 5 == 0 {
                    let expected = psk::from_passphrase(&passphrase, ssid.as_bytes()).unwrap();
                    assert_eq!(*key, *expected);
                }
            }
        }
        NETWORKS.with_borrow(|networks| assert_eq!(networks.len(), REMEMBERED));
        assert!(network_key("short", b"x").is_err());
    }
}
