//! The reader: takes a path or a stream, gives packets until the end or the damage.
//!
//! Packing is told by its magic number. Memory is one window of the stream, whatever the file's
//! size. Never seeks, so that standard input works the same.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::Damage;
use super::feed::Feed;
use super::pcap::PcapHeader;
use super::pcapng::PcapNg;
use super::zstd;
use crate::error::CaptureError;

/// One packet as the file holds it; its octets live in the reader until the next call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Nanoseconds since the epoch; 0 where the file has no times.
    pub time_ns: u64,
    /// Link type.
    pub link_type: u32,
    /// Octets of FCS at the end of the frame, if the file says so.
    pub fcs_len: Option<u8>,
    /// Octets on the wire.
    pub original: u32,
    /// Octets captured.
    pub octets: &'a [u8],
}

enum Format {
    Pcap(PcapHeader),
    PcapNg(PcapNg),
}

/// An open capture.
pub struct Reader {
    name: String,
    feed: Feed,
    format: Format,
    pending: usize,
    packets: u64,
    damage: Option<Damage>,
    ended: bool,
}

impl Reader {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// [`CaptureError::Open`] if it cannot be read, [`CaptureError::NotACapture`] if it is none.
    pub fn open(path: &Path) -> Result<Self, CaptureError> {
        if path == Path::new("-") {
            return Self::new(path, Box::new(std::io::stdin()));
        }
        let wrong = |source| CaptureError::Open {
            path: path.to_path_buf(),
            source,
        };
        let file = File::open(path).map_err(wrong)?;
        if file.metadata().is_ok_and(|meta| meta.is_dir()) {
            return Err(CaptureError::NotACapture {
                path: path.to_path_buf(),
                what: "is a folder",
            });
        }
        Self::new(path, Box::new(file))
    }

    /// Reads a stream; `path` names it in messages.
    ///
    /// # Errors
    /// As [`Reader::open`].
    pub fn new(path: &Path, mut source: Box<dyn Read + Send>) -> Result<Self, CaptureError> {
        let mut feed;
        let mut layers = 0;
        loop {
            feed = Feed::new(source);
            let head = feed.peek(28);
            let gzip = head.starts_with(&[0x1f, 0x8b]);
            let zstd = head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]);
            if !(gzip || zstd) || layers == 2 {
                break;
            }
            layers += 1;
            source = if gzip {
                Box::new(MultiGzDecoder::new(feed.into_read()))
            } else {
                Box::new(zstd::Frames::new(feed.into_read()))
            };
        }
        let head = feed.peek(28);
        let format = if PcapNg::recognises(head) {
            Format::PcapNg(PcapNg::default())
        } else if let Some(header) = PcapHeader::parse(head) {
            feed.consume(PcapHeader::LEN);
            Format::Pcap(header)
        } else {
            let what = match head.len() {
                0 => "nothing is in it",
                _ => "its first octets are of no known format",
            };
            return Err(CaptureError::NotACapture {
                path: path.to_path_buf(),
                what,
            });
        };
        Ok(Self {
            name: path.display().to_string(),
            feed,
            format,
            pending: 0,
            packets: 0,
            damage: None,
            ended: false,
        })
    }

    /// The next packet; `None` at the end of the file or where it is broken.
    pub fn next_packet(&mut self) -> Option<Packet<'_>> {
        self.feed.consume(std::mem::take(&mut self.pending));
        if self.ended {
            return None;
        }
        let found = match &mut self.format {
            Format::Pcap(header) => match header.record(&mut self.feed) {
                Ok(Some(record)) => {
                    let whole = record.header_len + record.captured;
                    if self.feed.peek(whole).len() < whole {
                        Err("ends inside a packet")
                    } else {
                        self.pending = whole;
                        Ok(Some((
                            record.header_len,
                            record.captured,
                            record.time_ns,
                            record.original,
                            header.link_type,
                            header.fcs_len,
                        )))
                    }
                }
                other => other.map(|_| None),
            },
            Format::PcapNg(blocks) => blocks.record(&mut self.feed).map(|record| {
                record.map(|record| {
                    self.pending = record.block_len;
                    (
                        record.start,
                        record.captured,
                        record.time_ns,
                        record.original,
                        record.link_type,
                        record.fcs_len,
                    )
                })
            }),
        };
        match found {
            Ok(Some((start, captured, time_ns, original, link_type, fcs_len))) => {
                self.packets += 1;
                Some(Packet {
                    time_ns,
                    link_type,
                    fcs_len,
                    original,
                    octets: &self.feed.window()[start..start + captured],
                })
            }
            Ok(None) => {
                self.ended = true;
                if let Some(failure) = self.feed.failure() {
                    let what = format!("cannot be read further: {failure}");
                    self.break_off(what);
                }
                None
            }
            Err(what) => {
                self.ended = true;
                let what = match self.feed.failure() {
                    Some(failure) => format!("{what} ({failure})"),
                    None => what.to_owned(),
                };
                self.break_off(what);
                None
            }
        }
    }

    fn break_off(&mut self, what: String) {
        self.damage = Some(Damage {
            file: self.name.clone(),
            offset: self.feed.offset(),
            after_frames: self.packets,
            what,
        });
    }

    /// Where the file broke, once [`Reader::next_packet`] gave `None`.
    pub const fn damage(&self) -> Option<&Damage> {
        self.damage.as_ref()
    }

    /// Packets given so far.
    pub const fn packets(&self) -> u64 {
        self.packets
    }
}

