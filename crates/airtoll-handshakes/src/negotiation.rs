//! Everything a policy negotiates, stage by stage: authentication, association, EAP, keys,
//! Mobile IP, tunnels.
//!
//! Takes a [`PolicySpec`], [`Options`] and a random source; gives one [`Conversation`] after the
//! other, each made with the secrets of those before it. The caller (a simulator, or
//! [`Negotiation::run`] without loss or time) carries the messages.

mod network_key;
mod plan;
pub use plan::announced_link;
mod tunnels;

use airtoll_wire::MacAddress;
use rand_core::CryptoRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::eap::{EapAuthenticator, EapConfig, EapLimits, EapServer, EapSupplicant};
use crate::exchange::{Context, Conversation, Emission, Outcome, Party, Peer, SecretName, Secrets};
use crate::link::agreed::{Announced, Link};
use crate::link::association::{AssociationAccessPoint, AssociationStation};
use crate::link::authentication::{AuthenticationAccessPoint, AuthenticationStation};
use crate::link::dynamic_wep::{WepKeyGiver, WepKeyTaker};
use crate::link::fast_transition::{self, FtConfig};
use crate::link::key_handshake::{GroupKeys, KeyAuthenticator, KeyConfig};
use crate::link::key_supplicant::KeySupplicant;
use crate::link::multi_link::MultiLink;
use crate::link::owe::OwePeer;
use crate::link::sae::{SaeConfig, SaePeer};
use crate::mobility::mobile_ip::parties;
use crate::operation::Operation;
use crate::policy::{AuthenticationAlgorithm, Options, PolicySpec, RadiusTls, SpecError};
use crate::radius_proxy::RadiusProxy;
use crate::sides::Sides;
use crate::tls::{Credential, Session, TlsSuite};
use airtoll_security::akm::AkmSuite;
use airtoll_security::keys::{Ptk, pairwise, pmkid, psk};
use airtoll_security::suite::CipherSuite;
use network_key::network_key;

/// A part of a negotiation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// 802.11 authentication: open, shared key or SAE.
    Authentication,
    /// 802.11 association, with OWE's key exchange in it.
    Association,
    /// EAP over EAPOL and RADIUS.
    Eap,
    /// 4-way and group key handshake, or WEP keys of 802.1X.
    Keys,
    /// Group key handshake of an association that stands.
    GroupKeys,
    /// Fast BSS transition, instead of the four stages before it.
    FastTransition,
    /// Mobile IP registration.
    MobileIp,
    /// IKE or WireGuard.
    Tunnel,
    /// A tunnel's move to another address, instead of another set-up.
    TunnelMove,
}

/// A fast BSS transition to come: what is known of the association before it.
#[derive(Debug, Clone)]
pub struct Transition {
    /// The AP that the station leaves.
    pub old_access_point: MacAddress,
    /// Through the old AP instead of over the air.
    pub over_the_ds: bool,
    /// Secrets of the initial association in the mobility domain.
    pub secrets: Secrets,
}

/// A renewal of an AP's group keys for one of its stations.
#[derive(Debug, Clone)]
pub struct GroupRenewal {
    /// The new keys: one set for each link, by increasing link ID.
    pub keys: Vec<GroupKeys>,
    /// The last key replay counter that the AP used with the station.
    pub replay_counter: u64,
}

/// Record of one stage.
#[derive(Debug, Clone)]
pub struct StageRecord {
    /// Which stage.
    pub stage: Stage,
    /// Its messages with the work before each.
    pub emissions: Vec<Emission>,
    /// How it ended.
    pub outcome: Outcome,
}

/// A negotiation in progress.
pub struct Negotiation {
    policy: PolicySpec,
    options: Options,
    link: Link,
    plan: Vec<(Stage, usize)>,
    at: usize,
    exchange: Option<Conversation>,
    /// Secrets from before its first stage.
    known: Secrets,
    secrets: Secrets,
    transition: Option<Transition>,
    renewal: Option<GroupRenewal>,
    group_keys: Option<Vec<GroupKeys>>,
    /// Addresses of the tunnels' ends: the station's, the gateway's.
    addresses: Sides<[u8; 4]>,
    /// Addresses of Mobile IP: the station's at home, the home agent's, the foreign agent's.
    mobile_addresses: [[u8; 4]; 3],
}

