//! Keys of TDLS direct links: takes set-up responses and confirms, gives the pairwise key.
//!
//! Source: IEEE 802.11-2020 clauses 12.7.8.2 (TPK) and 9.6.12 (frames). The key follows from
//! fields of the frames: a node that can read them in the BSS can read the direct link.

use airtoll_security::keys::prf::kdf;
use airtoll_security::{AkmHash, CipherSuite};
use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::ft::FteRepr;
use airtoll_wire::ieee80211::{Elements, RsnRepr};
use airtoll_wire::{Cursor, MacAddress};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::Keyring;
use crate::decrypt::traffic::TrafficKey;

/// Payload type of TDLS in 802.11 data encapsulation.
const PAYLOAD_TDLS: u8 = 2;
/// Category of TDLS action fields.
const CATEGORY: u8 = 12;
const SETUP_RESPONSE: u8 = 1;
const SETUP_CONFIRM: u8 = 2;
const LINK_IDENTIFIER: u8 = 101;
const KCK: usize = 16;

impl Keyring {
    /// Learns from the payload of EtherType 89-0D.
    pub fn learn_tdls(&mut self, octets: &[u8]) {
        if let Some(link) = direct_link(octets) {
            self.add_pairwise(link.initiator, link.responder, link.key);
        }
    }
}

/// A direct link.
struct DirectLink {
    initiator: MacAddress,
    responder: MacAddress,
    key: TrafficKey,
}

/// That of a set-up response or confirm that carries both nonces.
fn direct_link(octets: &[u8]) -> Option<DirectLink> {
    let mut cursor = Cursor::new("TDLS", octets);
    let (payload, category) = (cursor.u8().ok()?, cursor.u8().ok()?);
    if (payload, category) != (PAYLOAD_TDLS, CATEGORY) {
        return None;
    }
    // Status and dialog token, and in a response the capability field.
    let fixed = match cursor.u8().ok()? {
        SETUP_RESPONSE => 5,
        SETUP_CONFIRM => 3,
        _ => return None,
    };
    if cursor.take(fixed).ok()?.get(..2) != Some(&[0, 0]) {
        return None;
    }
    let elements = Elements::new(cursor.rest());
    let link: &[u8; 18] = elements.find_id(LINK_IDENTIFIER)?.first_chunk()?;
    let (bssid, initiator, responder) = (&link[..6], &link[6..12], &link[12..]);
    let fte = FteRepr::parse(elements.find_id(id::FAST_TRANSITION)?, 16).ok()?;
    if *fte.anonce == [0; 32] || *fte.snonce == [0; 32] {
        return None;
    }
    let rsn = RsnRepr::parse(elements.find_id(id::RSN)?).ok()?;
    let suite = CipherSuite::from_selector(rsn.pairwise.first()?.0)?;
    let mut hash = Sha256::new();
    hash.update(fte.anonce.min(fte.snonce));
    hash.update(fte.anonce.max(fte.snonce));
    let input = hash.finalize();
    let mut tpk = Zeroizing::new(vec![0; KCK + suite.key_octets()]);
    let context = [initiator.min(responder), initiator.max(responder), bssid];
    kdf(AkmHash::Sha256, &input, "TDLS PMK", &context, &mut tpk);
    Some(DirectLink {
        initiator: MacAddress::from_slice(initiator).ok()?,
        responder: MacAddress::from_slice(responder).ok()?,
        key: TrafficKey::new(suite, None, &tpk[KCK..])?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_wire::ieee80211::suite::{AkmSelector, CipherSelector};
    use airtoll_wire::ieee80211::{Element, element};
    use proptest::prelude::*;

    fn confirm() -> Vec<u8> {
        let mut octets = vec![PAYLOAD_TDLS, CATEGORY, SETUP_CONFIRM, 0, 0, 1];
        let ccmp = CipherSelector([0, 0x0f, 0xac, 4]);
        RsnRepr::single(ccmp, ccmp, AkmSelector([0, 0x0f, 0xac, 7])).emit_element(&mut octets);
        let mut fte = Vec::new();
        FteRepr {
            mic_control: [0, 3],
            mic: &[0; 16],
            anonce: &[1; 32],
            snonce: &[2; 32],
            r1kh_id: None,
            gtk: None,
            r0kh_id: None,
            igtk: None,
            oci: None,
            bigtk: None,
        }
        .emit(&mut fte);
        let mut link = vec![6; 6];
        link.extend([8; 6]);
        link.extend([4; 6]);
        for (id, body) in [
            (element::id::FAST_TRANSITION, &fte),
            (LINK_IDENTIFIER, &link),
        ] {
            Element { id, body }.emit(&mut octets);
        }
        octets
    }

    #[test]
    fn both_sides_are_named_and_a_refusal_gives_no_key() {
        let link = direct_link(&confirm()).unwrap();
        assert_eq!(
            (link.initiator, link.responder),
            (MacAddress([8; 6]), MacAddress([4; 6]))
        );
        assert_eq!(
            (link.key.suite(), link.key.octets().len()),
            (CipherSuite::Ccmp128, 16)
        );
        let mut refused = confirm();
        refused[3] = 1;
        assert!(direct_link(&refused).is_none());
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(at in 0usize..200, value: u8, cut in 0usize..200) {
            let mut octets = confirm();
            let at = at % octets.len();
            octets[at] = value;
            octets.truncate(octets.len() - cut % octets.len());
            let _ = direct_link(&octets);
        }
    }
}
