//! A made-up network for tests and measurements: builds the frames of associations, handshakes
//! and protected data with the project's own formats and ciphers, and reads them back.
//!
//! Takes a suite and an AKM, gives MPDUs without FCS. Deterministic; never draws randomness.

#![allow(dead_code)]

use std::io::Write;

use airtoll_capture::file::PcapNgWriter;
use airtoll_capture::frames::{Seen, Status};
use airtoll_capture::keys::Keys;
use airtoll_capture::{Report, Request, analyse};
use airtoll_security::keys::mic::KeyMic;
use airtoll_security::keys::pairwise::Ptk;
use airtoll_security::keys::wrap;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_security::{AkmHash, AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{EapolRepr, packet_type};
use airtoll_wire::eapol_key::{
    DESCRIPTOR_RSN, DESCRIPTOR_WPA, EapolKeyRepr, KeyInformation as Info,
};
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Element, FrameControl, HeaderRepr, Kind, ManagementRepr, RsnRepr};
use airtoll_wire::key_data::{self, KeyData};
use airtoll_wire::llc::SnapRepr;
use airtoll_wire::radiotap::{Modulation, RadiotapRepr};

pub const AP: MacAddress = MacAddress([2, 0, 0, 0, 1, 0]);
pub const STATION: MacAddress = MacAddress([2, 0, 0, 0, 0, 7]);
pub const SSID: &[u8] = b"test network";
pub const PMK: [u8; 32] = [0x5a; 32];

/// One association: who, with which suites and keys.
pub struct Link {
    pub station: MacAddress,
    pub ap: MacAddress,
    pub akm: AkmSuite,
    pub cipher: CipherSuite,
    pub group: CipherSuite,
    pub pmk: Vec<u8>,
    pub pmf: bool,
    pub anonce: [u8; 32],
    pub snonce: [u8; 32],
    pub gtk: Vec<u8>,
    pub gtk_id: u8,
    /// Integrity key of group management frames, delivered in message 3.
    pub igtk: Option<Vec<u8>>,
    pub pn: u64,
    pub sequence: u16,
    pub replay: u64,
}

impl Link {
    pub fn new(akm: AkmSuite, cipher: CipherSuite) -> Self {
        let hash = akm.hash_or_default();
        Self {
            station: STATION,
            ap: AP,
            akm,
            cipher,
            group: cipher,
            pmk: vec![0x5a; akm.pmk_octets(hash)],
            pmf: false,
            anonce: [0xa1; 32],
            snonce: [0xb2; 32],
            gtk: vec![0xc3; cipher.key_octets()],
            gtk_id: 1,
            igtk: None,
            pn: 1,
            sequence: 0,
            replay: 1,
        }
    }

    pub fn key_text(&self) -> String {
        let hex: String = self.pmk.iter().map(|o| format!("{o:02x}")).collect();
        format!("pmk:{hex}")
    }

    fn hash(&self) -> AkmHash {
        self.akm.hash_or_default()
    }

    fn wpa(&self) -> bool {
        self.akm == AkmSuite::WpaPsk
    }

    pub fn ptk(&self) -> Ptk {
        Ptk::derive(
            self.akm,
            self.hash(),
            self.cipher,
            &self.pmk,
            self.ap,
            self.station,
            &self.anonce,
            &self.snonce,
        )
        .expect("a pairwise suite")
    }

    /// RSN or WPA element of the station.
    pub fn element(&self) -> Vec<u8> {
        use airtoll_wire::ieee80211 as wire;
        let selector = |suite: CipherSuite| {
            let chosen = if self.wpa() {
                suite.wpa_selector()
            } else {
                suite.selector()
            };
            wire::CipherSelector(chosen.expect("a suite"))
        };
        let mut rsn = RsnRepr::single(
            selector(self.group),
            selector(self.cipher),
            wire::AkmSelector(self.akm.selector()),
        );
        rsn.capabilities = Some(if self.pmf { 0xc0 } else { 0 });
        let mut octets = Vec::new();
        if self.wpa() {
            rsn.emit_wpa_element(&mut octets);
        } else {
            rsn.emit_element(&mut octets);
        }
        octets
    }

    fn sequence(&mut self) -> u16 {
        self.sequence = (self.sequence + 1) & 0xfff;
        self.sequence << 4
    }