const STATION: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 0x01]);
const ACCESS_POINT: MacAddress = MacAddress([0x02, 0, 0, 0, 0, 0x02]);
/// Default addresses of the tunnels' ends.
const ENDS: Sides<[u8; 4]> = Sides {
    initiator: [10, 0, 1, 20],
    responder: [10, 0, 1, 1],
};
/// The same of Mobile IP's parties.
const MOBILE: [[u8; 4]; 3] = [[10, 0, 1, 20], [10, 0, 1, 1], [10, 0, 2, 1]];
const PASSPHRASE: &str = "correct horse battery staple";
const WRONG_PASSPHRASE: &str = "wrong horse battery staple";
/// Every octet of static WEP keys.
const WEP_OCTET: u8 = 0x5a;
const RADIUS_SECRET: &[u8] = b"radius secret";
const IDENTITY: &[u8] = b"alice@example.org";

impl Negotiation {
    /// Prepares the first stage.
    ///
    /// # Errors
    /// [`SpecError`] for a policy that names something unknown.
    pub fn new(
        policy: PolicySpec,
        options: Options,
        rng: Box<dyn CryptoRng>,
    ) -> Result<Self, SpecError> {
        Self::between(policy, options, STATION, ACCESS_POINT, rng)
    }

    /// The link that is negotiated.
    #[must_use]
    pub const fn link(&self) -> &Link {
        &self.link
    }

    /// The stage that runs; `None` after the last.
    #[must_use]
    pub fn stage(&self) -> Option<Stage> {
        self.plan.get(self.at).map(|(stage, _)| *stage)
    }

    /// The exchange of the stage that runs.
    pub const fn exchange(&mut self) -> Option<&mut Conversation> {
        self.exchange.as_mut()
    }

    /// How long the AP waits for an authentication frame of SAE, ms, where the options say it.
    #[must_use]
    pub const fn authentication_timeout_ms(&self) -> Option<u32> {
        self.options.authentication_timeout_ms
    }

    /// Whether the station keeps a PMKSA that the AP has refused.
    #[must_use]
    pub const fn keeps_stale_pmksa(&self) -> bool {
        self.options.faults.keeps_stale_pmksa
    }

    /// RADIUS over TLS, where the policy's options ask for it.
    #[must_use]
    pub const fn radius_tls(&self) -> Option<RadiusTls> {
        self.options.radius_tls
    }

