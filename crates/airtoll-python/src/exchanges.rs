//! Handshakes party by party: octets in, octets out, so that a real daemon can be the other side.
//!
//! Takes settings as JSON, messages and time-outs; gives messages and, in the end, secrets or a
//! failure. Never opens a socket and never waits: the caller carries the octets.

use airtoll_handshakes::roles::RoleSettings;
use airtoll_handshakes::roles::air::LinkSettings;
use airtoll_handshakes::{Carrier, Conversation, Emission, Message, Status};
use airtoll_security::akm::AkmHash;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Sent = (String, String, String, Vec<u8>);
type Told = (String, String, Vec<(String, Vec<u8>)>);

/// Parties of one handshake. A message is `(from, to, carrier, octets)`; carriers are named as in
/// `negotiate`, UDP with its destination port as `udp:500`.
#[pyclass(unsendable)]
struct Handshake {
    exchange: Conversation,
}

#[pymethods]
impl Handshake {
    /// Raises `ValueError` for settings or parties that are unknown.
    #[new]
    fn new(settings_json: &str, parties: Vec<String>, seed: u64) -> PyResult<Self> {
        let settings = RoleSettings::parse(settings_json).map_err(PyValueError::new_err)?;
        let peers = parties
            .iter()
            .map(|name| settings.party(named(name)?).map_err(PyValueError::new_err))
            .collect::<PyResult<Vec<_>>>()?;
        let rng = Box::new(ChaCha20Rng::seed_from_u64(seed));
        Ok(Self {
            exchange: Conversation::new(peers, rng),
        })
    }

    /// Gives the messages of the party that speaks first.
    fn start(&mut self) -> Vec<Sent> {
        sent(self.exchange.start())
    }

    /// Delivers a message; gives the messages that the receiver sends.
    fn deliver(
        &mut self,
        sender: &str,
        receiver: &str,
        carrier: &str,
        octets: Vec<u8>,
    ) -> PyResult<Vec<Sent>> {
        let message = Message {
            from: named(sender)?,
            to: named(receiver)?,
            carrier: match carrier.strip_prefix("udp:") {
                Some(port) => Carrier::Udp(
                    port.parse()
                        .map_err(|_| PyValueError::new_err(format!("{port:?} is no port")))?,
                ),
                None => named(carrier)?,
            },
            octets,
        };
        Ok(sent(self.exchange.deliver(&message).emissions))
    }

    /// Lets a party's timer run out; gives the messages that the party sends.
    fn time_out(&mut self, party: &str) -> PyResult<Vec<Sent>> {
        Ok(sent(self.exchange.time_out(named(party)?).emissions))
    }

    /// Tells a party whether its host is so busy that it must request a token or a cookie before it
    /// answers.
    fn set_busy(&mut self, party: &str, busy: bool) -> PyResult<()> {
        self.exchange.set_busy(named(party)?, busy);
        Ok(())
    }

    /// The secrets that a party has agreed on so far, and those that it keeps for a later session
    /// (`tls-session`).
    fn agreed(&self, party: &str) -> PyResult<Vec<(String, Vec<u8>)>> {
        let secrets = self.exchange.agreed(named(party)?).into_iter();
        Ok(secrets.map(|(name, value)| (text(&name), value)).collect())
    }

    /// `("waiting" | "established" | "failed" | "absent", why, secrets)`.
    fn status(&self, party: &str) -> PyResult<Told> {
        let (status, why, secrets) = match self.exchange.status(named(party)?) {
            None => ("absent", String::new(), Vec::new()),
            Some(Status::Waiting) => ("waiting", String::new(), Vec::new()),
            Some(Status::Failed(failure)) => {
                let kind = json!(failure)["failure"].as_str().map(str::to_owned);
                ("failed", kind.unwrap_or_default(), Vec::new())
            }
            Some(Status::Established(secrets)) => {
                let secrets = secrets
                    .into_iter()
                    .map(|(name, value)| (text(&name), value));
                ("established", String::new(), secrets.collect())
            }
        };
        Ok((status.to_owned(), why, secrets))
    }

    /// The code on the air with which a party failed, `("status" | "reason" | ..., number)`;
    /// `None` where it did not fail or its protocol stays silent.
    fn code(&self, party: &str) -> PyResult<Option<(String, u64)>> {
        let Some(Status::Failed(failure)) = self.exchange.status(named(party)?) else {
            return Ok(None);
        };
        let code = json!(failure.code());
        let pair = code.as_object().and_then(|object| object.iter().next());
        Ok(pair.and_then(|(kind, number)| Some((kind.clone(), number.as_u64()?))))
    }
}

/// The elements of an access point's beacons on this link (JSON as in a stage's `link`), from the
/// SSID on. Raises `ValueError` for settings that are unknown.
#[pyfunction]
fn link_elements(link_json: &str) -> PyResult<Vec<u8>> {
    let settings: LinkSettings = serde_json::from_str(link_json)
        .map_err(|error| PyValueError::new_err(format!("link: {error}")))?;
    let link = settings
        .link(AkmHash::Sha256)
        .map_err(PyValueError::new_err)?;
    Ok(link.request_elements(&[], &[]))
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Handshake>()?;
    module.add_function(wrap_pyfunction!(link_elements, module)?)
}

fn sent(emissions: Vec<Emission>) -> Vec<Sent> {
    let message = |emission: Emission| {
        let Message {
            from,
            to,
            carrier,
            octets,
        } = emission.message;
        let carrier = match carrier {
            Carrier::Udp(port) => format!("udp:{port}"),
            other => text(&other),
        };
        (text(&from), text(&to), carrier, octets)
    };
    emissions.into_iter().map(message).collect()
}

fn text(value: &impl Serialize) -> String {
    match json!(value) {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

fn named<T: DeserializeOwned>(name: &str) -> PyResult<T> {
    serde_json::from_value(json!(name)).map_err(|error| PyValueError::new_err(error.to_string()))
}
