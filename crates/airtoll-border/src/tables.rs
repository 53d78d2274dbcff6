//! Rows of the tables of security suites and of PHY generations.
//!
//! Takes the tables of `airtoll-security` and `airtoll-phy`; gives one row per entry, in their
//! order. Never adds a fact.

use airtoll_phy::{Band, BasicRates, Descriptor, Generation, Legacy, Symbols};
use airtoll_security::{AkmHash, AkmSuite, CipherSuite, EapMethod, TunnelSuite};
use schemars::JsonSchema;
use serde::Serialize;

/// An AKM suite.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AkmRow {
    /// Its name.
    pub name: &'static str,
    /// OUI and suite type as hostapd prints them: `00-0f-ac-2`.
    pub selector: String,
    /// The number behind the OUI (IEEE 802.11-2020 table 9-151).
    pub suite_type: u8,
    /// Word of the AKM in policy names.
    pub policy_word: &'static str,
    /// Generations of links whose policies may use it: wpa, wpa2, wpa3, owe.
    pub generations: Vec<&'static str>,
    /// The one pairwise suite that may be used; null where there are several.
    pub pairwise: Option<&'static str>,
    /// Octets of its hash; null where the Diffie-Hellman group decides.
    pub hash_octets: Option<usize>,
    /// The 802.11 authentication algorithm of the first association: open, sae or ft.
    pub authentication: &'static str,
    /// Whether 802.1X comes before the key handshake.
    pub is_8021x: bool,
    /// Whether the pre-shared key is the PMK.
    pub is_psk: bool,
    /// Whether it authenticates with SAE.
    pub is_sae: bool,
    /// Whether it uses the fast-transition key hierarchy.
    pub is_ft: bool,
    /// Whether it belongs to WPA3-Enterprise's 192-bit mode.
    pub is_192_bit: bool,
    /// Whether protected management frames are mandatory.
    pub requires_pmf: bool,
    /// Whether SAE must derive its password element by hash-to-element.
    pub requires_hash_to_element: bool,
    /// Whether it gives forward secrecy by itself.
    pub has_forward_secrecy: bool,
    /// Whether both ends may keep the PMK for a later association.
    pub caches_pmk: bool,
    /// Whether no published standard has it.
    pub is_draft: bool,
}

/// A cipher suite of the link.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CipherRow {
    /// Its name.
    pub name: &'static str,
    /// OUI and suite type in an RSNE; null for `open`.
    pub selector: Option<String>,
    /// The same in the element of WPA version 1; null for suites that it does not know.
    pub wpa_selector: Option<String>,
    /// Octets added to each MPDU.
    pub mpdu_octets: usize,
    /// Octets added to each MSDU before fragmentation.
    pub msdu_octets: usize,
    /// Octets of its key.
    pub key_octets: usize,
    /// Whether it protects group-addressed management frames.
    pub is_group_management: bool,
    /// Whether HT, VHT and HE rates may be used.
    pub permits_high_throughput: bool,
}

/// An EAP method.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct EapRow {
    /// Its name.
    pub name: &'static str,
    /// Method type (IANA).
    pub number: u8,
    /// Whether it gives an MSK.
    pub gives_keys: bool,
    /// Whether it runs TLS.
    pub uses_tls: bool,
    /// Whether it runs TLS 1.3 here.
    pub runs_tls13: bool,
    /// Whether the station has a password.
    pub uses_password: bool,
    /// The authentication inside the TLS tunnel; null where there is none.
    pub inner: Option<&'static str>,
}

/// A network-layer tunnel.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TunnelRow {
    /// Its name.
    pub name: &'static str,
    /// Encryption algorithm.
    pub encryption: &'static str,
    /// Integrity algorithm; none where the encryption authenticates.
    pub integrity: &'static str,
}

/// Interframe spaces of a PHY generation in a band.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SpacesRow {
    /// The band: 2.4ghz, 5ghz or 6ghz.
    pub band: &'static str,
    /// Slot, microseconds.
    pub slot_us: f64,
    /// SIFS, microseconds.
    pub sifs_us: f64,
    /// Smallest contention window, slots.
    pub cw_min: u32,
    /// Signal extension, microseconds.
    pub signal_extension_us: f64,
}

/// A PHY generation.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct GenerationRow {
    /// Name of the standard.
    pub name: &'static str,
    /// Format of its frames.
    pub format: &'static str,
    /// Interframe spaces by band, those of the default band first.
    pub bands: Vec<SpacesRow>,
    /// Channel widths, MHz.
    pub widths_mhz: Vec<u32>,
    /// Guard intervals, nanoseconds.
    pub guard_intervals_ns: Vec<u32>,
    /// Rates without MCS, Mb/s.
    pub rates_mbps: Vec<f64>,
    /// Of them the mandatory ones: every DSSS rate, or 6, 12 and 24 Mb/s (16.2.3.4, 17.3.8.3).
    pub mandatory_rates_mbps: Vec<f64>,
    /// Whether it has DSSS rates only.
    pub dsss: bool,
    /// Highest MCS; null without MCSs.
    pub mcs_top: Option<u8>,
    /// Most spatial streams; null without MCSs.
    pub streams: Option<u8>,
    /// Most octets of an A-MPDU; null without aggregation.
    pub ampdu_octets: Option<u32>,
    /// Most MPDUs of an A-MPDU; null without aggregation.
    pub window: Option<u32>,
    /// Widest channel of PPDUs that several users share by OFDMA, MHz; null without.
    pub multi_user_mhz: Option<u32>,
    /// Shortest preamble, microseconds.
    pub shortest_preamble_us: f64,
    /// Preamble of the longest form, microseconds.
    pub long_preamble_us: f64,
    /// A data symbol with the shortest guard interval, microseconds; null for DSSS.
    pub symbol_us: Option<f64>,
    /// Bits of the SERVICE field and of the tail; null for DSSS.
    pub service_and_tail_bits: Option<u32>,
}