    pub fn management(
        &mut self,
        kind: u8,
        from_station: bool,
        body: &ManagementRepr<'_>,
    ) -> Vec<u8> {
        let (to, from) = if from_station {
            (self.ap, self.station)
        } else {
            (self.station, self.ap)
        };
        let mut octets = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Management, kind),
            duration: 44,
            address1: if kind == subtype::BEACON {
                MacAddress::BROADCAST
            } else {
                to
            },
            address2: from,
            address3: self.ap,
            sequence_control: self.sequence(),
            address4: None,
            qos_control: None,
            ht_control: None,
        }
        .emit(&mut octets);
        body.emit(&mut octets);
        octets
    }

    pub fn beacon(&mut self) -> Vec<u8> {
        let mut elements = Vec::new();
        Element { id: 0, body: SSID }.emit(&mut elements);
        elements.extend(self.element());
        let body = ManagementRepr::Beacon(0, 100, 0x11, &elements);
        self.management(subtype::BEACON, false, &body)
    }

    /// Authentication and association, four frames.
    pub fn association(&mut self) -> Vec<Vec<u8>> {
        let mut elements = Vec::new();
        Element { id: 0, body: SSID }.emit(&mut elements);
        elements.extend(self.element());
        vec![
            self.management(
                subtype::AUTHENTICATION,
                true,
                &ManagementRepr::Authentication(0, 1, 0, &[]),
            ),
            self.management(
                subtype::AUTHENTICATION,
                false,
                &ManagementRepr::Authentication(0, 2, 0, &[]),
            ),
            self.management(
                subtype::ASSOCIATION_REQUEST,
                true,
                &ManagementRepr::AssociationRequest(0x11, 10, &elements),
            ),
            self.management(
                subtype::ASSOCIATION_RESPONSE,
                false,
                &ManagementRepr::AssociationResponse(0x11, 0, 0xc001, &[]),
            ),
        ]
    }

    fn key_frame(&mut self, bits: u16, nonce: [u8; 32], data: &[u8], mic: bool) -> Vec<u8> {
        let version = self
            .akm
            .descriptor_version(self.cipher == CipherSuite::Tkip);
        let algorithm = KeyMic::of(self.akm, self.hash(), version).expect("an AKM with a MIC");
        let mut body = Vec::new();
        EapolKeyRepr {
            descriptor: if self.wpa() {
                DESCRIPTOR_WPA
            } else {
                DESCRIPTOR_RSN
            },
            information: airtoll_wire::eapol_key::KeyInformation(bits | u16::from(version)),
            key_length: self.gtk.len() as u16,
            replay_counter: self.replay,
            nonce: &nonce,
            iv: &[0x11; 16],
            rsc: [0; 8],
            mic: &[0; 32][..algorithm.octets()],
            data,
        }
        .emit(&mut body);
        let mut packet = Vec::new();
        EapolRepr {
            version: 2,
            packet_type: packet_type::KEY,
            body: &body,
        }
        .emit(&mut packet);
        if mic {
            let value = algorithm
                .of_frame(self.ptk().kck(), &packet)
                .expect("a whole frame");
            packet[81..81 + algorithm.octets()].copy_from_slice(value.as_slice());
        }
        packet
    }

    fn wrapped(&self, mut data: Vec<u8>) -> Vec<u8> {
        let version = self
            .akm
            .descriptor_version(self.cipher == CipherSuite::Tkip);
        if version == 1 {
            wrap::rc4_key_data(self.ptk().kek(), &[0x11; 16], &mut data);
            return data;
        }
        key_data::pad_for_wrap(&mut data);
        wrap::wrap(self.ptk().kek(), &data).expect("padded")
    }

    /// EAPOL packets of the 4-way handshake.
    pub fn four_way(&mut self) -> [Vec<u8>; 4] {
        let pairwise = Info::PAIRWISE;
        let first = self.key_frame(pairwise | Info::ACK, self.anonce, &[], false);
        let element = self.element();
        let second = self.key_frame(pairwise | Info::MIC, self.snonce, &element, true);
        self.replay += 1;
        let (bits, data) = if self.wpa() {
            (pairwise | Info::ACK | Info::MIC | Info::INSTALL, element)
        } else {
            let mut data = element;
            let kde = KeyData::Gtk {
                key_id: self.gtk_id,
                transmit: false,
                key: &self.gtk,
            };
            kde.emit(&mut data);
            if let Some(igtk) = &self.igtk {
                let kde = KeyData::Igtk {
                    key_id: 4,
                    ipn: [0; 6],
                    key: igtk,
                };
                kde.emit(&mut data);
            }
            (
                pairwise | Info::ACK | Info::MIC | Info::INSTALL | Info::SECURE | Info::ENCRYPTED,
                self.wrapped(data),
            )
        };
        let third = self.key_frame(bits, self.anonce, &data, true);
        let secure = if self.wpa() { 0 } else { Info::SECURE };
        let fourth = self.key_frame(pairwise | Info::MIC | secure, [0; 32], &[], true);
        [first, second, third, fourth]
    }

    /// EAPOL packets of a group key handshake to a new key.
    pub fn group_rekey(&mut self, gtk: Vec<u8>, key_id: u8) -> [Vec<u8>; 2] {
        self.gtk = gtk;
        self.gtk_id = key_id;
        self.replay += 1;
        let bits = Info::ACK | Info::MIC | Info::SECURE;
        let first = if self.wpa() {
            let data = self.wrapped(self.gtk.clone());
            self.key_frame(bits | u16::from(key_id) << 4, [0; 32], &data, true)
        } else {
            let mut data = Vec::new();
            let kde = KeyData::Gtk {
                key_id,
                transmit: false,
                key: &self.gtk,
            };
            kde.emit(&mut data);
            let data = self.wrapped(data);
            self.key_frame(bits | Info::ENCRYPTED, [0; 32], &data, true)
        };
        let second = self.key_frame(Info::MIC | Info::SECURE, [0; 32], &[], true);
        [first, second]
    }

    /// An unprotected data frame with this MSDU; QoS with TID 0.
    pub fn data(&mut self, from_station: bool, group: bool, msdu: &[u8]) -> Vec<u8> {
        self.data_with(from_station, group, 0, msdu)
    }

    pub fn data_with(&mut self, from_station: bool, group: bool, qos: u16, msdu: &[u8]) -> Vec<u8> {
        let receiver = match (from_station, group) {
            (true, _) => self.ap,
            (false, true) => MacAddress::BROADCAST,
            (false, false) => self.station,
        };
        let mut octets = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Data, 8)
                .with_to_ds(from_station)
                .with_from_ds(!from_station),
            duration: 44,
            address1: receiver,
            address2: if from_station { self.station } else { self.ap },
            address3: if from_station {
                MacAddress([2, 0, 0, 0, 9, 9])
            } else {
                self.ap
            },
            sequence_control: self.sequence(),
            address4: None,
            qos_control: Some(qos),
            ht_control: None,
        }
        .emit(&mut octets);
        octets.extend_from_slice(msdu);
        octets
    }

    pub fn eapol(&mut self, from_station: bool, packet: &[u8]) -> Vec<u8> {
        let mut msdu = Vec::new();
        SnapRepr::rfc1042(0x888e, packet).emit(&mut msdu);
        self.data(from_station, false, &msdu)
    }

    /// Encapsulates an MPDU under the pairwise or the group key.
    pub fn protect(&mut self, mpdu: Vec<u8>, group: bool) -> Vec<u8> {
        let (suite, key, id) = if group {
            (self.group, self.gtk.clone(), self.gtk_id)
        } else {
            (self.cipher, self.ptk().tk().to_vec(), 0)
        };
        self.pn += 1;
        protect(suite, &key, id, self.pn, mpdu)
    }
}

