//! Multi-link association (IEEE 802.11be-2024, 35.3.5): the addresses of two multi-link devices (MLDs) and
//! their links.
//!
//! Takes addresses and the PHY elements of further links. Keys belong to the MLDs, frames to the link on
//! which they are sent; the elements and KDEs that name them are of `link`. Never holds a key.

use airtoll_wire::MacAddress;

use crate::exchange::Party;
use crate::link::phy_elements::PhyElements;

/// Most links of an MLD: link IDs are 0 to 14.
pub const MAX_LINKS: u8 = 15;
/// Second octet of an MLD address that follows from the address of a link.
const MLD: u8 = 0x4d;

/// A link of a multi-link association beside the one on which the frames are sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AffiliatedLink {
    /// Link ID, 0 to 14.
    pub id: u8,
    /// Address of the station on this link.
    pub station: MacAddress,
    /// Address of the AP on this link, its BSSID.
    pub access_point: MacAddress,
    /// PHY of the station on this link.
    pub station_phy: PhyElements,
    /// PHY of the AP on this link.
    pub access_point_phy: PhyElements,
}

/// The MLDs of a multi-link association and their links.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MultiLink {
    /// MLD address of the station.
    pub station: MacAddress,
    /// MLD address of the AP.
    pub access_point: MacAddress,
    /// ID of the link on which the station associates.
    pub id: u8,
    /// The other links, by increasing ID.
    pub further: Vec<AffiliatedLink>,
}

impl MultiLink {
    /// `links` links between two devices whose addresses on link 0 are these; addresses of further
    /// links and of the MLDs follow from them. `None` for one link.
    #[must_use]
    pub fn between(station: MacAddress, access_point: MacAddress, links: u8) -> Option<Self> {
        (links > 1).then(|| Self {
            station: mld_address(station),
            access_point: mld_address(access_point),
            id: 0,
            further: (1..links.min(MAX_LINKS))
                .map(|id| AffiliatedLink {
                    id,
                    station: link_address(station, id),
                    access_point: link_address(access_point, id),
                    station_phy: PhyElements::default(),
                    access_point_phy: PhyElements::default(),
                })
                .collect(),
        })
    }

    /// IDs of all links, increasing.
    #[must_use]
    pub fn ids(&self) -> Vec<u8> {
        let mut ids: Vec<u8> = self.further.iter().map(|link| link.id).collect();
        ids.push(self.id);
        ids.sort_unstable();
        ids
    }

    /// The MLD address of a party.
    #[must_use]
    pub fn address(&self, party: Party) -> MacAddress {
        if party == Party::Station {
            self.station
        } else {
            self.access_point
        }
    }
}

/// The address of the MLD whose first link has this address.
#[must_use]
pub const fn mld_address(MacAddress([first, _, third, a, b, c]): MacAddress) -> MacAddress {
    MacAddress([first, MLD, third, a, b, c])
}

/// The address on link `id` of the device that has this address on link 0.
#[must_use]
pub const fn link_address(
    MacAddress([first, second, third, a, b, c]): MacAddress,
    id: u8,
) -> MacAddress {
    let second = if id == 0 { second } else { id };
    MacAddress([first, second, third, a, b, c])
}

#[cfg(test)]
mod tests;
