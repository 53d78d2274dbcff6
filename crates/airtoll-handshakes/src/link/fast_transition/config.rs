//! Shared settings of a fast transition, and the elements that prove them (802.11-2020, 13.8).
//!
//! Takes an [`FtConfig`] and nonces; gives a PTK, and RSN, mobility domain and FT elements with
//! their MIC, and checks the other end's. Never sends a frame.

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::RsnRepr;
use airtoll_wire::ieee80211::element::{Elements, id};
use airtoll_wire::ieee80211::ft::FteRepr;

use crate::exchange::Context;
use crate::link::agreed::{Link, element};
use crate::link::ft_hierarchy::{below_r0, pmk_r0};
use crate::link::key_handshake::GroupKeys;
use crate::octets::{equal, written};
use airtoll_security::keys::{KeyMic, PmkR0, Ptk};

/// Settings that both ends share.
#[derive(Debug, Clone)]
pub struct FtConfig {
    /// The link to the target AP, with its mobility domain.
    pub link: Link,
    /// PSK, PMK of SAE, or part of the MSK (12.7.1.6.3).
    pub xxkey: Vec<u8>,
    /// The AP that the station leaves.
    pub old_access_point: MacAddress,
    /// Through the old AP instead of over the air.
    pub over_the_ds: bool,
    /// Group keys of the target AP; it draws some where there are none.
    pub group_keys: Option<GroupKeys>,
}

/// A PTK and the names on the way to it.
pub(super) struct Derived {
    pub ptk: Ptk,
    pub r0_name: [u8; 16],
    pub r1_name: [u8; 16],
}

impl FtConfig {
    pub(super) fn r0_key_holder(&self) -> &[u8] {
        self.link
            .mobility_domain
            .as_ref()
            .map_or(&[], |domain| &domain.r0_key_holder)
    }

    pub(super) fn mic(&self) -> KeyMic {
        self.link.key_mic().unwrap_or(KeyMic::AesCmac)
    }

    pub(super) fn r0(&self) -> Option<PmkR0> {
        pmk_r0(&self.link, &self.xxkey)
    }

    /// PMK-R0 is cached since the initial association; PMK-R1 and the PTK are new.
    pub(super) fn derive(
        &self,
        context: &mut Context<'_>,
        anonce: &[u8; 32],
        snonce: &[u8; 32],
    ) -> Option<Derived> {
        let r0 = self.r0()?;
        let (r1, ptk) = below_r0(context, &self.link, &r0, anonce, snonce)?;
        Some(Derived {
            ptk,
            r0_name: r0.name(),
            r1_name: r1.name(),
        })
    }

    /// RSN, mobility domain, FT and RSN extension elements; `protect` is the transaction and the
    /// KCK.
    pub(super) fn elements(
        &self,
        context: &mut Context<'_>,
        name: [u8; 16],
        fte: &FteRepr<'_>,
        protect: Option<(u8, &[u8])>,
    ) -> Vec<u8> {
        let rsne = self.link.security_element(&[name]);
        let mde = self.link.mobility_element();
        let rsnxe = self.link.extension_element();
        let mut body = written(|out| fte.emit(out));
        if let Some((transaction, kck)) = protect {
            body[1] = if rsnxe.is_empty() { 3 } else { 4 };
            let fte = element(id::FAST_TRANSITION, &body);
            let mic = self.compute_mic(context, transaction, kck, &[&rsne, &mde, &fte, &rsnxe]);
            body[2..2 + mic.len()].copy_from_slice(&mic);
        }
        let fte = element(id::FAST_TRANSITION, &body);
        [rsne, mde, fte, rsnxe].concat()
    }

    /// 13.8.4 and 13.8.5, over RSN, mobility domain, FT (its MIC zero) and RSN extension element.
    pub(super) fn compute_mic(
        &self,
        context: &mut Context<'_>,
        transaction: u8,
        kck: &[u8],
        protected: &[&[u8]; 4],
    ) -> Vec<u8> {
        let octets: usize = protected.iter().map(|element| element.len()).sum();
        context.record_aes(16, 1 + (13 + octets).div_ceil(16));
        let [rsne, mde, fte, rsnxe] = *protected;
        let parts: [&[u8]; 7] = [
            self.link.station.octets(),
            self.link.access_point.octets(),
            &[transaction],
            rsne,
            mde,
            fte,
            rsnxe,
        ];
        self.mic()
            .compute(kck, &parts)
            .map(|mic| mic.as_slice().to_vec())
            .unwrap_or_default()
    }

    /// Whether the elements carry this name and, with `protect`, a right MIC.
    pub(super) fn verify(
        &self,
        context: &mut Context<'_>,
        elements: &Elements<'_>,
        name: [u8; 16],
        protect: (u8, &[u8]),
    ) -> bool {
        let (Some(rsne), Some(fte)) = (
            elements.find_id(id::RSN),
            elements.find_id(id::FAST_TRANSITION),
        ) else {
            return false;
        };
        let named = RsnRepr::parse(rsne).is_ok_and(|rsne| rsne.pmkids == [name]);
        let mde = elements.find_id(id::MOBILITY_DOMAIN).unwrap_or_default();
        let mde = element(id::MOBILITY_DOMAIN, mde);
        let octets = self.mic().octets();
        let Some(found) = fte.get(2..2 + octets) else {
            return false;
        };
        let mut zeroed = fte.to_vec();
        zeroed[2..2 + octets].fill(0);
        let rsne = element(id::RSN, rsne);
        let zeroed = element(id::FAST_TRANSITION, &zeroed);
        let rsnxe = elements
            .find_id(id::RSN_EXTENSION)
            .map_or(Vec::new(), |body| element(id::RSN_EXTENSION, body));
        let protected = [&rsne[..], &mde, &zeroed, &rsnxe];
        let mic = self.compute_mic(context, protect.0, protect.1, &protected);
        named && mde == self.link.mobility_element() && equal(found, &mic)
    }
}

/// Nonces and MIC of an FT element without keys.
pub(super) fn fte<'a>(
    mic: &'a [u8],
    anonce: &'a [u8; 32],
    snonce: &'a [u8; 32],
    r0_key_holder: &'a [u8],
) -> FteRepr<'a> {
    FteRepr {
        mic_control: [0, 0],
        mic,
        anonce,
        snonce,
        r1kh_id: None,
        gtk: None,
        r0kh_id: Some(r0_key_holder),
        igtk: None,
        oci: None,
        bigtk: None,
    }
}