/// Encapsulates an MPDU under a key.
pub fn protect(suite: CipherSuite, key: &[u8], id: u8, pn: u64, mpdu: Vec<u8>) -> Vec<u8> {
    let header = airtoll_wire::ieee80211::Frame::new(&mpdu)
        .expect("a frame")
        .header_len();
    let whole = mpdu[0] & 0x0c == 0x08 && mpdu[1] & 4 == 0 && mpdu[22] & 15 == 0;
    let trailer =
        suite.mic_octets() + suite.icv_octets() + if whole { suite.msdu_octets() } else { 0 };
    let mut frame = mpdu[..header].to_vec();
    frame.resize(header + suite.header_octets(), 0);
    frame.extend_from_slice(&mpdu[header..]);
    frame.resize(frame.len() + trailer, 0);
    let done = match suite {
        CipherSuite::Wep40 | CipherSuite::Wep104 => WepKey::new(key)
            .expect("a WEP key")
            .encapsulate(&mut frame, pn & 0xff_ffff, id),
        CipherSuite::Tkip if whole => TkipKey::new(key)
            .expect("a TKIP key")
            .encapsulate_msdu(&mut frame, pn, id),
        CipherSuite::Tkip => TkipKey::new(key)
            .expect("a TKIP key")
            .encapsulate(&mut frame, pn, id),
        CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => CcmpKey::new(key)
            .expect("a CCMP key")
            .encapsulate(&mut frame, pn, id),
        _ => GcmpKey::new(key)
            .expect("a GCMP key")
            .encapsulate(&mut frame, pn, id),
    };
    done.expect("a frame that can be protected");
    frame
}

