//! Inputs of the ciphers from an MPDU header: its length, the AAD, the priority and the addresses.
//!
//! Takes a frame of protocol version 0 from the Frame Control field on; gives [`Header`]. Never
//! touches the payload, and knows control frames only to refuse them.

use super::replay::Counter;
use crate::error::CipherError;

/// Frame Control, second octet.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY_POWER_MORE_DATA: u8 = 0x38;
const PROTECTED: u8 = 0x40;
const HTC: u8 = 0x80;
/// QoS Control: A-MSDU Present.
const AMSDU: u8 = 0x80;

/// Destination and source address of an MSDU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MsduAddresses {
    /// DA.
    pub destination: [u8; 6],
    /// SA.
    pub source: [u8; 6],
}

/// The header of a data or management frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    length: usize,
    /// Length in two octets, then the AAD, then zeros: as CCM takes them.
    encoded_aad: [u8; 32],
    tid: Option<u8>,
    management: bool,
    to_ds: bool,
    from_ds: bool,
    protected: bool,
    more_fragments: bool,
    fragment: u8,
    address4: Option<[u8; 6]>,
}

impl Header {
    /// Reads the header of a data or management MPDU.
    ///
    /// # Errors
    /// A frame that ends inside its header, another protocol version, a control or extension
    /// frame.
    pub fn parse(frame: &[u8]) -> Result<Self, CipherError> {
        Self::parse_with(frame, false)
    }

    /// As [`parse`](Self::parse); with `spp_amsdu` the A-MSDU Present bit enters the AAD, as it
    /// does between stations that both announce SPP A-MSDUs (12.5.3.3.3).
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with(frame: &[u8], spp_amsdu: bool) -> Result<Self, CipherError> {
        let fixed: &[u8; 24] = frame.first_chunk().ok_or(CipherError::TooShort {
            needed: 24,
            got: frame.len(),
        })?;
        let [control, flags] = [fixed[0], fixed[1]];
        if control & 0x03 != 0 {
            return Err(CipherError::Malformed("not a frame of protocol version 0"));
        }
        let management = match control & 0x0c {
            0x00 => true,
            0x08 => false,
            _ => return Err(CipherError::Malformed("neither data nor management frame")),
        };
        let qos = !management && control & 0x80 != 0;
        let four = !management && flags & (TO_DS | FROM_DS) == TO_DS | FROM_DS;
        let with_htc = flags & HTC != 0 && (management || qos);
        let tail = 24 + if four { 6 } else { 0 };
        let length = tail + if qos { 2 } else { 0 } + if with_htc { 4 } else { 0 };
        if frame.len() < length {
            return Err(CipherError::TooShort {
                needed: length,
                got: frame.len(),
            });
        }
        let mut encoded_aad = [0; 32];
        let aad = &mut encoded_aad[2..];
        // Bits that change on retransmission or that the receiver cannot know are masked to zero.
        aad[0] = if management { control } else { control & !0x70 };
        aad[1] = flags & !RETRY_POWER_MORE_DATA | PROTECTED;
        if qos {
            aad[1] &= !HTC;
        }
        aad[2..20].copy_from_slice(&fixed[4..22]);
        aad[20] = fixed[22] & 0x0f;
        let mut aad_length = 22;
        let mut address4 = None;
        if four {
            let address: [u8; 6] = frame[24..30].try_into().expect("six octets");
            aad[22..28].copy_from_slice(&address);
            address4 = Some(address);
            aad_length = 28;
        }
        let mut tid = None;
        if qos {
            tid = Some(frame[tail] & 0x0f);
            aad[aad_length] = frame[tail] & if spp_amsdu { 0x0f | AMSDU } else { 0x0f };
            aad_length += 2;
        }
        encoded_aad[1] = aad_length as u8;
        Ok(Self {
            length,
            encoded_aad,
            tid,
            management,
            to_ds: flags & TO_DS != 0,
            from_ds: flags & FROM_DS != 0,
            protected: flags & PROTECTED != 0,
            more_fragments: flags & 0x04 != 0,
            fragment: fixed[22] & 0x0f,
            address4,
        })
    }

    /// Octets of MAC header, HT Control included.
    #[must_use]
    pub const fn length(&self) -> usize {
        self.length
    }

    /// AAD of CCMP and GCMP (IEEE 802.11-2020, 12.5.3.3.3): 22, 24, 28 or 30 octets.
    #[must_use]
    pub fn aad(&self) -> &[u8] {
        &self.encoded_aad[2..2 + usize::from(self.encoded_aad[1])]
    }

