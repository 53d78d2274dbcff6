//! A link of a multi-link association: the elements and KDEs that name the devices and their other links.

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::Elements;
use airtoll_wire::ieee80211::multi_link::{MultiLinkRepr, StationProfile, inherit};
use airtoll_wire::key_data::{KeyData, MloLink, iterate};

use super::{Link, ManagementProtection};
use crate::exchange::Party;
use crate::link::multi_link::{MAX_LINKS, MultiLink};
use crate::link::phy_elements::PhyElements;
use crate::octets::written;
use crate::spec_error::SpecError;
use airtoll_security::akm::AkmSuite;
use airtoll_security::suite::CipherSuite;

/// Beacon interval in the profile of an access point, in time units.
const BEACON_INTERVAL: u16 = 100;

/// The links that a policy may use together: those that it is asked for, or the reason against them.
pub(crate) fn permitted(link: &Link, links: u8, policy: &str) -> Result<(), SpecError> {
    if links == 1 {
        return Ok(());
    }
    let refused = |key, value: String, allowed| {
        Err(SpecError::Unknown {
            key,
            value,
            allowed,
        })
    };
    if !(1..=MAX_LINKS).contains(&links) {
        return refused("options.links", links.to_string(), "1 to 15");
    }
    let name = || policy.to_owned();
    let strong = match link.akm {
        Some(AkmSuite::Owe | AkmSuite::SaeExtKey) => true,
        Some(akm) if akm.is_ft() => {
            return refused(
                "options.links",
                links.to_string(),
                "1 with a fast transition AKM, whose keys over several links are not carried out",
            );
        }
        Some(akm) => akm.is_8021x() && !akm.is_wpa1() && akm != AkmSuite::Ieee8021x,
        None => false,
    };
    if !strong {
        return refused(
            "link.akm",
            name(),
            "SAE as AKM 24, OWE, or 802.1X of WPA3 with several links",
        );
    }
    if link.pairwise != CipherSuite::Gcmp256 {
        return refused("link.cipher", name(), "gcmp-256 with several links");
    }
    if link.protection != ManagementProtection::Required {
        return refused("link.pmf", name(), "required with several links");
    }
    if link.operating_channel_validation {
        return refused(
            "options.operating_channel_validation",
            "true".to_owned(),
            "false with several links: operating channel information of links is not carried out",
        );
    }
    if !link.beacon_protection {
        return refused(
            "options.beacon_protection",
            "false".to_owned(),
            "true with several links",
        );
    }
    Ok(())
}

impl Link {
    /// The address that keys are bound to: that of the MLD in a multi-link association (IEEE
    /// 802.11be-2024, 12.7.1.3), else that on the air.
    #[must_use]
    pub fn key_address(&self, party: Party) -> MacAddress {
        match &self.multi_link {
            Some(mlds) => mlds.address(party),
            None => self.address(party),
        }
    }

    /// Number of links that the association has.
    #[must_use]
    pub fn links(&self) -> usize {
        1 + self.multi_link.as_ref().map_or(0, |all| all.further.len())
    }

    /// IDs of the links, increasing; link 0 without multi-link association.
    #[must_use]
    pub fn link_ids(&self) -> Vec<u8> {
        self.multi_link
            .as_ref()
            .map_or_else(|| vec![0], MultiLink::ids)
    }

    /// The Multi-Link element of an authentication frame, which has the MLD address alone; empty without
    /// a multi-link association.
    #[must_use]
    pub fn authentication_element(&self, from: Party) -> Vec<u8> {
        let Some(mlds) = &self.multi_link else {
            return Vec::new();
        };
        let repr = MultiLinkRepr {
            mld: mlds.address(from),
            ..MultiLinkRepr::default()
        };
        written(|out| repr.emit(out))
    }

