//! MSDUs out of fragments: takes the plaintext of each fragment, gives the MSDU with the last.
//!
//! Source: IEEE 802.11-2020 clauses 10.4 and 10.5. Bounded; a gap loses the MSDU, a repeated
//! fragment changes nothing. Never mixes transmitters, receivers, TIDs or sequence numbers.

use airtoll_wire::ieee80211::Frame;
use rustc_hash::FxHashMap;

/// Most MSDUs whose fragments are kept at a time.
const MAX_PARTIAL: usize = 512;
/// Most octets of one MSDU.
const MAX_MSDU: usize = 12_000;

/// MSDUs that wait for their next fragment.
#[derive(Debug, Default)]
pub(super) struct Fragments {
    partial: FxHashMap<(u64, u64, u16), Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    octets: Vec<u8>,
    next: u8,
}

impl Fragments {
    /// Takes a fragment that opened to `plain`.
    pub(super) fn join(
        &mut self,
        frame: &Frame<'_>,
        plain: &[u8],
        fragment: u8,
        more: bool,
    ) -> Option<Vec<u8>> {
        let key = (
            frame.transmitter()?.to_u64(),
            frame.receiver()?.to_u64(),
            frame.sequence_number()? << 4 | frame.qos_control().unwrap_or(0) & 15,
        );
        if fragment == 0 {
            if self.partial.len() >= MAX_PARTIAL {
                self.partial.clear();
            }
            let partial = Partial {
                octets: plain.to_vec(),
                next: 1,
            };
            self.partial.insert(key, partial);
            return None;
        }
        let partial = self.partial.get_mut(&key)?;
        if partial.next != fragment || partial.octets.len() + plain.len() > MAX_MSDU {
            // A repeated fragment changes nothing; a gap loses the MSDU.
            if fragment >= partial.next {
                self.partial.remove(&key);
            }
            return None;
        }
        partial.octets.extend_from_slice(plain);
        partial.next += 1;
        if more {
            return None;
        }
        self.partial.remove(&key).map(|partial| partial.octets)
    }
}