/// A UDP datagram in an MSDU of `len` octets of payload.
pub fn udp(len: usize, fill: u8) -> Vec<u8> {
    use airtoll_wire::ipv4::Ipv4Repr;
    use airtoll_wire::udp::UdpRepr;
    let (from, to) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
    let mut segment = Vec::new();
    UdpRepr {
        source: 5001,
        destination: 5002,
        payload: &vec![fill; len],
    }
    .emit(
        std::net::IpAddr::V4(from),
        std::net::IpAddr::V4(to),
        &mut segment,
    );
    let mut packet = Vec::new();
    Ipv4Repr::new(from, to, 17, &segment).emit(&mut packet);
    let mut msdu = Vec::new();
    SnapRepr::rfc1042(0x0800, &packet).emit(&mut msdu);
    msdu
}

/// A radiotap header at this rate (0 for none) in front of an MPDU.
pub fn on_air(rate_500kbps: u8, mpdu: &[u8]) -> Vec<u8> {
    let mut octets = Vec::new();
    RadiotapRepr {
        flags: Some(0),
        frequency_mhz: Some(5180),
        channel_flags: 0x140,
        signal_dbm: Some(-40),
        modulation: if rate_500kbps == 0 {
            Modulation::Unknown
        } else {
            Modulation::Legacy { rate_500kbps }
        },
        ..RadiotapRepr::default()
    }
    .emit(&mut octets);
    octets.extend_from_slice(mpdu);
    octets
}

/// Instant of the first frame.
pub const START_NS: u64 = 1_700_000_000_000_000_000;

/// Writes frames one millisecond apart and analyses them; gives report and plaintexts.
pub fn report(frames: &[Vec<u8>], keys: &[String]) -> (Report, Vec<(u64, Vec<u8>)>) {
    report_at(frames, keys, |index| START_NS + index * 1_000_000)
}

/// As [`report`], each frame at the time in nanoseconds that its place in the list is given.
pub fn report_at(
    frames: &[Vec<u8>],
    keys: &[String],
    time_ns: impl Fn(u64) -> u64,
) -> (Report, Vec<(u64, Vec<u8>)>) {
    let timed: Vec<_> = (0u64..)
        .zip(frames)
        .map(|(index, frame)| (time_ns(index), on_air(108, frame)))
        .collect();
    let mut plain = Vec::new();
    let mut watcher = |seen: &Seen<'_>| {
        if seen.status == Status::Decrypted {
            plain.push((seen.number, seen.plain.to_vec()));
        }
    };
    let file = written(127, &timed);
    let report = analyse(&request(&file, keys), Some(&mut watcher)).unwrap();
    (report, plain)
}

/// A capture file of packets with their times in nanoseconds.
pub fn written(link_type: u16, packets: &[(u64, Vec<u8>)]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
    let interface = writer.add_interface(link_type, "interface").unwrap();
    for (time_ns, octets) in packets {
        writer.write_packet(interface, *time_ns, octets).unwrap();
    }
    file.write_all(&writer.finish().unwrap()).unwrap();
    file
}

/// A request for one file with these keys.
pub fn request(file: &tempfile::NamedTempFile, keys: &[String]) -> Request {
    let mut given = Keys::default();
    given.add_texts(keys).unwrap();
    Request {
        files: vec![file.path().to_path_buf()],
        keys: given,
        ..Request::default()
    }
}

/// Beacon, association and 4-way handshake.
pub fn start(link: &mut Link) -> Vec<Vec<u8>> {
    let mut frames = vec![link.beacon()];
    frames.extend(link.association());
    let [first, second, third, fourth] = link.four_way();
    frames.push(link.eapol(false, &first));
    frames.push(link.eapol(true, &second));
    frames.push(link.eapol(false, &third));
    frames.push(link.eapol(true, &fourth));
    frames
}
