//! Multi-link devices (MLDs): takes Multi-Link elements and MLO KDEs, gives the MLD address of a
//! link's address, the links of an association, and the addresses that a cipher takes.
//!
//! Source: IEEE 802.11be-2024 clauses 9.4.2.322 (element), 12.7.2 (KDEs), 35.3.5 (association). Both ends
//! must have named their MLD; an access point of an MLD also serves stations without one. Tables are
//! bounded. Never holds a key.

use airtoll_security::link::mld::LinkAddresses;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::{Elements, Frame, MultiLinkRepr};
use airtoll_wire::key_data::{self, KeyData};
use rustc_hash::FxHashMap;

use super::{Keyring, LinkEnds, MAX_ENTRIES, PairKey, pair_of};
use crate::decrypt::Undecrypted;

/// Most links of an MLD (link IDs 0 to 14).
const MAX_LINKS: usize = 15;

/// The MLDs of a capture.
#[derive(Debug, Default)]
pub(in crate::decrypt) struct Mlds {
    /// MLD by the address of a link.
    by_link: FxHashMap<u64, MacAddress>,
    /// Links by MLD: link ID, where it is known, and address.
    links: FxHashMap<u64, Vec<(Option<u8>, MacAddress)>>,
    /// Ends of the link on which two MLDs associated.
    associations: FxHashMap<PairKey, LinkEnds>,
    /// The station's address of its newest association, by its MLD.
    stations: FxHashMap<u64, MacAddress>,
}

impl Mlds {
    #[inline]
    pub fn of(&self, address: MacAddress) -> Option<MacAddress> {
        // Most captures have none, and every frame asks.
        if self.by_link.is_empty() {
            return None;
        }
        self.by_link.get(&address.to_u64()).copied()
    }

    /// Learns that an address is that of a link of an MLD.
    fn learn(&mut self, mld: MacAddress, link: Option<u8>, address: MacAddress) {
        if mld.is_group() || address.is_group() || self.by_link.len() >= MAX_ENTRIES {
            return;
        }
        if self.of(address) != Some(mld) {
            self.forget(address);
            self.by_link.insert(address.to_u64(), mld);
        }
        let links = self.links.entry(mld.to_u64()).or_default();
        if let Some(known) = links.iter_mut().find(|(_, known)| *known == address) {
            known.0 = link.or(known.0);
        } else if links.len() < MAX_LINKS {
            links.push((link, address));
        }
    }

    fn forget(&mut self, address: MacAddress) {
        let Some(mld) = self.by_link.remove(&address.to_u64()) else {
            return;
        };
        if let Some(links) = self.links.get_mut(&mld.to_u64()) {
            links.retain(|(_, known)| *known != address);
            if links.is_empty() {
                self.links.remove(&mld.to_u64());
            }
        }
    }

    /// Address of an MLD on a link.
    fn on_link(&self, mld: MacAddress, id: u8) -> Option<MacAddress> {
        let links = self.links.get(&mld.to_u64())?;
        let found = links.iter().find(|(link, _)| *link == Some(id));
        found.map(|(_, address)| *address)
    }

    /// The MLDs of two addresses in their order, if both have one.
    fn both(&self, addresses: [MacAddress; 2]) -> Option<[MacAddress; 2]> {
        let [a, b] = addresses;
        Some([self.of(a)?, self.of(b)?])
    }
}

/// A link of an association.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KnownLink {
    /// Link ID; `None` if no frame named it.
    pub id: Option<u8>,
    /// Address of the station on the link; `None` if no frame named it.
    pub station: Option<MacAddress>,
    /// BSSID of the link; `None` if no frame named it.
    pub bssid: Option<MacAddress>,
}

/// A multi-link association.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Association {
    /// MLD address of the station.
    pub station: MacAddress,
    /// MLD address of the AP.
    pub access_point: MacAddress,
    /// Links by ID.
    pub links: Vec<KnownLink>,
}

