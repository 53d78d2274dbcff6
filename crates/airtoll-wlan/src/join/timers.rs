//! Time-outs of the parties: how long a party waits in a stage, by the message that it sent last.
//! The party itself decides whether it then repeats the message or gives up.

use airtoll_handshakes::tunnel::encapsulation;
use airtoll_handshakes::tunnel::wireguard::ROSENPASS_PORT;
use airtoll_handshakes::{Carrier, Negotiation, Party, Stage};
use airtoll_units::{Duration, Instant};
use airtoll_wire::openvpn::PORT as OPENVPN_PORT;

/// A party's timer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timer {
    pub deadline: Instant,
    /// Time-outs since the last message to the party.
    tries: u32,
    carrier: Option<Carrier>,
}

impl Default for Timer {
    fn default() -> Self {
        Self {
            deadline: Instant::MAX,
            tries: 0,
            carrier: None,
        }
    }
}

/// Linux mac80211 repeats authentication and association frames after 200 ms
/// (`IEEE80211_AUTH_TIMEOUT` and `IEEE80211_ASSOC_TIMEOUT` in net/mac80211/ieee80211_i.h).
const MAC80211_REPEAT: Duration = Duration::from_millis(200);
/// Linux mac80211 repeats SAE's authentication frames after 2 s (`IEEE80211_AUTH_TIMEOUT_SAE` in
/// net/mac80211/mlme.c), hostapd repeats none outside a mesh (`sae_set_retransmit_timer` in
/// src/ap/ieee802_11.c); dot11RSNASAERetransPeriod of 40 ms (IEEE 802.11-2020, 12.4.8.2) is for
/// peers without retransmission in a layer below.
const SAE_REPEAT: Duration = Duration::from_secs(2);
/// Wait of an AP for a station; longer than the station's own repetitions.
const ACCESS_POINT_PATIENCE: Duration = Duration::from_secs(1);
/// EAP retransmission before a round trip is known (RFC 3748 section 4.3), doubled up to 20 s.
const EAP_REPEAT: Duration = Duration::from_secs(3);
const EAP_LONGEST: Duration = Duration::from_secs(20);
/// Retransmission of RADIUS requests: IRT of 2 s, doubled up to MRT (RFC 5080 section 2.2.1).
const RADIUS_REPEAT: Duration = Duration::from_secs(2);
const RADIUS_LONGEST: Duration = Duration::from_secs(16);
/// The supplicant counts seven of these before it starts again: 35 s, somewhat more than authPeriod
/// (30 s, IEEE 802.1X-2004, 8.2.2.1.2), so that the AP notices a silent server first.
const SUPPLICANT_PERIOD: Duration = Duration::from_secs(5);
/// EAPOL-Key time-outs of hostapd (eapol_key_timeout_first, eapol_key_timeout_subseq).
const KEY_FIRST: Duration = Duration::from_millis(100);
const KEY_LATER: Duration = Duration::from_secs(1);
/// The same of a group key handshake (eapol_key_timeout_first_group).
const GROUP_KEY_FIRST: Duration = Duration::from_millis(500);
/// Registration requests and solicitations of Mobile IP: a second apart at first, then doubled
/// (RFC 5944 sections 2.4 and 3.6.3).
const MOBILE_IP_REPEAT: Duration = Duration::from_secs(1);
/// IKE: retransmit-interval of libreswan, doubled every time.
const IKE_REPEAT: Duration = Duration::from_millis(500);
/// WireGuard's Rekey-Timeout (Donenfeld 2017, section 6.1).
const WIREGUARD_REPEAT: Duration = Duration::from_secs(5);
/// Rosenpass' RETRANSMIT_DELAY_BEGIN, doubled up to RETRANSMIT_DELAY_END (white paper, section 3.3).
const ROSENPASS_REPEAT: Duration = Duration::from_millis(500);
const ROSENPASS_LONGEST: Duration = Duration::from_secs(10);
/// OpenVPN's `--tls-timeout`, doubled every time (`reliable_send` in src/openvpn/reliable.c).
const OPENVPN_REPEAT: Duration = Duration::from_secs(2);
/// The ports of IKE (RFC 7296 section 2).
const IKE_PORT: u16 = 500;
const NAT_PORT: u16 = encapsulation::PORT;

/// Pauses after failed attempts (`wpas_connection_failed` in wpa_supplicant.c).
pub(super) const PAUSES: [Duration; 5] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(10),
];

impl Timer {
    /// The party sent a message.
    pub const fn sent(&mut self, carrier: Carrier) {
        self.carrier = Some(carrier);
    }

    /// The party answered a message.
    pub const fn heard(&mut self) {
        self.tries = 0;
    }

    /// The timer ran out.
    pub const fn ran_out(&mut self) {
        self.tries += 1;
    }

    /// Time until the next time-out.
    pub fn wait(&self, stage: Stage, party: Party, negotiation: &Negotiation) -> Duration {
        let sae = negotiation.link().akm.is_some_and(|akm| akm.is_sae());
        match stage {
            Stage::Authentication if party == Party::Station && sae => SAE_REPEAT,
            Stage::Authentication if sae => {
                let stated = negotiation.authentication_timeout_ms();
                let stated = stated.map(|ms| Duration::from_millis(u64::from(ms)));
                stated.unwrap_or(ACCESS_POINT_PATIENCE)
            }
            Stage::Authentication | Stage::Association | Stage::FastTransition => match party {
                Party::Station => MAC80211_REPEAT,
                _ => ACCESS_POINT_PATIENCE,
            },
            Stage::Eap => match (party, self.carrier) {
                (Party::AccessPoint, Some(Carrier::Radius)) => {
                    doubled(RADIUS_REPEAT, self.tries, RADIUS_LONGEST)
                }
                (Party::AccessPoint, _) => doubled(EAP_REPEAT, self.tries, EAP_LONGEST),
                _ => SUPPLICANT_PERIOD,
            },
            Stage::Keys => match party {
                Party::AccessPoint if self.tries == 0 => KEY_FIRST,
                _ => KEY_LATER,
            },
            Stage::GroupKeys => match party {
                Party::AccessPoint if self.tries == 0 => GROUP_KEY_FIRST,
                _ => KEY_LATER,
            },
            Stage::MobileIp => doubled(MOBILE_IP_REPEAT, self.tries, Duration::from_secs(60)),
            Stage::Tunnel | Stage::TunnelMove => match (party, self.carrier) {
                (Party::Station, Some(Carrier::Udp(IKE_PORT | NAT_PORT)) | None) => {
                    doubled(IKE_REPEAT, self.tries, Duration::from_secs(60))
                }
                (Party::Station, Some(Carrier::Udp(ROSENPASS_PORT))) => {
                    doubled(ROSENPASS_REPEAT, self.tries, ROSENPASS_LONGEST)
                }
                (_, Some(Carrier::Udp(OPENVPN_PORT))) => {
                    doubled(OPENVPN_REPEAT, self.tries, Duration::from_secs(60))
                }
                (Party::Station, _) => WIREGUARD_REPEAT,
                _ => doubled(IKE_REPEAT, self.tries, Duration::from_secs(60)),
            },
        }
    }
}

fn doubled(first: Duration, tries: u32, longest: Duration) -> Duration {
    (first * (1_u64 << tries.min(20))).min(longest)
}