/// Copies standard input to an unnamed temporary file, which can be read twice.
///
/// # Errors
/// What the system says.
pub fn spool_stdin() -> Result<File, CaptureError> {
    let wrong = |source| CaptureError::Open {
        path: PathBuf::from("-"),
        source,
    };
    let mut file = tempfile::tempfile().map_err(wrong)?;
    std::io::copy(&mut std::io::stdin().lock(), &mut file).map_err(wrong)?;
    Ok(file)
}

impl Feed {
    /// The stream with what the window holds in front.
    fn into_read(self) -> Box<dyn Read + Send> {
        let held = self.window().to_vec();
        Box::new(Cursor::new(held).chain(self.into_source()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::writer::{PcapNgWriter, PcapWriter};
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};
    use std::io::Write;

    type Seen = (u64, u32, Vec<u8>);

    fn read(octets: Vec<u8>) -> (Vec<Seen>, Option<Damage>) {
        let mut reader = Reader::new(Path::new("test"), Box::new(Cursor::new(octets))).unwrap();
        let mut packets = Vec::new();
        while let Some(p) = reader.next_packet() {
            packets.push((p.time_ns, p.link_type, p.octets.to_vec()));
        }
        (packets, reader.damage().cloned())
    }

    fn sample() -> Vec<u8> {
        let mut writer = PcapNgWriter::new(Vec::new()).unwrap();
        let air = writer.add_interface(127, "wlan0").unwrap();
        let wire = writer.add_interface(1, "eth0").unwrap();
        writer.write_packet(air, 1_000_000_001, &[1; 30]).unwrap();
        writer.write_packet(wire, 1_000_000_002, &[2; 61]).unwrap();
        writer.finish().unwrap()
    }

    #[test]
    fn several_interfaces_and_every_packing() {
        let plain = sample();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&plain).unwrap();
        let zstd = compress_to_vec(&plain[..], CompressionLevel::Fastest);
        for octets in [plain, gzip.finish().unwrap(), zstd] {
            let (packets, damage) = read(octets);
            assert_eq!(packets.len(), 2);
            assert_eq!((packets[0].0, packets[0].1), (1_000_000_001, 127));
            assert_eq!((packets[1].0, packets[1].1), (1_000_000_002, 1));
            assert_eq!(damage, None);
        }
    }

    #[test]
    fn a_cut_file_gives_what_it_holds() {
        let plain = sample();
        let (packets, damage) = read(plain[..plain.len() - 5].to_vec());
        assert_eq!(packets.len(), 1);
        let damage = damage.unwrap();
        assert_eq!(damage.after_frames, 1);
        assert_eq!(damage.what, "ends inside a block");
    }

    #[test]
    fn both_orders_and_resolutions_of_pcap() {
        for (big, nano) in [(false, false), (true, false), (false, true), (true, true)] {
            let word = |value: u32| {
                if big {
                    value.to_be_bytes()
                } else {
                    value.to_le_bytes()
                }
            };
            let half = |value: u16| {
                if big {
                    value.to_be_bytes()
                } else {
                    value.to_le_bytes()
                }
            };
            let mut octets = Vec::new();
            octets.extend(word(if nano { 0xa1b2_3c4d } else { 0xa1b2_c3d4 }));
            octets.extend(half(2));
            octets.extend(half(4));
            for value in [0, 0, 65535, 105, 7, 5, 3, 100] {
                octets.extend(word(value));
            }
            octets.extend([1, 2, 3]);
            let (packets, damage) = read(octets);
            let expected = if nano { 7_000_000_005 } else { 7_000_005_000 };
            assert_eq!(packets, vec![(expected, 105, vec![1, 2, 3])]);
            assert_eq!(damage, None);
        }
    }

    #[test]
    fn no_capture_is_an_error() {
        for octets in [
            &b""[..],
            b"hello, world, this is no capture",
            &[0x1f, 0x8b, 8],
        ] {
            let made = Reader::new(Path::new("x"), Box::new(Cursor::new(octets.to_vec())));
            assert!(matches!(made, Err(CaptureError::NotACapture { .. })));
        }
    }

    #[test]
    fn writer_agrees_with_pcap_parser() {
        use pcap_parser::traits::PcapReaderIterator;
        let octets = sample();
        let mut reader = pcap_parser::PcapNGReader::new(65536, Cursor::new(octets)).unwrap();
        let mut packets = 0;
        loop {
            match reader.next() {
                Ok((len, block)) => {
                    if let pcap_parser::PcapBlockOwned::NG(pcap_parser::Block::EnhancedPacket(p)) =
                        block
                    {
                        packets += 1;
                        assert!(p.caplen == 30 || p.caplen == 61);
                    }
                    reader.consume(len);
                }
                Err(pcap_parser::PcapError::Eof) => break,
                Err(pcap_parser::PcapError::Incomplete(_)) => reader.refill().unwrap(),
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(packets, 2);
    }

    proptest! {
        #[test]
        fn pcap_round_trips(list in proptest::collection::vec((0u64..1 << 50, proptest::collection::vec(any::<u8>(), 0..200)), 0..10)) {
            let mut writer = PcapWriter::new(Vec::new(), 105).unwrap();
            for (time, octets) in &list {
                writer.write_packet(*time, octets).unwrap();
            }
            let (packets, damage) = read(writer.finish().unwrap());
            prop_assert_eq!(damage, None);
            let expected: Vec<_> = list.into_iter().map(|(t, o)| (t, 105, o)).collect();
            prop_assert_eq!(packets, expected);
        }

        #[test]
        fn any_octets_end(mut octets in proptest::collection::vec(any::<u8>(), 0..2000), kind in 0usize..4) {
            let start: [&[u8]; 4] = [
                &[0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0], &[0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
                &[0x1f, 0x8b, 8, 0], &[0x28, 0xb5, 0x2f, 0xfd],
            ];
            octets.splice(0..0, start[kind].iter().copied());
            if let Ok(mut reader) = Reader::new(Path::new("x"), Box::new(Cursor::new(octets))) {
                while reader.next_packet().is_some() {}
            }
        }

        #[test]
        fn flipped_octets_never_panic(at in 0usize..200, value: u8) {
            let mut octets = sample();
            let at = at % octets.len();
            octets[at] = value;
            if let Ok(mut reader) = Reader::new(Path::new("x"), Box::new(Cursor::new(octets))) {
                while reader.next_packet().is_some() {}
            }
        }
    }
}
