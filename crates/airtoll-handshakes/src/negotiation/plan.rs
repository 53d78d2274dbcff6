//! Which stages a negotiation has, over which link, and with which secrets from before it.
//!
//! Takes a policy, options and two addresses; gives a [`Negotiation`] whose first stage is
//! prepared. Never runs a stage.

use airtoll_wire::MacAddress;
use rand_core::CryptoRng;

use super::{ENDS, GroupRenewal, MOBILE, Negotiation, Stage, Transition};
use crate::exchange::{SecretName, Secrets};
use crate::link::agreed::{Announced, Link, MobilityDomain, permitted};
use crate::link::multi_link::MultiLink;
use crate::policy::{
    KeyExchange, LinkSpec, MobileIp, Options, PolicySpec, SpecError, TunnelMove, TunnelSpec,
};
use crate::sides::Sides;
use crate::tls::TlsVersion;
use airtoll_security::akm::{AkmHash, AkmSuite};

/// Secrets of tunnels.
const TUNNEL: [SecretName; 4] = [
    SecretName::TunnelForward,
    SecretName::TunnelBackward,
    SecretName::TunnelSpis,
    SecretName::IkeSa,
];

impl Negotiation {
    /// Prepares the first stage between a station and an AP with these addresses.
    ///
    /// # Errors
    /// [`SpecError`] for a policy that names something unknown.
    pub fn between(
        policy: PolicySpec,
        options: Options,
        station: MacAddress,
        access_point: MacAddress,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let link = link_between(&policy, &options, station, access_point)?;
        let mut plan = vec![(Stage::Authentication, 0), (Stage::Association, 0)];
        if policy.link.eap_method.is_some() && !options.cached_pmk {
            plan.push((Stage::Eap, 0));
        }
        if link.akm.is_some() || policy.link.dynamic_wep {
            plan.push((Stage::Keys, 0));
        }
        Self::planned(policy, options, link, plan, (Secrets::new(), None), rng)
    }

    /// Prepares pre-authentication with the AP of this address (802.11-2020, 12.6.10.2): EAP and
    /// nothing else, whose PMK both ends then keep.
    ///
    /// # Errors
    /// [`SpecError`] for a policy without EAP or without a PMK to keep, or one that names
    /// something unknown.
    pub fn preauthentication(
        policy: PolicySpec,
        options: Options,
        station: MacAddress,
        access_point: MacAddress,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let link = link_between(&policy, &options, station, access_point)?;
        if policy.link.eap_method.is_none() || link.akm.is_none() {
            return Err(SpecError::Unknown {
                key: "link.eap_method",
                value: policy.name,
                allowed: "an EAP method and an AKM for pre-authentication",
            });
        }
        let policy = PolicySpec {
            tunnels: Vec::new(),
            ..policy
        };
        let options = Options {
            mobile_ip: MobileIp::Off,
            ..options
        };
        let plan = vec![(Stage::Eap, 0)];
        Self::planned(policy, options, link, plan, (Secrets::new(), None), rng)
    }

    /// Prepares the first stage of an association with an AP that has this PMK cached, too.
    ///
    /// # Errors
    /// [`SpecError`] for a policy that names something unknown.
    pub fn cached(
        policy: PolicySpec,
        options: Options,
        station: MacAddress,
        access_point: MacAddress,
        pmk: Vec<u8>,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let options = Options {
            cached_pmk: true,
            ..options
        };
        let link = link_between(&policy, &options, station, access_point)?;
        let mut plan = vec![(Stage::Authentication, 0), (Stage::Association, 0)];
        if link.akm.is_some() {
            plan.push((Stage::Keys, 0));
        }
        let secrets = Secrets::from([(SecretName::Pmk, pmk)]);
        Self::planned(policy, options, link, plan, (secrets, None), rng)
    }

    /// Prepares a fast BSS transition to the AP with this address, and what comes after it.
    ///
    /// # Errors
    /// [`SpecError`] for a policy without an FT AKM, or one that names something unknown.
    pub fn transition(
        policy: PolicySpec,
        options: Options,
        station: MacAddress,
        access_point: MacAddress,
        transition: Transition,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let link = link_between(&policy, &options, station, access_point)?;
        if link.mobility_domain.is_none() {
            return Err(SpecError::Unknown {
                key: "link.akm",
                value: policy.name,
                allowed: "an FT AKM (3, 4, 9, 13 or 25) for a fast transition",
            });
        }
        let plan = vec![(Stage::FastTransition, 0)];
        let before = (transition.secrets.clone(), Some(transition));
        Self::planned(policy, options, link, plan, before, rng)
    }

    /// Sets the IPv4 addresses of the tunnels' ends, the station being the initiator; before the tunnels'
    /// stage.
    pub const fn set_tunnel_ends(&mut self, addresses: Sides<[u8; 4]>) {
        self.addresses = addresses;
    }