impl Keyring {
    /// Learns the MLD and the links that a frame of `from` to `to` names.
    pub fn learn_links(&mut self, from: MacAddress, to: MacAddress, elements: &Elements<'_>) {
        if let Some(Ok(said)) = MultiLinkRepr::find(elements) {
            let further = said.profiles.iter().filter(|one| one.link < 15);
            let further = further.filter_map(|one| Some((Some(one.link), one.address?)));
            let all = std::iter::once((said.link, from)).chain(further);
            self.learn_mld(from, to, said.mld, &all.collect::<Vec<_>>());
        }
    }

    /// Learns from an association request: one without Multi-Link element is that of a station with
    /// one link.
    pub fn learn_association(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
        elements: &Elements<'_>,
    ) {
        match MultiLinkRepr::find(elements) {
            Some(Ok(_)) => {
                self.learn_links(station, bssid, elements);
                self.associate(station, bssid, true);
            }
            _ => self.mlds.forget(station),
        }
    }

    /// Learns from the response to an association request.
    pub fn learn_association_response(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
        elements: &Elements<'_>,
    ) {
        self.learn_links(bssid, station, elements);
        self.associate(station, bssid, false);
    }

    /// Learns from the MLO KDEs of key data of the authenticator, or else of the supplicant.
    pub(in crate::decrypt) fn learn_link_kdes(
        &mut self,
        authenticator: MacAddress,
        supplicant: MacAddress,
        from_authenticator: bool,
        data: &[u8],
    ) {
        let (from, to) = if from_authenticator {
            (authenticator, supplicant)
        } else {
            (supplicant, authenticator)
        };
        let mld = key_data::iterate(data).find_map(|item| match item {
            KeyData::Mac(mld) => Some(mld),
            _ => None,
        });
        let Some(mld) = mld else { return };
        let named = key_data::iterate(data).filter_map(|item| match item {
            KeyData::MloLink(one) if one.link < 15 => Some((Some(one.link), one.address)),
            _ => None,
        });
        let all: Vec<_> = std::iter::once((None, from)).chain(named).collect();
        self.learn_mld(from, to, mld, &all);
        self.associate(supplicant, authenticator, false);
    }

    fn learn_mld(
        &mut self,
        from: MacAddress,
        to: MacAddress,
        mld: MacAddress,
        links: &[(Option<u8>, MacAddress)],
    ) {
        let before = self.pair_key(from, to);
        for (link, address) in links {
            self.mlds.learn(mld, *link, *address);
        }
        // Both MLDs are known now: what the pair has belongs to them.
        let after = self.pair_key(from, to);
        if before != after
            && !to.is_group()
            && !self.pairs.contains_key(&after)
            && let Some(pair) = self.pairs.remove(&before)
        {
            self.pairs.insert(after, pair);
        }
    }

    /// Remembers the link on which two MLDs associate. A request says so anew; other frames only where
    /// none was seen.
    fn associate(&mut self, station: MacAddress, bssid: MacAddress, anew: bool) {
        let Some([mld, access_point]) = self.mlds.both([station, bssid]) else {
            return;
        };
        let key = pair_of(mld, access_point);
        let known = self.mlds.associations.contains_key(&key);
        if known && !anew || self.mlds.associations.len() >= MAX_ENTRIES {
            return;
        }
        self.mlds
            .associations
            .insert(key, LinkEnds { station, bssid });
        self.mlds.stations.insert(mld.to_u64(), station);
    }

    /// The address by which sessions name the station with this address: hosts use that of their MLD.
    pub(crate) fn station_of(&self, address: MacAddress) -> MacAddress {
        let of_mld = self.mlds.stations.get(&address.to_u64());
        of_mld.copied().unwrap_or(address)
    }

    /// The key of a pair: its MLDs where both have one.
    pub(in crate::decrypt) fn pair_key(&self, a: MacAddress, b: MacAddress) -> PairKey {
        match self.mlds.both([a, b]) {
            Some([a, b]) => pair_of(a, b),
            None => pair_of(a, b),
        }
    }

