//! Addresses between multi-link devices (MLDs): the ciphers take those of the devices, the air those of
//! one link.
//!
//! Takes an individually addressed data frame with the addresses of a link; runs a cipher on it with
//! the MLD addresses in their places, so that AAD and nonce hold these (IEEE 802.11be-2024, 12.5.2.3.3 and
//! 12.5.2.3.4 for CCMP, 12.5.4.3.3 and 12.5.4.3.4 for GCMP). Frames to groups keep the addresses of
//! their link. Never chooses a key.

/// The addresses of two MLDs on one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LinkAddresses {
    /// Address of the AP on the link, its BSSID.
    pub access_point: [u8; 6],
    /// MLD address of the AP.
    pub access_point_mld: [u8; 6],
    /// Address of the station on the link.
    pub station: [u8; 6],
    /// MLD address of the station.
    pub station_mld: [u8; 6],
}

impl LinkAddresses {
    /// Runs `cipher` on a frame whose first three addresses are those of the MLDs, then restores them.
    /// Address 3 changes only where it is the BSSID. Any other frame is left as it is.
    pub fn translated<R>(&self, frame: &mut [u8], cipher: impl FnOnce(&mut [u8]) -> R) -> R {
        let Some(before) = frame.get(4..).and_then(<[u8]>::first_chunk::<18>).copied() else {
            return cipher(frame);
        };
        self.translate(frame);
        let result = cipher(frame);
        frame[4..22].copy_from_slice(&before);
        result
    }

    /// Puts the MLD addresses into a frame for good.
    pub fn translate(&self, frame: &mut [u8]) {
        for (number, at) in [4, 10, 16].into_iter().enumerate() {
            let Some(address) = frame.get_mut(at..at + 6) else {
                return;
            };
            if *address == self.access_point {
                address.copy_from_slice(&self.access_point_mld);
            } else if number < 2 && *address == self.station {
                address.copy_from_slice(&self.station_mld);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::gcmp::GcmpKey;

    const LINK: LinkAddresses = LinkAddresses {
        access_point: [2; 6],
        access_point_mld: [3; 6],
        station: [4; 6],
        station_mld: [5; 6],
    };

    fn frame(flags: u8, addresses: [u8; 3]) -> Vec<u8> {
        let mut frame = vec![0x88, flags, 0, 0];
        for octet in addresses {
            frame.extend([octet; 6]);
        }
        frame.extend([0, 0, 0, 0]);
        frame.extend([0; 8]);
        frame.extend(b"payload");
        frame.extend([0; 16]);
        frame
    }

    #[test]
    fn one_key_opens_a_frame_of_every_link_by_its_own_addresses() {
        let key = GcmpKey::new(&[7; 32]).unwrap();
        let mut sealed = frame(0x01, [2, 4, 9]);
        LINK.translated(&mut sealed, |frame| key.encapsulate(frame, 1, 0))
            .unwrap();
        assert_eq!(sealed[4..22], frame(0x01, [2, 4, 9])[4..22]);
        let mut by_link = sealed.clone();
        assert!(key.decapsulate(&mut by_link).is_err());
        // The same MPDU on another link has other addresses and opens all the same.
        let mut elsewhere = sealed.clone();
        elsewhere[4..10].fill(0x22);
        elsewhere[10..16].fill(0x44);
        let other = LinkAddresses {
            access_point: [0x22; 6],
            station: [0x44; 6],
            ..LINK
        };
        let opened = other
            .translated(&mut elsewhere, |frame| key.decapsulate(frame))
            .unwrap();
        assert_eq!(&elsewhere[opened.payload], b"payload");
    }

    #[test]
    fn address_3_changes_where_it_is_the_bssid() {
        let seen = |addresses| {
            let mut octets = frame(0x02, addresses);
            LINK.translated(&mut octets, |frame| [frame[4], frame[10], frame[16]])
        };
        assert_eq!(seen([4, 2, 2]), [5, 3, 3]);
        assert_eq!(seen([4, 2, 4]), [5, 3, 4]);
        assert_eq!(seen([4, 2, 9]), [5, 3, 9]);
        assert!(LINK.translated(&mut [0; 3], |frame| frame.len()) == 3);
    }
}