    /// The passphrase that both ends hold, where pairwise keys come from one.
    #[must_use]
    pub fn passphrase(&self) -> Option<&'static str> {
        self.link
            .akm
            .is_some_and(AkmSuite::is_psk)
            .then_some(PASSPHRASE)
    }

    /// The static WEP key of both ends, where the policy has one.
    #[must_use]
    pub fn wep_key(&self) -> Option<Vec<u8>> {
        let wep = matches!(self.link.pairwise, CipherSuite::Wep40 | CipherSuite::Wep104);
        let fixed = wep && self.link.akm.is_none() && !self.policy.link.dynamic_wep;
        fixed.then(|| vec![WEP_OCTET; self.link.pairwise.key_octets()])
    }

    /// The PMK that EAP gave or that was cached; `None` before, and where there is none.
    #[must_use]
    pub fn pmk(&self) -> Option<Vec<u8>> {
        let akm = self.link.akm?;
        let msk = self.secrets.get(&SecretName::Msk);
        let known = msk.is_some() || self.secrets.contains_key(&SecretName::Pmk);
        known.then(|| self.master_key(akm, msk.map_or(&[], Vec::as_slice), PASSPHRASE))
    }

    /// Whether the stage that runs is one in which the station waits for an agent of Mobile IP.
    #[must_use]
    pub fn listens(&self) -> bool {
        self.options.listens && self.stage() == Some(Stage::MobileIp)
    }

    /// Forgets the PMK, so that a further association begins from the start.
    pub fn drop_pmk(&mut self) {
        self.secrets.remove(&SecretName::Pmk);
        self.secrets.remove(&SecretName::Msk);
    }

    /// Everything agreed on so far.
    #[must_use]
    pub const fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Makes the AP distribute these group keys in the next key handshake or fast transition, instead of
    /// keys of this negotiation alone: one set for each link, by increasing link ID. A fast transition
    /// that was begun is begun anew.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::new`], and for another number of sets than links.
    pub fn hand_out(&mut self, keys: Vec<GroupKeys>) -> Result<(), SpecError> {
        self.one_for_each_link(&keys)?;
        self.group_keys = Some(keys);
        self.begin_transition_anew()
    }

    fn one_for_each_link(&self, keys: &[GroupKeys]) -> Result<(), SpecError> {
        if keys.len() == self.link.links() {
            return Ok(());
        }
        Err(SpecError::Unknown {
            key: "group keys",
            value: keys.len().to_string(),
            allowed: "one set for each link",
        })
    }

    /// Identifier of a PMK of the association (IEEE 802.11-2020, 12.7.1.3).
    fn pmkid(&self, akm: AkmSuite, pmk: &[u8]) -> Option<[u8; 16]> {
        let ap = self.link.key_address(Party::AccessPoint);
        let station = self.link.key_address(Party::Station);
        pmkid::pmkid(akm, pmk, ap, station).ok()
    }

    /// Sets the addresses and PHYs of the links of a multi-link association, before the association.
    /// Without a call they follow from the addresses of the first link. The stage that runs is begun anew.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::new`], and for another number of links than the options have.
    pub fn set_links(&mut self, links: MultiLink) -> Result<(), SpecError> {
        let count = 1 + links.further.len();
        if count != self.link.links() || count == 1 {
            return Err(SpecError::Unknown {
                key: "links",
                value: count.to_string(),
                allowed: "as many as options.links, and at least 2",
            });
        }
        self.link.multi_link = Some(links);
        match self.exchange.take() {
            Some(exchange) => self.prepare(exchange.into_rng()),
            None => Ok(()),
        }
    }

    /// Sets the elements of both ends beside those of the link, before the association. A fast
    /// transition that was begun is begun anew.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::new`], and for RSN overriding with several links: transition modes
    /// have one.
    pub fn announce(&mut self, announced: Announced) -> Result<(), SpecError> {
        if announced.overriding.is_some() && self.link.multi_link.is_some() {
            return Err(SpecError::Unknown {
                key: "options.links",
                value: self.link.links().to_string(),
                allowed: "1 with RSN overriding: transition modes use one link",
            });
        }
        self.link.announced = announced;
        self.begin_transition_anew()
    }

    /// The parties of a fast transition have copies of what they say.
    fn begin_transition_anew(&mut self) -> Result<(), SpecError> {
        if self.stage() == Some(Stage::FastTransition)
            && let Some(exchange) = self.exchange.take()
        {
            self.prepare(exchange.into_rng())?;
        }
        Ok(())
    }

    /// Goes on to the next stage once the current one is established; `false` when there is
    /// none or the current one is not.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::new`].
    pub fn advance(&mut self) -> Result<bool, SpecError> {
        let Some(exchange) = self.exchange.take() else {
            return Ok(false);
        };
        match exchange.outcome() {
            Outcome::Established(secrets) => self.secrets.extend(secrets),
            _ => {
                self.exchange = Some(exchange);
                return Ok(false);
            }
        }
        self.at += 1;
        if self.at == self.plan.len() {
            return Ok(false);
        }
        self.prepare(exchange.into_rng())?;
        Ok(true)
    }

    /// Runs all stages on a network without loss; stops at the first that fails.
    ///
    /// # Errors
    /// [`SpecError`] as in [`Self::new`].
    pub fn run(mut self) -> Result<(Vec<StageRecord>, Secrets), SpecError> {
        let mut records = Vec::new();
        while let (Some(stage), Some(exchange)) = (self.stage(), self.exchange.as_mut()) {
            let (emissions, outcome) = exchange.run();
            records.push(StageRecord {
                stage,
                emissions,
                outcome,
            });
            if !self.advance()? {
                break;
            }
        }
        Ok((records, self.secrets))
    }

    fn prepare(&mut self, mut rng: Box<dyn CryptoRng>) -> Result<(), SpecError> {
        let Some(&(stage, index)) = self.plan.get(self.at) else {
            return Ok(());
        };
        let mut context = Context::new(&mut *rng);
        let peers = match stage {
            Stage::Authentication => self.authentication(&mut context)?,
            Stage::Association => self.association(),
            Stage::Eap => self.eap(&mut context),
            Stage::Keys => self.keys(),
            Stage::GroupKeys => self.renewed_group_keys()?,
            Stage::FastTransition => self.fast_transition(),
            Stage::MobileIp => parties(&self.mobile_ip()),
            Stage::Tunnel => {
                let tunnel = self.policy.tunnels[index].clone();
                self.tunnel(&tunnel, &mut context)
            }
            Stage::TunnelMove => self.tunnel_move(),
        };
        drop(context);
        let mut exchange = Conversation::new(peers, rng);
        if stage == Stage::Eap {
            let lengths = &self.options.radius_proxies;
            let proxy = |octets: &u8| RadiusProxy::new(RADIUS_SECRET.to_vec(), *octets);
            exchange = exchange.through(lengths.iter().map(proxy).collect());
        }
        self.exchange = Some(exchange);
        Ok(())
    }

    const fn station_passphrase(&self) -> &'static str {
        if self.options.faults.wrong_passphrase {
            WRONG_PASSPHRASE
        } else {
            PASSPHRASE
        }
    }

    fn authentication(
        &mut self,
        context: &mut Context<'_>,
    ) -> Result<Vec<Box<dyn Peer>>, SpecError> {
        if self.options.cached_pmk || self.asks_with_stale_pmksa() {
            self.secrets
                .entry(SecretName::Pmk)
                .or_insert_with(|| context.random_octets(32));
        } else if self.link.akm.is_some_and(AkmSuite::is_sae) {
            let config = |password: &str| SaeConfig {
                link: self.link.clone(),
                password: password.as_bytes().to_vec(),
                identifier: None,
                group: self.options.group,
                further_groups: Vec::new(),
                anti_clogging: self.options.anti_clogging,
                impatient: self.options.authentication_timeout_ms.is_some(),
            };
            return Ok(vec![
                Box::new(SaePeer::station(config(self.station_passphrase()))),
                Box::new(SaePeer::access_point(config(PASSPHRASE))),
            ]);
        }
        let shared = self.policy.link.authentication == AuthenticationAlgorithm::SharedKey;
        let key = shared.then(|| vec![WEP_OCTET; self.link.pairwise.key_octets()]);
        let mut station_key = key.clone();
        if let (true, Some(key)) = (self.options.faults.wrong_passphrase, &mut station_key) {
            key[0] ^= 1;
        }
        Ok(vec![
            Box::new(AuthenticationStation::new(self.link.clone(), station_key)),
            Box::new(AuthenticationAccessPoint::new(self.link.clone(), key)),
        ])
    }

    fn association(&self) -> Vec<Box<dyn Peer>> {
        if self.link.akm.is_some_and(AkmSuite::is_owe) && !self.options.cached_pmk {
            return vec![
                Box::new(OwePeer::station(self.link.clone(), self.options.group)),
                Box::new(OwePeer::access_point(self.link.clone(), self.options.group)),
            ];
        }
        if self.options.faults.stale_pmksa {
            let named = vec![self.stale_pmkid()];
            let access_point = AssociationAccessPoint::new(self.link.clone(), Vec::new());
            return vec![
                Box::new(AssociationStation::new(self.link.clone(), named)),
                Box::new(if self.asks_with_stale_pmksa() {
                    access_point.needing_pmksa()
                } else {
                    access_point
                }),
            ];
        }
        let cached: Vec<[u8; 16]> = if self.options.cached_pmk {
            self.cached_pmkid().into_iter().collect()
        } else {
            Vec::new()
        };
        vec![
            Box::new(AssociationStation::new(self.link.clone(), cached.clone())),
            Box::new(AssociationAccessPoint::new(self.link.clone(), cached)),
        ]
    }

    /// Whether the station leaves SAE out because of a PMKSA that the AP does not have.
    fn asks_with_stale_pmksa(&self) -> bool {
        self.options.faults.stale_pmksa && self.link.akm.is_some_and(AkmSuite::is_sae)
    }

    /// The identifier of the PMKSA that the station alone has. With 802.1X its PMK is not that of the
    /// EAP to come.
    fn stale_pmkid(&self) -> [u8; 16] {
        let stale = || self.pmkid(self.link.akm?, &[0; 32]);
        self.cached_pmkid().or_else(stale).unwrap_or_default()
    }

    /// The identifier of a cached PMK; SAE's and OWE's is not computed from the PMK, so any
    /// 16 octets that both ends remember serve.
    fn cached_pmkid(&self) -> Option<[u8; 16]> {
        let pmk = self.secrets.get(&SecretName::Pmk)?;
        let akm = self.link.akm?;
        self.pmkid(akm, pmk).or_else(|| pmk[..16].try_into().ok())
    }

    fn eap(&self, context: &mut Context<'_>) -> Vec<Box<dyn Peer>> {
        let Some(method) = self.policy.link.eap_method else {
            return Vec::new();
        };
        let faults = self.options.faults;
        // WPA3-Enterprise's 192-bit mode fixes the TLS suite and the strength of the chain.
        let strong = self.link.akm.is_some_and(AkmSuite::is_192_bit);
        let (chain, suite) = if strong {
            (self.options.chain.strong(), TlsSuite::Aes256GcmSha384)
        } else {
            (self.options.chain, TlsSuite::default())
        };
        let server = EapConfig {
            method,
            identity: IDENTITY.to_vec(),
            password: PASSPHRASE.as_bytes().to_vec(),
            tls: self.options.tls,
            suite,
            groups: self.options.tls_group.into_iter().collect(),
            credential: Some(if faults.wrong_certificate {
                Credential::rogue_server()
            } else {
                Credential::server(chain)
            }),
            trusted: chain,
            resume: self
                .options
                .tls_resumption
                .then(|| Session::drawn(context, self.options.tls, suite)),
            remembers: self.options.tls_resumption,
            fragment_octets: self.options.fragment_octets,
            limits: self.options.eap_limits,
            certificate_compression: self.options.certificate_compression,
            cryptobinding: self.options.cryptobinding,
        };
        let station = EapConfig {
            password: self.station_passphrase().as_bytes().to_vec(),
            credential: Some(Credential::client(chain)),
            limits: EapLimits {
                rounds: self.options.station_rounds,
                ..EapLimits::default()
            },
            ..server.clone()
        };
        let secret = RADIUS_SECRET.to_vec();
        let mut peers: Vec<Box<dyn Peer>> = vec![
            Box::new(EapSupplicant::new(station)),
            Box::new(match self.options.radius_tls {
                Some(_) => EapAuthenticator::new(self.link.clone(), secret.clone()).over_tls(),
                None => EapAuthenticator::new(self.link.clone(), secret.clone()),
            }),
        ];
        if !faults.silent_server {
            peers.push(Box::new(EapServer::new(server, secret)));
        }
        peers
    }

    /// The PMK; with an FT AKM the XXKey (802.11-2020, 12.7.1.6.3).
    fn master_key(&self, akm: AkmSuite, msk: &[u8], passphrase: &str) -> Vec<u8> {
        if let Some(pmk) = self.secrets.get(&SecretName::Pmk) {
            pmk.clone()
        } else if akm.is_8021x() {
            // LEAP's session key of 16 octets is the PMK as it is.
            pairwise::pmk_from_msk(akm, msk).map_or_else(|_| msk.to_vec(), |pmk| pmk.to_vec())
        } else {
            network_key(passphrase, &self.link.ssid).map_or_else(|_| Vec::new(), |psk| psk.to_vec())
        }
    }

    fn fast_transition(&self) -> Vec<Box<dyn Peer>> {
        let (Some(akm), Some(transition)) = (self.link.akm, &self.transition) else {
            return Vec::new();
        };
        let msk = self.secrets.get(&SecretName::Msk).cloned();
        let msk = msk.unwrap_or_default();
        let config = |passphrase: &str| FtConfig {
            link: self.link.clone(),
            xxkey: self.master_key(akm, &msk, passphrase),
            old_access_point: transition.old_access_point,
            over_the_ds: transition.over_the_ds,
            group_keys: self
                .group_keys
                .as_ref()
                .and_then(|all| all.first().cloned()),
        };
        fast_transition::parties(config(self.station_passphrase()), config(PASSPHRASE))
    }

    fn keys(&self) -> Vec<Box<dyn Peer>> {
        let msk = self
            .secrets
            .get(&SecretName::Msk)
            .cloned()
            .unwrap_or_default();
        let Some(akm) = self.link.akm else {
            let mut giver = WepKeyGiver::new(msk.clone(), self.link.pairwise.key_octets());
            if let Some(keys) = self.group_keys.as_ref().and_then(|all| all.first()) {
                giver = giver.handing_out(keys.clone());
            }
            return vec![Box::new(WepKeyTaker::new(msk)), Box::new(giver)];
        };
        let config = |passphrase: &str| {
            let pmk = self.master_key(akm, &msk, passphrase);
            let cached = if self.options.cached_pmk {
                self.cached_pmkid()
            } else {
                None
            };
            // hostapd names OWE's PMK in message 1 only where it comes from its cache.
            let fresh = !akm.is_owe() || self.options.cached_pmk;
            let pmkid = self
                .secrets
                .get(&SecretName::Pmkid)
                .filter(|_| fresh)
                .and_then(|pmkid| pmkid.as_slice().try_into().ok())
                .or(cached)
                .or_else(|| {
                    let named = akm.is_8021x() && !akm.is_ft();
                    named.then(|| self.pmkid(akm, &pmk)).flatten()
                });
            KeyConfig {
                station_element: self
                    .link
                    .security_element(&cached.into_iter().collect::<Vec<_>>()),
                access_point_element: self.link.beacon_element(),
                link: self.link.clone(),
                pmk,
                // Suite B names its PMK with the KCK, which message 1 cannot know.
                pmkid: pmkid.filter(|_| !matches!(akm, AkmSuite::SuiteB | AkmSuite::SuiteB192)),
            }
        };
        let mut authenticator = KeyAuthenticator::new(config(PASSPHRASE));
        if let Some(keys) = &self.group_keys {
            authenticator = authenticator.handing_out(keys.clone());
        }
        vec![
            Box::new(KeySupplicant::new(config(self.station_passphrase()))),
            Box::new(authenticator),
        ]
    }

    fn renewed_group_keys(&self) -> Result<Vec<Box<dyn Peer>>, SpecError> {
        let part = |name| self.secrets.get(&name).map_or(&[][..], Vec::as_slice);
        let (kck, kek, tk) = (
            part(SecretName::Kck),
            part(SecretName::Kek),
            part(SecretName::Tk),
        );
        let (Ok(ptk), Some(renewal), false) =
            (Ptk::from_parts(kck, kek, tk), &self.renewal, kck.is_empty())
        else {
            return Err(SpecError::Unknown {
                key: "link.akm",
                value: self.policy.name.clone(),
                allowed: "an AKM whose key handshake is done, for a group key handshake",
            });
        };
        self.one_for_each_link(&renewal.keys)?;
        let config = KeyConfig {
            station_element: Vec::new(),
            access_point_element: Vec::new(),
            link: self.link.clone(),
            pmk: Vec::new(),
            pmkid: None,
        };
        let counter = renewal.replay_counter;
        let authenticator = KeyAuthenticator::group_rekey(config.clone(), ptk.clone(), counter);
        Ok(vec![
            Box::new(KeySupplicant::group_rekey(config, ptk, counter)),
            Box::new(
                authenticator
                    .handing_out(renewal.keys.clone())
                    .transmitting(self.options.group_update_count),
            ),
        ])
    }

    /// Work that is done once for a network and not for every association: mapping a
    /// passphrase to a PSK (802.11-2020, J.4.1).
    #[must_use]
    pub fn preparation(&self) -> Vec<Operation> {
        let personal = self.link.akm.is_some_and(AkmSuite::is_psk);
        if personal {
            // 256 bits are two blocks of HMAC-SHA-1.
            vec![Operation::Pbkdf2 {
                iterations: 2 * u64::from(psk::ITERATIONS),
            }]
        } else {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