    /// The addresses that the pairwise keys of two addresses are bound to, in their order.
    pub(in crate::decrypt) fn key_addresses(&self, ends: [MacAddress; 2]) -> [MacAddress; 2] {
        self.mlds.both(ends).unwrap_or(ends)
    }

    /// The address on link `id` of the MLD that has this address on some link.
    pub(in crate::decrypt) fn on_link(&self, address: MacAddress, id: u8) -> Option<MacAddress> {
        self.mlds.on_link(self.mlds.of(address)?, id)
    }

    /// The addresses of both ends of an individually addressed frame, if both are MLDs.
    pub(in crate::decrypt) fn link_addresses(&self, frame: &Frame<'_>) -> Option<LinkAddresses> {
        let (to, from) = (frame.receiver()?, frame.transmitter()?);
        let [to_mld, from_mld] = self.mlds.both([to, from])?;
        let control = frame.control();
        let from_ap = control.from_ds() || !control.to_ds() && frame.address3() == Some(from);
        let (access_point, access_point_mld, station, station_mld) = if from_ap {
            (from, from_mld, to, to_mld)
        } else {
            (to, to_mld, from, from_mld)
        };
        Some(LinkAddresses {
            access_point: access_point.0,
            access_point_mld: access_point_mld.0,
            station: station.0,
            station_mld: station_mld.0,
        })
    }

    /// Station and AP as their session names them: those of the link of the association.
    pub(crate) fn associated(&self, station: MacAddress, bssid: MacAddress) -> LinkEnds {
        let known = self.mlds.both([station, bssid]);
        let found = known.and_then(|[a, b]| self.mlds.associations.get(&pair_of(a, b)));
        found.copied().unwrap_or(LinkEnds { station, bssid })
    }

    /// The multi-link association of a station and an AP, if it is one.
    pub(crate) fn association(
        &self,
        station: MacAddress,
        bssid: MacAddress,
    ) -> Option<Association> {
        let [mld, access_point] = self.mlds.both([station, bssid])?;
        let key = pair_of(mld, access_point);
        if self.mlds.associations.get(&key) != Some(&LinkEnds { station, bssid }) {
            return None;
        }
        let of = |mld: MacAddress| self.mlds.links.get(&mld.to_u64());
        let theirs = of(access_point).map_or(&[][..], Vec::as_slice);
        let id = theirs
            .iter()
            .find(|(_, at)| *at == bssid)
            .and_then(|(id, _)| *id);
        let mut links: Vec<KnownLink> = of(mld)
            .into_iter()
            .flatten()
            .map(|(own, address)| {
                let id = if *address == station {
                    id.or(*own)
                } else {
                    *own
                };
                let bssid = if *address == station {
                    Some(bssid)
                } else {
                    let same = |(link, _): &&(Option<u8>, MacAddress)| id.is_some() && *link == id;
                    theirs.iter().find(same).map(|(_, bssid)| *bssid)
                };
                KnownLink {
                    id,
                    station: Some(*address),
                    bssid,
                }
            })
            .collect();
        links.sort_by_key(|link| link.id);
        Some(Association {
            station: mld,
            access_point,
            links,
        })
    }

    /// Why no pairwise key of these two is there, as far as MLDs are the reason: the station associated
    /// as an MLD, and no frame named the MLD of the AP.
    pub(in crate::decrypt) fn without_mld(
        &self,
        a: MacAddress,
        b: MacAddress,
    ) -> Option<Undecrypted> {
        let missing = |ap: MacAddress, station: MacAddress| {
            self.mlds.of(station).is_some() && self.mlds.of(ap).is_none() && self.bss(ap).is_some()
        };
        (missing(a, b) || missing(b, a)).then_some(Undecrypted::MultiLink)
    }
}
