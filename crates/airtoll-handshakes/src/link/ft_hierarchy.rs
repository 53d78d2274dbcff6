//! The key hierarchy of fast transition for a link (802.11-2020, 12.7.1.6), with its work named: what
//! an initial association and a transition share.
//!
//! Takes a link with a mobility domain and the key above it; gives PMK-R0, PMK-R1 and PTK. Never
//! sends a frame.

use crate::exchange::Context;
use crate::link::agreed::{Link, record_kdf};
use airtoll_security::akm::AkmSuite;
use airtoll_security::keys::{FtIdentity, PmkR0, PmkR1, Ptk};

/// PMK-R0 from the XXKey (PSK, PMK of SAE, or part of the MSK); `None` without a mobility domain.
pub(crate) fn pmk_r0(link: &Link, xxkey: &[u8]) -> Option<PmkR0> {
    let domain = link.mobility_domain.as_ref()?;
    let identity = FtIdentity {
        ssid: &link.ssid,
        mobility_domain: domain.identifier,
        r0_key_holder: &domain.r0_key_holder,
        station: link.station,
    };
    let akm = link.akm.unwrap_or(AkmSuite::FtPsk);
    PmkR0::derive(akm, link.akm_hash(), xxkey, &identity).ok()
}

/// PMK-R1 of the link's access point, and the PTK of these nonces.
pub(crate) fn below_r0(
    context: &mut Context<'_>,
    link: &Link,
    r0: &PmkR0,
    anonce: &[u8; 32],
    snonce: &[u8; 32],
) -> Option<(PmkR1, Ptk)> {
    let (akm, hash) = (link.akm.unwrap_or(AkmSuite::FtPsk), link.akm_hash());
    let octets = akm.kck_octets(hash) + akm.kek_octets(hash) + link.pairwise.key_octets();
    record_kdf(context, hash, hash.octets(), 17, hash.octets());
    record_kdf(context, hash, hash.octets(), 82, octets);
    let r1 = r0.r1(link.access_point);
    let (bssid, station) = (link.access_point, link.station);
    let (ptk, _) = r1.ptk(link.pairwise, bssid, station, anonce, snonce).ok()?;
    Some((r1, ptk))
}
