//! Mobile IP's node and agents, for drivers with real addresses and a time of day.
//!
//! Takes settings as JSON, ICMP and UDP payloads and the time in seconds since 1970; gives payloads
//! to send and bindings. Never opens a socket and never changes a route.

use std::net::Ipv4Addr;

use airtoll_handshakes::Context;
use airtoll_handshakes::mobility::mobile_ip::{
    Advertiser, Bindings, ForeignAgentSettings, HomeAgentSettings, PORT, Registration, Visitors,
    timestamp,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::de::DeserializeOwned;

use crate::answers::answer;

/// A binding after a request: the reply, and `airtoll.border.answers.Binding` where it changed.
type Answered = (Vec<u8>, Option<Py<PyAny>>);
/// Receiver of a relayed message: address and port; and `airtoll.border.answers.Visit`.
type Relayed = (String, u16, Py<PyAny>);

/// A home agent (RFC 5944 section 3.8) for the nodes of its settings, the JSON of
/// `airtoll.border.HomeAgentSettings`. Raises `ValueError` for settings that are unknown.
#[pyclass(unsendable)]
struct HomeAgent {
    advertiser: Advertiser,
    bindings: Bindings,
}

#[pymethods]
impl HomeAgent {
    #[new]
    fn new(settings_json: &str) -> PyResult<Self> {
        let of: HomeAgentSettings = parsed(settings_json)?;
        let address = of.address.octets();
        Ok(Self {
            advertiser: Advertiser::new(address, None, of.valid_s, of.lifetime_s),
            bindings: Bindings::new(&of),
        })
    }

    /// The advertisement that answers an ICMP message; `None` where it is no solicitation.
    fn icmp(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        self.advertiser.answer(message)
    }

    /// Answers a registration request; `None` for other octets.
    fn request(
        &mut self,
        py: Python<'_>,
        message: &[u8],
        unix_s: f64,
    ) -> PyResult<Option<Answered>> {
        let clock = Some(timestamp(unix_s));
        let Some(answered) = with_context(|cx| self.bindings.answer(message, clock, cx)) else {
            return Ok(None);
        };
        let binding = answered.binding.map(|binding| answer(py, &binding));
        Ok(Some((answered.reply, binding.transpose()?)))
    }
}

/// A foreign agent (RFC 5944 section 3.7); its settings are the JSON of
/// `airtoll.border.ForeignAgentSettings`. Raises `ValueError` for settings that are unknown.
#[pyclass(unsendable)]
struct ForeignAgent {
    advertiser: Advertiser,
    visitors: Visitors<(String, u16)>,
}

#[pymethods]
impl ForeignAgent {
    #[new]
    fn new(settings_json: &str) -> PyResult<Self> {
        let of: ForeignAgentSettings = parsed(settings_json)?;
        let care_of = Some(of.care_of_address.octets());
        Ok(Self {
            advertiser: Advertiser::new(of.address.octets(), care_of, of.valid_s, of.lifetime_s),
            visitors: Visitors::default(),
        })
    }

    /// The advertisement that answers an ICMP message; `None` where it is no solicitation.
    fn icmp(&mut self, message: &[u8]) -> Option<Vec<u8>> {
        self.advertiser.answer(message)
    }

    /// Relays a registration message from this address and port, unchanged; `None` for octets that
    /// are not relayed.
    fn relay(
        &mut self,
        py: Python<'_>,
        message: &[u8],
        address: String,
        port: u16,
    ) -> PyResult<Option<Relayed>> {
        if let Some(visit) = self.visitors.request(message, (address, port)) {
            return Ok(Some((
                visit.home_agent.to_string(),
                PORT,
                answer(py, &visit)?,
            )));
        }
        let Some(((address, port), visit)) = self.visitors.reply(message) else {
            return Ok(None);
        };
        Ok(Some((address, port, answer(py, &visit)?)))
    }
}

/// A mobile node (RFC 5944 section 3.6); its settings are the JSON of
/// `airtoll.border.MobileNodeSettings`. Raises `ValueError` for settings that are unknown.
#[pyclass(unsendable)]
struct MobileNode {
    registration: Registration,
}

#[pymethods]
impl MobileNode {
    #[new]
    fn new(settings_json: &str) -> PyResult<Self> {
        let registration = Registration::new(parsed(settings_json)?);
        Ok(Self { registration })
    }

    /// An agent solicitation, an ICMP message.
    #[staticmethod]
    fn solicitation() -> Vec<u8> {
        Registration::solicitation()
    }

    /// The agent that an ICMP message advertises, `airtoll.border.answers.HeardAgent`; `None` where
    /// the node does not register with it.
    fn agent(&self, py: Python<'_>, message: &[u8]) -> PyResult<Option<Py<PyAny>>> {
        let heard = self.registration.agent(message);
        heard.map(|heard| answer(py, &heard)).transpose()
    }

    /// A request to register a care-of address, or without one to deregister at home. Raises
    /// `ValueError` for an address that is none.
    fn request(&mut self, care_of: Option<&str>, unix_s: f64) -> PyResult<Vec<u8>> {
        let care_of = care_of.map(str::parse::<Ipv4Addr>).transpose();
        let care_of =
            care_of.map_err(|error| PyValueError::new_err(format!("care-of: {error}")))?;
        let clock = Some(timestamp(unix_s));
        Ok(with_context(|cx| {
            self.registration.request(care_of, clock, cx)
        }))
    }

    /// The reply to the last request, `airtoll.border.answers.RegistrationAnswer`; `None` for other
    /// octets and for an acceptance that is not authentic.
    fn reply(&mut self, py: Python<'_>, message: &[u8]) -> PyResult<Option<Py<PyAny>>> {
        let told = with_context(|cx| self.registration.reply(message, cx));
        told.map(|told| answer(py, &told)).transpose()
    }
}

/// The UDP port of registration.
#[pyfunction]
const fn mobility_port() -> u16 {
    PORT
}

/// Adds the classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HomeAgent>()?;
    module.add_class::<ForeignAgent>()?;
    module.add_class::<MobileNode>()?;
    module.add_function(wrap_pyfunction!(mobility_port, module)?)
}

fn parsed<T: DeserializeOwned>(json: &str) -> PyResult<T> {
    serde_json::from_str(json)
        .map_err(|error| PyValueError::new_err(format!("Mobile IP settings: {error}")))
}

/// With timestamps no party draws random octets: the source is never read.
fn with_context<T>(act: impl FnOnce(&mut Context<'_>) -> T) -> T {
    act(&mut Context::new(&mut ChaCha20Rng::seed_from_u64(0)))
}