/// A selector as hostapd prints it.
fn selector([a, b, c, kind]: [u8; 4]) -> String {
    format!("{a:02x}-{b:02x}-{c:02x}-{kind}")
}

/// The AKM suites.
#[must_use]
pub fn akm_rows() -> Vec<AkmRow> {
    AkmSuite::ALL
        .into_iter()
        .map(|akm| AkmRow {
            name: akm.name(),
            selector: selector(akm.selector()),
            suite_type: akm.selector()[3],
            policy_word: akm.policy_word(),
            generations: akm.generations().to_vec(),
            pairwise: akm.pairwise().map(CipherSuite::name),
            hash_octets: akm.hash().map(AkmHash::octets),
            authentication: akm.authentication(),
            is_8021x: akm.is_8021x(),
            is_psk: akm.is_psk(),
            is_sae: akm.is_sae(),
            is_ft: akm.is_ft(),
            is_192_bit: akm.is_192_bit(),
            requires_pmf: akm.requires_pmf(),
            requires_hash_to_element: akm.requires_hash_to_element(),
            has_forward_secrecy: akm.has_forward_secrecy(),
            caches_pmk: akm.caches_pmk(),
            is_draft: akm.is_draft(),
        })
        .collect()
}

/// The cipher suites, those for group-addressed management frames included.
#[must_use]
pub fn cipher_rows() -> Vec<CipherRow> {
    CipherSuite::ALL
        .into_iter()
        .map(|suite| CipherRow {
            name: suite.name(),
            selector: suite.selector().map(selector),
            wpa_selector: suite.wpa_selector().map(selector),
            mpdu_octets: suite.mpdu_octets(),
            msdu_octets: suite.msdu_octets(),
            key_octets: suite.key_octets(),
            is_group_management: suite.is_group_management(),
            permits_high_throughput: suite.permits_high_throughput(),
        })
        .collect()
}

/// The EAP methods.
#[must_use]
pub fn eap_rows() -> Vec<EapRow> {
    EapMethod::ALL
        .into_iter()
        .map(|method| EapRow {
            name: method.name(),
            number: method.number(),
            gives_keys: method.gives_keys(),
            uses_tls: method.uses_tls(),
            runs_tls13: method.runs_tls13(),
            uses_password: method.uses_password(),
            inner: method.inner(),
        })
        .collect()
}

/// The tunnels.
#[must_use]
pub fn tunnel_rows() -> Vec<TunnelRow> {
    TunnelSuite::ALL
        .into_iter()
        .map(|suite| TunnelRow {
            name: suite.name(),
            encryption: suite.encryption(),
            integrity: suite.integrity(),
        })
        .collect()
}

/// The PHY generations, oldest first.
#[must_use]
pub fn generation_rows() -> Vec<GenerationRow> {
    Generation::ALL
        .into_iter()
        .map(|generation| generation_row(generation.descriptor()))
        .collect()
}

fn generation_row(d: &Descriptor) -> GenerationRow {
    let mandatory = d.announced_rates().filter(|rate| match rate {
        Legacy::Dsss(_) => d.ofdm_rates.is_empty(),
        Legacy::Ofdm(_) => BasicRates::MANDATORY_OFDM.contains(*rate),
    });
    let (long_preamble, symbol_us, service_and_tail_bits) = match d.symbols {
        Symbols::Spread(spread) => (spread.long_ns, None, None),
        Symbols::Ofdm {
            preamble_ns,
            symbol_ns,
            service_bits,
            tail_bits,
        } => {
            let guard = d.guard_intervals[0].interval.nanos();
            let symbol = f64::from(symbol_ns + guard) / 1e3;
            (preamble_ns, Some(symbol), Some(service_bits + tail_bits))
        }
    };
    let spaces = d.bands.iter().map(|rules| SpacesRow {
        band: match rules.band {
            Band::Ghz2_4 => "2.4ghz",
            Band::Ghz5 => "5ghz",
            Band::Ghz6 => "6ghz",
        },
        slot_us: rules.timing.slot.as_micros_f64(),
        sifs_us: rules.timing.sifs.as_micros_f64(),
        cw_min: rules.timing.cw_min,
        signal_extension_us: f64::from(rules.signal_extension_ns) / 1e3,
    });
    GenerationRow {
        name: d.standard,
        format: d.format,
        bands: spaces.collect(),
        widths_mhz: d.widths.iter().map(|w| w.width.mhz()).collect(),
        guard_intervals_ns: d
            .guard_intervals
            .iter()
            .map(|g| g.interval.nanos())
            .collect(),
        rates_mbps: d.legacy_rates().map(Legacy::mbps).collect(),
        mandatory_rates_mbps: mandatory.map(Legacy::mbps).collect(),
        dsss: d.ofdm_rates.is_empty(),
        mcs_top: d.mcs.map(|m| m.top),
        streams: d.mcs.map(|m| m.streams),
        ampdu_octets: d.ampdu.map(|a| a.octets),
        window: d.ampdu.map(|a| a.mpdus),
        multi_user_mhz: d.multi_user.and_then(|rules| {
            let widths = rules.common_bits.iter();
            widths.map(|(width, _)| width.mhz()).max()
        }),
        shortest_preamble_us: f64::from(d.shortest_preamble_ns) / 1e3,
        long_preamble_us: f64::from(long_preamble) / 1e3,
        symbol_us,
        service_and_tail_bits,
    }
}