    /// The Multi-Link element of an association request or, with a status, of the response to it: a
    /// complete profile of each further link. `around` are the elements of the frame; `own` gives those
    /// of a frame on another link. Empty without a multi-link association.
    pub(crate) fn association_element(
        &self,
        status: Option<u16>,
        around: &[u8],
        own: impl Fn(&PhyElements) -> Vec<u8>,
    ) -> Vec<u8> {
        let Some(mlds) = &self.multi_link else {
            return Vec::new();
        };
        let request = status.is_none();
        let profiles = mlds.further.iter().map(|link| {
            let (address, phy) = if request {
                (link.station, &link.station_phy)
            } else {
                (link.access_point, &link.access_point_phy)
            };
            let mut body = self.capability().to_le_bytes().to_vec();
            body.extend(status.map(u16::to_le_bytes).into_iter().flatten());
            inherit(&mut body, around, &own(phy));
            StationProfile {
                link: link.id,
                complete: true,
                address: Some(address),
                beacon_interval: (!request).then_some(BEACON_INTERVAL),
                tsf_offset: (!request).then_some(0),
                dtim: (!request).then_some([0, 1]),
                change_count: (!request).then_some(0),
                body,
            }
        });
        let repr = MultiLinkRepr {
            mld: mlds.address(if request {
                Party::Station
            } else {
                Party::AccessPoint
            }),
            link: (!request).then_some(mlds.id),
            change_count: (!request).then_some(0),
            // EMLSR and EMLMR are left out: the station does not say what it cannot do.
            eml: (!request).then_some(0),
            capabilities: Some(mlds.further.len() as u16),
            profiles: profiles.collect(),
        };
        written(|out| repr.emit(out))
    }

    /// Whether the elements of an association frame of this party name its MLD and its links as they are
    /// known; always without a multi-link association.
    #[must_use]
    pub fn names_links(&self, from: Party, elements: &Elements<'_>) -> bool {
        let Some(mlds) = &self.multi_link else {
            return true;
        };
        let Some(Ok(said)) = MultiLinkRepr::find(elements) else {
            return false;
        };
        let known = mlds.further.iter().map(|link| {
            let address = if from == Party::Station {
                link.station
            } else {
                link.access_point
            };
            (link.id, Some(address))
        });
        let said_links = said.profiles.iter().map(|one| (one.link, one.address));
        said.mld == mlds.address(from) && said_links.eq(known)
    }

    /// The MAC Address KDE with a party's MLD address; empty without a multi-link association.
    pub(crate) fn mld_kde(&self, from: Party) -> Vec<u8> {
        let mlds = self.multi_link.as_ref();
        mlds.map_or_else(Vec::new, |mlds| {
            written(|out| KeyData::Mac(mlds.address(from)).emit(out))
        })
    }

    /// MLO Link KDEs: in message 2 the station's further links, in message 3 all links of the AP with
    /// their RSN and RSN extension elements. Empty without a multi-link association.
    pub(crate) fn link_kdes(&self, from: Party) -> Vec<u8> {
        let Some(mlds) = &self.multi_link else {
            return Vec::new();
        };
        let mut all: Vec<(u8, MacAddress)> = mlds
            .further
            .iter()
            .map(|link| {
                let address = if from == Party::Station {
                    link.station
                } else {
                    link.access_point
                };
                (link.id, address)
            })
            .collect();
        let (mut rsn, mut extension) = (Vec::new(), Vec::new());
        if from == Party::AccessPoint {
            all.push((mlds.id, self.access_point));
            all.sort_unstable_by_key(|(id, _)| *id);
            (rsn, extension) = (self.beacon_element(), self.extension_element());
        }
        written(|out| {
            for (link, address) in all {
                KeyData::MloLink(MloLink {
                    link,
                    address,
                    rsn: &rsn,
                    extension: &extension,
                })
                .emit(out);
            }
        })
    }

    /// Whether key data of this party carry its MLD address and, with `links`, its MLO Link KDEs as they
    /// are known; always without a multi-link association.
    pub(crate) fn confirms_links(&self, from: Party, data: &[u8], links: bool) -> bool {
        let Some(mlds) = &self.multi_link else {
            return true;
        };
        let expected = self.link_kdes(from);
        let known: Vec<_> = iterate(&expected).collect();
        let named = iterate(data).any(|item| item == KeyData::Mac(mlds.address(from)));
        let said = iterate(data).filter(|item| matches!(item, KeyData::MloLink(_)));
        named && (!links || said.eq(known))
    }
}