    /// The AAD as CCM takes it (RFC 3610, 2.2): 16-bit length, AAD, zeros to two blocks.
    #[must_use]
    pub const fn encoded_aad(&self) -> [u8; 32] {
        self.encoded_aad
    }

    /// Priority: the TID, 0 without QoS Control.
    #[must_use]
    pub fn priority(&self) -> u8 {
        self.tid.unwrap_or(0)
    }

    /// Whether it is a management frame.
    #[must_use]
    pub const fn is_management(&self) -> bool {
        self.management
    }

    /// Whether the Protected Frame bit is set.
    #[must_use]
    pub const fn is_protected(&self) -> bool {
        self.protected
    }

    /// Whether the From DS bit is set: without To DS its transmitter is an AP.
    #[must_use]
    pub const fn is_from_ds(&self) -> bool {
        self.from_ds
    }

    /// Whether it has four addresses, so that its bits do not tell which end is the AP.
    #[must_use]
    pub const fn has_four_addresses(&self) -> bool {
        self.address4.is_some()
    }

    /// Whether it is one fragment of several.
    #[must_use]
    pub const fn is_fragment(&self) -> bool {
        self.more_fragments || self.fragment != 0
    }

    /// Transmitter address, A2.
    #[must_use]
    pub fn transmitter(&self) -> [u8; 6] {
        self.address(2)
    }

    /// Addresses of the MSDU (IEEE 802.11-2020, table 9-30).
    #[must_use]
    pub fn msdu_addresses(&self) -> MsduAddresses {
        let (destination, source) = match (self.to_ds, self.from_ds) {
            (false, false) => (self.address(1), self.address(2)),
            (false, true) => (self.address(1), self.address(3)),
            (true, false) => (self.address(3), self.address(2)),
            (true, true) => (self.address(3), self.address4.unwrap_or_default()),
        };
        MsduAddresses {
            destination,
            source,
        }
    }

    /// The replay counter the frame belongs to.
    #[must_use]
    pub fn counter(&self) -> Counter {
        if self.management {
            Counter::Management
        } else {
            Counter::Data(self.priority())
        }
    }

    fn address(&self, number: usize) -> [u8; 6] {
        let start = 4 + 6 * (number - 1);
        self.encoded_aad[start..start + 6]
            .try_into()
            .expect("six octets")
    }
}

/// Sets the Protected Frame bit.
pub(super) fn set_protected(frame: &mut [u8]) {
    if let Some(flags) = frame.get_mut(1) {
        *flags |= PROTECTED;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(control: u8, flags: u8) -> Vec<u8> {
        let mut frame = vec![control, flags, 0xff, 0xff];
        frame.extend(1..=18);
        frame.extend([0xf3, 0x7a]);
        frame.extend([0x41; 6]);
        frame.extend([0xb5, 0x99, 0, 0, 0, 0]);
        frame
    }

    #[test]
    fn lengths_of_every_shape() {
        for (control, flags, length, aad) in [
            (0x08, 0x01, 24, 22),
            (0x08, 0x03, 30, 28),
            (0x88, 0x02, 26, 24),
            (0x88, 0x03, 32, 30),
            (0x88, 0x82, 30, 24),
            (0xc0, 0x00, 24, 22),
            (0xd0, 0x80, 28, 22),
        ] {
            let header = Header::parse(&frame(control, flags)).unwrap();
            assert_eq!((header.length(), header.aad().len()), (length, aad));
        }
    }

    #[test]
    fn only_lasting_bits_enter_the_aad() {
        let header = Header::parse(&frame(0xf8, 0xbb)).unwrap();
        let aad = header.aad();
        assert_eq!(
            aad[..2],
            [0x88, 0x43],
            "subtype, retry, power, more data and HTC masked"
        );
        assert_eq!(
            aad[20..22],
            [0x03, 0],
            "fragment number kept, sequence number masked"
        );
        assert_eq!(aad[22..28], [0x41; 6]);
        assert_eq!(aad[28..30], [0x05, 0], "TID only");
        assert_eq!(
            Header::parse_with(&frame(0xf8, 0xbb), true).unwrap().aad()[28],
            0x85,
            "A-MSDU Present counts between SPP A-MSDU stations"
        );
        let management = Header::parse(&frame(0xc0, 0x38)).unwrap();
        assert_eq!(management.aad()[..2], [0xc0, 0x40]);
        assert_eq!(management.counter(), Counter::Management);
    }

    #[test]
    fn control_frames_and_stumps_are_refused() {
        assert!(Header::parse(&frame(0xb4, 0)).is_err());
        assert!(Header::parse(&frame(0x09, 0)).is_err());
        for length in 0..32 {
            assert!(Header::parse(&frame(0x88, 0x03)[..length]).is_err());
        }
    }
}