    /// Sets the IPv4 addresses of Mobile IP: the station's at home, the home agent's and the foreign
    /// agent's; before the registration's stage.
    pub const fn set_mobile_addresses(&mut self, addresses: [[u8; 4]; 3]) {
        self.mobile_addresses = addresses;
    }

    /// Takes over the tunnels of an earlier association, of which these are the secrets; before the
    /// tunnels' stage. They are not set up again; [`TunnelMove::Mobike`] moves the last one of them to
    /// the station's present address.
    pub fn keep_tunnels(&mut self, earlier: &Secrets, way: TunnelMove) {
        if way == TunnelMove::Anew {
            return;
        }
        self.plan.retain(|(stage, _)| *stage != Stage::Tunnel);
        if way == TunnelMove::Mobike {
            self.plan.push((Stage::TunnelMove, 0));
        }
        for name in TUNNEL {
            let secret = earlier.get(&name).cloned();
            self.secrets.extend(secret.map(|secret| (name, secret)));
        }
    }

    /// Prepares the whole negotiation from its start once more, with the same ends, elements and
    /// addresses. `forgets`: without the PMKSA that the AP turned out not to have.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::between`].
    pub fn anew(&self, forgets: bool, rng: Box<dyn CryptoRng>) -> Result<Self, SpecError> {
        let mut options = self.options.clone();
        options.faults.stale_pmksa &= !forgets;
        let mut secrets = self.known.clone();
        if forgets {
            secrets.remove(&SecretName::Pmk);
        }
        let mut negotiation = Self {
            policy: self.policy.clone(),
            options,
            link: self.link.clone(),
            plan: self.plan.clone(),
            at: 0,
            exchange: None,
            known: secrets.clone(),
            secrets,
            transition: self.transition.clone(),
            renewal: None,
            group_keys: self.group_keys.clone(),
            addresses: self.addresses,
            mobile_addresses: self.mobile_addresses,
        };
        negotiation.prepare(rng)?;
        Ok(negotiation)
    }

    /// Prepares another association of the same two after the AP has lost its PMKSAs, which the station
    /// does not know: it names the one that it has, where both ends would keep one.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::between`].
    pub fn after_restart(&self, rng: Box<dyn CryptoRng>) -> Result<Self, SpecError> {
        let kept = self
            .link
            .akm
            .is_some_and(|akm| akm.caches_pmk() && !akm.is_ft() && !akm.is_owe());
        self.once_more(None, self.pmk().filter(|_| kept), rng)
    }

    /// Prepares another association of the same two, without what comes after the link: from the PMK
    /// of this one where the AKM lets both ends keep it (802.11-2020, 12.6.10.3), else from the start.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::between`].
    pub fn again(&self, rng: Box<dyn CryptoRng>) -> Result<Self, SpecError> {
        let kept = self
            .link
            .akm
            .is_some_and(|akm| akm.caches_pmk() && !akm.is_ft());
        self.once_more(self.pmk().filter(|_| kept), None, rng)
    }

    /// Another association: with a PMK that both ends have, or one that the station alone has.
    fn once_more(
        &self,
        pmk: Option<Vec<u8>>,
        stale: Option<Vec<u8>>,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let mut options = Options {
            cached_pmk: pmk.is_some(),
            mobile_ip: MobileIp::Off,
            ..self.options.clone()
        };
        options.faults.stale_pmksa = stale.is_some();
        // EAP gives another PMK.
        let stale = stale.filter(|_| self.policy.link.eap_method.is_none());
        let policy = PolicySpec {
            tunnels: Vec::new(),
            ..self.policy.clone()
        };
        let mut plan = vec![(Stage::Authentication, 0), (Stage::Association, 0)];
        if policy.link.eap_method.is_some() && pmk.is_none() {
            plan.push((Stage::Eap, 0));
        }
        if self.link.akm.is_some() || policy.link.dynamic_wep {
            plan.push((Stage::Keys, 0));
        }
        // Tunnels stand, and may move later.
        let tunnel = TUNNEL
            .into_iter()
            .filter_map(|name| Some((name, self.secrets.get(&name)?.clone())));
        let pmk = pmk.or(stale).map(|pmk| (SecretName::Pmk, pmk));
        let secrets = tunnel.chain(pmk).collect();
        Self::planned(
            policy,
            options,
            self.link.clone(),
            plan,
            (secrets, None),
            rng,
        )
    }

