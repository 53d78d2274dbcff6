//! Parties of the handshakes between a station and an access point, from settings.
//!
//! Takes the JSON of an [`AirSettings`] and a party; gives it ready to start. Never chains one
//! handshake to the next: the caller hands the secrets of one to the other.

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::OciRepr;
use schemars::JsonSchema;
use serde::Deserialize;

use super::address;
use crate::exchange::{Party, Peer};
use crate::link::agreed::{
    Announced, Link, ManagementProtection, MobilityDomain, OperatingChannels,
};
use crate::link::association::{AssociationAccessPoint, AssociationStation};
use crate::link::authentication::{AuthenticationAccessPoint, AuthenticationStation};
use crate::link::fast_transition::{FtConfig, FtOldAccessPoint, FtStation, FtTarget};
use crate::link::key_handshake::{KeyAuthenticator, KeyConfig};
use crate::link::key_supplicant::KeySupplicant;
use crate::link::multi_link::MultiLink;
use crate::link::owe::OwePeer;
use crate::link::sae::{SaeConfig, SaePeer};
use airtoll_security::akm::{AkmHash, AkmSuite};
use airtoll_security::keys::{pairwise, psk};
use airtoll_security::suite::CipherSuite;

/// A link between a station and an access point.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSettings {
    /// Network name.
    pub ssid: String,
    /// The station's address, colon-separated.
    pub station: String,
    /// The access point's.
    pub access_point: String,
    /// AKM; none on an open network.
    #[serde(default)]
    pub akm: Option<AkmSuite>,
    /// Pairwise cipher.
    pub pairwise: CipherSuite,
    /// Group cipher.
    pub group: CipherSuite,
    /// Protected management frames.
    #[serde(default)]
    pub protection: ManagementProtection,
    /// Whether SAE maps the password with hash-to-element.
    #[serde(default)]
    pub hash_to_element: bool,
    /// Mobility domain of fast transition.
    #[serde(default)]
    pub mobility_domain: Option<MobilityDomain>,
    /// Whether beacons are protected.
    #[serde(default)]
    pub beacon_protection: bool,
    /// Operating class, primary channel and centre of segment 1 of this end, with operating channel
    /// validation; none: no validation.
    #[serde(default)]
    pub operating_channel: Option<[u8; 3]>,
    /// Links of a multi-link association, whose addresses follow from those of the first; 0 or 1: none.
    #[serde(default)]
    pub links: u8,
}

impl LinkSettings {
    /// The link; `hash` counts where the AKM leaves it to a group.
    ///
    /// # Errors
    /// An address that is none.
    pub fn link(&self, hash: AkmHash) -> Result<Link, String> {
        let (station, access_point) = (address(&self.station)?, address(&self.access_point)?);
        Ok(Link {
            ssid: self.ssid.clone().into_bytes(),
            station,
            access_point,
            multi_link: MultiLink::between(station, access_point, self.links),
            akm: self.akm,
            hash,
            pairwise: self.pairwise,
            group: self.group,
            protection: self.protection,
            beacon_protection: self.beacon_protection,
            operating_channel_validation: self.operating_channel.is_some(),
            hash_to_element: self.hash_to_element,
            announced: Announced {
                channels: self.channels(),
                ..Announced::default()
            },
            mobility_domain: self.mobility_domain.clone(),
        })
    }

    fn channels(&self) -> OperatingChannels {
        let own = self.operating_channel;
        own.map_or_else(OperatingChannels::default, |own| {
            let [operating_class, channel, segment_1] = own;
            OperatingChannels::shared(OciRepr {
                operating_class,
                channel,
                segment_1,
            })
        })
    }
}

/// Start of a link's key hierarchy.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Master {
    /// A passphrase, mapped to a PSK with the network name (802.11-2020, J.4.1).
    Passphrase(String),
    /// The PMK of SAE, of OWE, or of a cache.
    Pmk(Vec<u8>),
    /// The MSK of an EAP method.
    Msk(Vec<u8>),
}

impl Master {
    /// The PMK; with an FT AKM the XXKey (802.11-2020, 12.7.1.6.3).
    fn key(&self, link: &Link) -> Result<Vec<u8>, String> {
        let akm = link.akm.unwrap_or(AkmSuite::Psk);
        match self {
            Self::Pmk(pmk) => Ok(pmk.clone()),
            Self::Passphrase(text) => psk::from_passphrase(text, &link.ssid)
                .map(|psk| psk.to_vec())
                .map_err(|error| format!("settings: passphrase: {error}")),
            Self::Msk(msk) => pairwise::pmk_from_msk(akm, msk)
                .map(|pmk| pmk.to_vec())
                .map_err(|error| format!("settings: msk: {error}")),
        }
    }
}

