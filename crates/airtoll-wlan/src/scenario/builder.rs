//! Scenarios built in Rust: takes names, roles and flows; gives a checked [`Scenario`] whose other
//! fields have the defaults of the JSON.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{Flow, Rate, Role, Scenario, ScenarioError, Standard};

/// Builds a [`Scenario`].
///
/// ```
/// use airtoll_wlan::scenario::{Rate, ScenarioBuilder, Standard};
///
/// let scenario = ScenarioBuilder::new(1.0)
///     .bss("home", Standard::A, Rate::Fixed { mbps: 54.0 })
///     .access_point("ap", "home")
///     .station("laptop", "home")
///     .wired("server")
///     .wire("ap", "server", 1e9)
///     .saturated_udp("up", "laptop", "server", 1472)
///     .build()?;
/// let outcome = airtoll_wlan::run(&scenario, 1, &mut || false)?;
/// let up = outcome.rows.iter().find(|row| row.metric == "throughput_bps");
/// assert!(up.is_some_and(|row| row.value > 25e6));
/// # Ok::<(), airtoll_wlan::ScenarioError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ScenarioBuilder {
    scenario: Scenario,
    problem: Option<ScenarioError>,
}

impl ScenarioBuilder {
    /// A trial of `duration_s` seconds without nodes.
    ///
    /// # Panics
    /// Never: a scenario without nodes has all required fields.
    pub fn new(duration_s: f64) -> Self {
        let empty = json!({"duration_s": 1.0, "bss": [], "nodes": [], "flows": []});
        let mut scenario: Scenario =
            serde_json::from_value(empty).expect("the required fields are there");
        scenario.duration_s = duration_s;
        Self {
            scenario,
            problem: None,
        }
    }

    /// A basic service set with this PHY and this rate of data frames.
    #[must_use]
    pub fn bss(mut self, name: &str, standard: Standard, rate: Rate) -> Self {
        let bss = json!({"name": name, "standard": standard, "rate": rate});
        if let Some(bss) = self.read("bss", bss) {
            self.scenario.bss.push(bss);
        }
        self
    }

    /// An access point of a BSS.
    #[must_use]
    pub fn access_point(self, name: &str, bss: &str) -> Self {
        self.node(name, Role::AccessPoint, Some(bss))
    }

    /// A station of a BSS.
    #[must_use]
    pub fn station(self, name: &str, bss: &str) -> Self {
        self.node(name, Role::Station, Some(bss))
    }

    /// A host on the wire.
    #[must_use]
    pub fn wired(self, name: &str) -> Self {
        self.node(name, Role::Wired, None)
    }

    /// A wired link between two nodes, bit/s.
    #[must_use]
    pub fn wire(mut self, from: &str, to: &str, rate_bps: f64) -> Self {
        let link = json!({"nodes": [from, to], "rate_bps": rate_bps});
        if let Some(link) = self.read("links", link) {
            self.scenario.links.push(link);
        }
        self
    }

    /// A flow of UDP datagrams that always has another one to send.
    #[must_use]
    pub fn saturated_udp(self, name: &str, source: &str, destination: &str, octets: u32) -> Self {
        self.saturated("udp", name, [source, destination], octets)
    }

    /// A TCP connection that always has more to send; `octets`: of one write.
    #[must_use]
    pub fn saturated_tcp(self, name: &str, source: &str, destination: &str, octets: u32) -> Self {
        self.saturated("tcp", name, [source, destination], octets)
    }

    /// Any other flow.
    #[must_use]
    pub fn flow(mut self, flow: Flow) -> Self {
        self.scenario.flows.push(flow);
        self
    }

    /// Changes fields of what was built so far.
    #[must_use]
    pub fn change(mut self, change: impl FnOnce(&mut Scenario)) -> Self {
        change(&mut self.scenario);
        self
    }

    /// The scenario, checked.
    ///
    /// # Errors
    /// [`ScenarioError::Invalid`], which names the field, as [`Scenario::from_json`].
    pub fn build(self) -> Result<Scenario, ScenarioError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        self.scenario.check()?;
        Ok(self.scenario)
    }

    fn node(mut self, name: &str, role: Role, bss: Option<&str>) -> Self {
        let node = json!({"name": name, "role": role, "bss": bss});
        if let Some(node) = self.read("nodes", node) {
            self.scenario.nodes.push(node);
        }
        self
    }

    fn saturated(mut self, protocol: &str, name: &str, ends: [&str; 2], octets: u32) -> Self {
        let [source, destination] = ends;
        let of_station = ends.into_iter().find(|end| {
            let mut nodes = self.scenario.nodes.iter();
            nodes.any(|node| node.name == **end && node.role == Role::Station)
        });
        let flow = json!({
            "name": name, "station": of_station, "source": source, "destination": destination,
            "transport": {"protocol": protocol},
            "pattern": {"type": "saturated", "payload_octets": octets},
        });
        if let Some(flow) = self.read("flows", flow) {
            self.scenario.flows.push(flow);
        }
        self
    }

    /// Fills the other fields with their defaults. The first problem is that of `build`.
    fn read<T: DeserializeOwned>(&mut self, field: &str, value: Value) -> Option<T> {
        match serde_json::from_value(value) {
            Ok(read) => Some(read),
            Err(error) => {
                self.problem.get_or_insert(ScenarioError::Malformed {
                    field: field.to_owned(),
                    problem: error.to_string(),
                });
                None
            }
        }
    }
}
