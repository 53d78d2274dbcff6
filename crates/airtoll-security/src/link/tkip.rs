//! TKIP (IEEE 802.11-2020, 12.5.2).
//!
//! Takes a 256-bit temporal key and frames laid out as [`super`] says; encapsulates and
//! decapsulates MPDUs, and MSDUs that travel in one MPDU with Michael's MIC, in place. Never keeps a TSC or the state of countermeasures: see [`super::michael`].

use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::michael::{Michael, michael, pseudo_header};
use super::mpdu::{Header, set_protected};
use super::tkip_mixing::{phase1, phase2, seed_octet};
use super::{Decapsulated, check_packet_number};
use crate::error::{CipherError, KeyError};
use crate::rc4::Rc4;

/// Octets of TKIP header: TSC1, WEP seed, TSC0, key ID, TSC2 to TSC5.
pub const HEADER: usize = 8;
/// Octets of ICV.
pub const ICV: usize = 4;
/// Octets of Michael MIC.
pub const MIC: usize = 8;

/// A temporal key: 16 octets for encryption and two Michael keys.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct TkipKey {
    temporal_key: [u8; 16],
    authenticator: [u8; 8],
    supplicant: [u8; 8],
    #[zeroize(skip)]
    access_point: Option<[u8; 6]>,
}

/// Where the parts of one frame are, and what protects them.
#[derive(Clone, Copy)]
struct Layout {
    header: usize,
    /// End of the MSDU without MIC.
    msdu: usize,
    /// End of what the ICV covers.
    covered: usize,
    michael: [u8; 8],
    pseudo_header: [u8; 16],
    seed: [u8; 16],
}

impl TkipKey {
    /// Takes the 32 octets of a TKIP temporal key: encryption key, Michael key of the
    /// authenticator, Michael key of the supplicant (IEEE 802.11-2020, 12.8.1).
    ///
    /// # Errors
    /// Another length.
    pub fn new(temporal_key: &[u8]) -> Result<Self, KeyError> {
        let key: &[u8; 32] = temporal_key.try_into().map_err(|_| KeyError::Length {
            what: "TKIP",
            expected: 32,
            got: temporal_key.len(),
        })?;
        let part = |start: usize| key[start..start + 8].try_into().expect("eight octets");
        Ok(Self {
            temporal_key: key[..16].try_into().expect("sixteen octets"),
            authenticator: part(16),
            supplicant: part(24),
            access_point: None,
        })
    }

    /// The key as the station of this access point and itself use it: in frames with four
    /// addresses nothing else says whose Michael key is meant (12.8.1). Without it they are taken
    /// as the access point's.
    #[must_use]
    pub const fn of_access_point(mut self, address: [u8; 6]) -> Self {
        self.access_point = Some(address);
        self
    }

    /// Michael's MIC of an MSDU with this frame's addresses and priority, under the key of the
    /// side that sends it. `msdu` in as many parts as it was fragmented into.
    #[must_use]
    pub fn michael(&self, header: &Header, msdu: &[&[u8]]) -> [u8; 8] {
        let addresses = header.msdu_addresses();
        let mut state = Michael::new(self.michael_key(header));
        state.update(&pseudo_header(
            addresses.destination,
            addresses.source,
            header.priority(),
        ));
        msdu.iter().for_each(|part| state.update(part));
        state.finish()
    }

    /// Encapsulates an MPDU whose payload (a fragment, its MIC included where it falls) is in
    /// place; 4 octets at the end for the ICV.
    ///
    /// # Errors
    /// A frame too short, no data frame, a TSC above 48 bits or a key ID above 3; the frame is
    /// then unchanged.
    pub fn encapsulate(&self, frame: &mut [u8], tsc: u64, key_id: u8) -> Result<(), CipherError> {
        let layout = self.outgoing(frame, tsc, key_id, 0)?;
        self.begin(frame, &layout, tsc, key_id);
        write_icv(frame, &layout);
        Rc4::new(&layout.seed).apply(&mut frame[layout.header + HEADER..]);
        Ok(())
    }

    /// Decapsulates an MPDU; the payload it reports ends before the ICV and still holds its share
    /// of Michael's MIC.
    ///
    /// # Errors
    /// A frame too short or not protected, a malformed TKIP header, or a wrong ICV; in the last
    /// case the payload is erased.
    pub fn decapsulate(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        let (layout, found) = self.incoming(frame, 0)?;
        Rc4::new(&layout.seed).apply(&mut frame[layout.header + HEADER..]);
        check_icv(frame, &layout)?;
        Ok(found)
    }

    /// Encapsulates an MSDU that travels in one MPDU: 12 octets at the end for MIC and ICV.
    ///
    /// # Errors
    /// As [`encapsulate`](Self::encapsulate), and a fragment.
    pub fn encapsulate_msdu(
        &self,
        frame: &mut [u8],
        tsc: u64,
        key_id: u8,
    ) -> Result<(), CipherError> {
        let layout = self.outgoing(frame, tsc, key_id, MIC)?;
        let msdu = &frame[layout.header + HEADER..layout.msdu];
        let mic = michael(&layout.michael, &layout.pseudo_header, msdu);
        frame[layout.msdu..layout.covered].copy_from_slice(&mic);
        self.begin(frame, &layout, tsc, key_id);
        write_icv(frame, &layout);
        Rc4::new(&layout.seed).apply(&mut frame[layout.header + HEADER..]);
        Ok(())
    }