/// A handshake between a station and an access point.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(tag = "stage", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AirSettings {
    /// Open System or, with a WEP key, Shared Key authentication.
    Authentication {
        /// The link.
        link: LinkSettings,
        /// WEP key of 5 or 13 octets.
        #[serde(default)]
        wep_key: Option<Vec<u8>>,
    },
    /// SAE.
    Sae {
        /// The link.
        link: LinkSettings,
        /// Password.
        password: String,
        /// IANA number of the group.
        group: u16,
        /// Groups that a station tries next, or that an access point takes as well.
        #[serde(default)]
        further_groups: Vec<u16>,
        /// Password identifier, with hash-to-element.
        #[serde(default)]
        identifier: Option<String>,
        /// Whether the access point is busy.
        #[serde(default)]
        anti_clogging: bool,
    },
    /// Association without a key exchange in it.
    Association {
        /// The link.
        link: LinkSettings,
        /// Identifiers of cached PMKs, 16 octets each.
        #[serde(default)]
        pmkids: Vec<[u8; 16]>,
    },
    /// Association with OWE's key exchange.
    Owe {
        /// The link.
        link: LinkSettings,
        /// IANA number of the group.
        group: u16,
        /// Groups that a station tries next, or that an access point takes as well.
        #[serde(default)]
        further_groups: Vec<u16>,
    },
    /// The 4-way handshake.
    Keys {
        /// The link.
        link: LinkSettings,
        /// Where the keys come from.
        master: Master,
        /// Identifier of the PMK, 16 octets.
        #[serde(default)]
        pmkid: Option<[u8; 16]>,
        /// RSN element of the association request; that of the link unless given.
        #[serde(default)]
        station_element: Option<Vec<u8>>,
        /// RSN element of the beacons; that of the link unless given.
        #[serde(default)]
        access_point_element: Option<Vec<u8>>,
    },
    /// Fast BSS transition to the access point of the link.
    FastTransition {
        /// The link.
        link: LinkSettings,
        /// Where the keys come from.
        master: Master,
        /// Address of the access point that the station leaves.
        old_access_point: String,
        /// Through that access point instead of over the air.
        #[serde(default)]
        over_the_ds: bool,
    },
}

impl AirSettings {
    /// The party of these settings, ready to start.
    ///
    /// # Errors
    /// A party that takes no part, an address that is none, or a secret of a wrong length.
    pub fn party(&self, party: Party) -> Result<Box<dyn Peer>, String> {
        let station = match party {
            Party::Station => true,
            Party::AccessPoint => false,
            Party::OldAccessPoint if matches!(self, Self::FastTransition { .. }) => false,
            _ => return Err(format!("settings: {party:?} is not on the air")),
        };
        Ok(match self {
            Self::Authentication { link, wep_key } => {
                let (link, key) = (link.link(AkmHash::Sha256)?, wep_key.clone());
                if station {
                    Box::new(AuthenticationStation::new(link, key))
                } else {
                    Box::new(AuthenticationAccessPoint::new(link, key))
                }
            }
            Self::Sae {
                link,
                password,
                group,
                further_groups,
                identifier,
                anti_clogging,
            } => {
                let config = SaeConfig {
                    link: link.link(hash_of(*group))?,
                    password: password.clone().into_bytes(),
                    identifier: identifier.clone().map(String::into_bytes),
                    group: *group,
                    further_groups: further_groups.clone(),
                    anti_clogging: *anti_clogging,
                    impatient: false,
                };
                Box::new(if station {
                    SaePeer::station(config)
                } else {
                    SaePeer::access_point(config)
                })
            }
            Self::Association { link, pmkids } => {
                let (link, pmkids) = (link.link(AkmHash::Sha256)?, pmkids.clone());
                if station {
                    Box::new(AssociationStation::new(link, pmkids))
                } else {
                    Box::new(AssociationAccessPoint::new(link, pmkids))
                }
            }
            Self::Owe {
                link,
                group,
                further_groups,
            } => {
                let link = link.link(hash_of(*group))?;
                let peer = if station {
                    OwePeer::station(link, *group)
                } else {
                    OwePeer::access_point(link, *group)
                };
                Box::new(peer.with_further_groups(further_groups.clone()))
            }
            Self::Keys { .. } => {
                let config = self.key_config()?;
                if station {
                    Box::new(KeySupplicant::new(config))
                } else {
                    Box::new(KeyAuthenticator::new(config))
                }
            }
            Self::FastTransition { .. } => {
                let config = self.transition()?;
                match party {
                    Party::Station => Box::new(FtStation::new(config)),
                    Party::OldAccessPoint => Box::new(FtOldAccessPoint::new(config)),
                    _ => Box::new(FtTarget::new(config)),
                }
            }
        })
    }

    fn key_config(&self) -> Result<KeyConfig, String> {
        let Self::Keys {
            link,
            master,
            pmkid,
            station_element,
            access_point_element,
        } = self
        else {
            return Err("settings: these are not a 4-way handshake's".to_owned());
        };
        // OWE's PMK is as long as the digest that its group chose.
        let hash = match master {
            Master::Pmk(pmk) => AkmHash::for_group_bits(8 * pmk.len()),
            _ => AkmHash::Sha256,
        };
        let link = link.link(hash)?;
        let own = link.security_element(&[]);
        Ok(KeyConfig {
            pmk: master.key(&link)?,
            pmkid: *pmkid,
            station_element: station_element.clone().unwrap_or_else(|| own.clone()),
            access_point_element: access_point_element.clone().unwrap_or(own),
            link,
        })
    }

    fn transition(&self) -> Result<FtConfig, String> {
        let Self::FastTransition {
            link,
            master,
            old_access_point,
            over_the_ds,
        } = self
        else {
            return Err("settings: these are not a fast transition's".to_owned());
        };
        let link = link.link(AkmHash::Sha256)?;
        let old_access_point: MacAddress = address(old_access_point)?;
        Ok(FtConfig {
            xxkey: master.key(&link)?,
            old_access_point,
            over_the_ds: *over_the_ds,
            group_keys: None,
            link,
        })
    }
}

/// The hash that goes with a group (802.11-2020, table 12-1).
const fn hash_of(group: u16) -> AkmHash {
    AkmHash::for_group_bits(match group {
        20 => 384,
        21 => 521,
        _ => 256,
    })
}