    /// Prepares a group key handshake between the ends of this negotiation, whose key handshake
    /// is done (802.11-2020, 12.7.7).
    ///
    /// # Errors
    /// [`SpecError`] where no pairwise keys were agreed on.
    pub fn group_renewal(
        &self,
        renewal: GroupRenewal,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        let mut negotiation = Self {
            policy: self.policy.clone(),
            options: self.options.clone(),
            link: self.link.clone(),
            plan: vec![(Stage::GroupKeys, 0)],
            at: 0,
            exchange: None,
            known: self.secrets.clone(),
            secrets: self.secrets.clone(),
            transition: None,
            renewal: Some(renewal),
            group_keys: None,
            addresses: self.addresses,
            mobile_addresses: self.mobile_addresses,
        };
        negotiation.prepare(rng)?;
        Ok(negotiation)
    }

    fn planned(
        policy: PolicySpec,
        options: Options,
        link: Link,
        mut plan: Vec<(Stage, usize)>,
        (secrets, transition): (Secrets, Option<Transition>),
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        if options.mobile_ip != MobileIp::Off {
            plan.push((Stage::MobileIp, 0));
        }
        plan.extend((0..policy.tunnels.len()).map(|index| (Stage::Tunnel, index)));
        let mut negotiation = Self {
            policy,
            options,
            link,
            plan,
            at: 0,
            exchange: None,
            known: secrets.clone(),
            secrets,
            transition,
            renewal: None,
            group_keys: None,
            addresses: ENDS,
            mobile_addresses: MOBILE,
        };
        negotiation.prepare(rng)?;
        Ok(negotiation)
    }
}

/// Refuses algorithms of FIPS 203 to 205 where no TLS carries them.
fn tls_fits(policy: &PolicySpec, options: &Options) -> Result<(), SpecError> {
    let kem = options.tls_group.is_some_and(|group| group.kem().is_some());
    if !kem && !options.chain.is_post_quantum() {
        return Ok(());
    }
    if policy.link.akm.is_some_and(AkmSuite::is_192_bit) {
        return Err(SpecError::Unknown {
            key: "options.chain",
            value: policy.name.clone(),
            allowed: "the 192-bit mode knows RSA-3072 and P-384 alone",
        });
    }
    // OpenVPN runs TLS 1.3 in any case.
    let openvpn = |tunnel: &TunnelSpec| tunnel.key_exchange == KeyExchange::Tls;
    let only_openvpn = policy.link.eap_method.is_none() && policy.tunnels.iter().any(openvpn);
    if options.tls == TlsVersion::Tls13 || only_openvpn {
        return Ok(());
    }
    Err(SpecError::Unknown {
        key: "options.tls",
        value: "1.2".to_owned(),
        allowed: "ML-KEM, ML-DSA, SLH-DSA and Falcon need 1.3",
    })
}

/// The link that an access point announces for a policy, without its stations.
///
/// # Errors
/// [`SpecError`] as in [`Negotiation::new`].
pub fn announced_link(policy: &LinkSpec, options: &Options) -> Result<Link, SpecError> {
    let policy = PolicySpec {
        name: String::new(),
        link: policy.clone(),
        tunnels: Vec::new(),
    };
    link_between(
        &policy,
        options,
        MacAddress::default(),
        MacAddress::default(),
    )
}

fn link_between(
    policy: &PolicySpec,
    options: &Options,
    station: MacAddress,
    access_point: MacAddress,
) -> Result<Link, SpecError> {
    tls_fits(policy, options)?;
    let akm = policy.link.akm;
    if let Some(method) = policy.link.eap_method
        && options.tls == TlsVersion::Tls13
        && method.uses_tls()
        && !method.runs_tls13()
    {
        return Err(SpecError::Unknown {
            key: "options.tls",
            value: "1.3".to_string(),
            allowed: "1.2 with this EAP method",
        });
    }
    let sae = akm.is_some_and(AkmSuite::is_sae);
    let hash = match options.group {
        20 => AkmHash::Sha384,
        21 => AkmHash::Sha512,
        _ => AkmHash::Sha256,
    };
    let mut link = Link {
        ssid: b"airtoll".to_vec(),
        station,
        access_point,
        akm,
        hash,
        pairwise: policy.link.cipher,
        group: policy.link.group_cipher,
        protection: policy.link.pmf,
        beacon_protection: options.beacon_protection,
        operating_channel_validation: options.operating_channel_validation,
        hash_to_element: akm.is_some_and(AkmSuite::requires_hash_to_element)
            || (sae && options.hash_to_element),
        mobility_domain: akm.filter(|akm| akm.is_ft()).map(|_| MobilityDomain {
            identifier: [0xa1, 0xb2],
            r0_key_holder: b"ap.example.org".to_vec(),
            over_the_ds: true,
        }),
        multi_link: None,
        announced: Announced::default(),
    };
    permitted(&link, options.links, &policy.name)?;
    link.multi_link = MultiLink::between(station, access_point, options.links);
    Ok(link)
}