    /// Decapsulates an MSDU that travels in one MPDU and checks ICV and MIC; the payload it
    /// reports has neither.
    ///
    /// # Errors
    /// As [`decapsulate`](Self::decapsulate), a fragment, or [`CipherError::Michael`], which
    /// counts for countermeasures; the payload is then erased.
    pub fn decapsulate_msdu(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        let (layout, found) = self.incoming(frame, MIC)?;
        Rc4::new(&layout.seed).apply(&mut frame[layout.header + HEADER..]);
        check_icv(frame, &layout)?;
        let msdu = &frame[layout.header + HEADER..layout.msdu];
        let mic = michael(&layout.michael, &layout.pseudo_header, msdu);
        check_mic(frame, &layout, mic)?;
        Ok(found)
    }

    fn outgoing(
        &self,
        frame: &[u8],
        tsc: u64,
        key_id: u8,
        mic: usize,
    ) -> Result<Layout, CipherError> {
        check_packet_number(tsc, key_id)?;
        let header = Header::parse(frame)?;
        self.layout(frame, &header, tsc, mic)
    }

    fn incoming(&self, frame: &[u8], mic: usize) -> Result<(Layout, Decapsulated), CipherError> {
        let header = Header::parse(frame)?;
        if !header.is_protected() {
            return Err(CipherError::NotProtected);
        }
        let start = header.length() + HEADER;
        let field = frame
            .get(header.length()..start)
            .ok_or(CipherError::TooShort {
                needed: start,
                got: frame.len(),
            })?;
        if field[3] & 0x20 == 0 || field[1] != seed_octet(field[0]) {
            return Err(CipherError::Malformed("not a TKIP header"));
        }
        let tsc = [
            field[2], field[0], field[4], field[5], field[6], field[7], 0, 0,
        ];
        let tsc = u64::from_le_bytes(tsc);
        let layout = self.layout(frame, &header, tsc, mic)?;
        let found = Decapsulated {
            payload: start..layout.msdu,
            packet_number: tsc,
            key_id: field[3] >> 6,
            counter: header.counter(),
        };
        Ok((layout, found))
    }

    fn layout(
        &self,
        frame: &[u8],
        header: &Header,
        tsc: u64,
        mic: usize,
    ) -> Result<Layout, CipherError> {
        if header.is_management() {
            return Err(CipherError::Malformed("TKIP protects data frames only"));
        }
        if mic > 0 && header.is_fragment() {
            return Err(CipherError::Malformed(
                "a fragment has no MIC of its own: reassemble first",
            ));
        }
        let needed = header.length() + HEADER + mic + ICV;
        if frame.len() < needed {
            return Err(CipherError::TooShort {
                needed,
                got: frame.len(),
            });
        }
        let addresses = header.msdu_addresses();
        let ttak = phase1(&self.temporal_key, header.transmitter(), (tsc >> 16) as u32);
        Ok(Layout {
            header: header.length(),
            msdu: frame.len() - ICV - mic,
            covered: frame.len() - ICV,
            michael: *self.michael_key(header),
            pseudo_header: pseudo_header(
                addresses.destination,
                addresses.source,
                header.priority(),
            ),
            seed: phase2(&self.temporal_key, &ttak, tsc as u16),
        })
    }

    /// Sets the Protected Frame bit and writes the TKIP header.
    fn begin(&self, frame: &mut [u8], layout: &Layout, tsc: u64, key_id: u8) {
        set_protected(frame);
        let t = tsc.to_le_bytes();
        let field = [
            t[1],
            seed_octet(t[1]),
            t[0],
            0x20 | key_id << 6,
            t[2],
            t[3],
            t[4],
            t[5],
        ];
        frame[layout.header..layout.header + HEADER].copy_from_slice(&field);
    }

    fn michael_key(&self, header: &Header) -> &[u8; 8] {
        let by_station = header.has_four_addresses()
            && self
                .access_point
                .is_some_and(|address| address != header.transmitter());
        if header.is_from_ds() && !by_station {
            &self.authenticator
        } else {
            &self.supplicant
        }
    }
}

impl core::fmt::Debug for TkipKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("TkipKey")
    }
}

fn write_icv(frame: &mut [u8], layout: &Layout) {
    let icv = crc32fast::hash(&frame[layout.header + HEADER..layout.covered]);
    frame[layout.covered..].copy_from_slice(&icv.to_le_bytes());
}

fn check_icv(frame: &mut [u8], layout: &Layout) -> Result<(), CipherError> {
    let body = &mut frame[layout.header + HEADER..];
    let covered = layout.covered - layout.header - HEADER;
    let icv = crc32fast::hash(&body[..covered]).to_le_bytes();
    if icv != body[covered..] {
        body.zeroize();
        return Err(CipherError::Integrity);
    }
    Ok(())
}

fn check_mic(frame: &mut [u8], layout: &Layout, mic: [u8; 8]) -> Result<(), CipherError> {
    if !bool::from(mic.ct_eq(&frame[layout.msdu..layout.covered])) {
        frame[layout.header + HEADER..].zeroize();
        return Err(CipherError::Michael);
    }
    Ok(())
}
