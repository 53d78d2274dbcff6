//! The analysis: takes capture files and keys, gives one report.
//!
//! Frames are worked on in batches, so that CCMP frames are decrypted in lock step; frames that a batch
//! did not open are tried again in the order of the capture. Frames that came before their key are
//! marked by one bit each and opened in further passes over the files. Memory is bounded by the
//! tables' limits and that bit. Opens no socket, reads no clock.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use airtoll_security::link::IncomingMpdu;
use airtoll_security::link::ccmp::CcmpKey;

use crate::error::CaptureError;
use crate::file::reader::spool_stdin;
use crate::file::{Damage, Packet, Reader};
use crate::frames::{Frames, Watcher};
use crate::link::{Link, LinkReader};
use crate::report::{LinkTypes, Report};
use crate::request::Request;
use crate::session::{FrameNumber, SessionReport};
use crate::slot::{Slot, SlotKind};

/// Packets of one batch.
const BATCH: usize = 192;
/// Octets after which a batch is worked on before it is full.
const BATCH_OCTETS: usize = 1 << 20;
/// Further passes at most; each opens frames that the one before found keys for.
const MAX_PASSES: usize = 4;

/// Analyses captures as one, in the order of their times.
///
/// # Errors
/// A file that cannot be opened or is no capture, and captures of link types that are not read.
pub fn analyse(request: &Request, watcher: Option<Watcher<'_>>) -> Result<Report, CaptureError> {
    let sources = request
        .files
        .iter()
        .map(|path| Source::new(path))
        .collect::<Result<Vec<_>, _>>()?;
    analyse_sources(request, &sources, watcher)
}

/// Analyses one capture that is in memory; `request` names it and gives the keys.
///
/// # Errors
/// Octets that are no capture.
pub fn analyse_octets(request: &Request, octets: &[u8]) -> Result<Report, CaptureError> {
    analyse_sources(request, &[Source::Octets(octets.into())], None)
}

/// Follows a capture as it is written, in one pass: `tell` is called for every join that ends, by
/// the packet that ends it, and with `None` after each packet that ends none. Stops where `tell`
/// gives `false`.
///
/// # Errors
/// A stream that is no capture.
pub fn watch(
    request: &Request,
    stream: Box<dyn Read + Send>,
    tell: &mut dyn FnMut(Option<&SessionReport>) -> bool,
) -> Result<Report, CaptureError> {
    let mut reader = Reader::new(Path::new("-"), stream)?;
    let mut link = LinkReader::default();
    let mut frames = Frames::new(request, None);
    frames.watch_sessions();
    let mut batch = Batch::default();
    let mut number = 0;
    let mut goes_on = true;
    while goes_on && let Some(packet) = reader.next_packet() {
        number += 1;
        let frame = FrameNumber {
            file: 0,
            number: u32::try_from(number).unwrap_or(u32::MAX),
        };
        batch.push(number, frame, &packet, link.read(&packet));
        batch.work(&mut frames, false);
        let news = frames.take_news();
        goes_on = match &news[..] {
            [] => tell(None),
            news => news.iter().all(|session| tell(Some(session))),
        };
    }
    let damage = reader.damage().cloned().into_iter().collect();
    let links = LinkTypes::of(std::slice::from_ref(&link));
    links.refuse_if_nothing_was_read(&request.files)?;
    Ok(frames.into_report(&request.files, damage, links))
}

fn analyse_sources(
    request: &Request,
    sources: &[Source],
    watcher: Option<Watcher<'_>>,
) -> Result<Report, CaptureError> {
    let mut frames = Frames::new(request, watcher);
    let (mut damage, mut links) = (Vec::new(), LinkTypes::default());
    for pass in 0..=MAX_PASSES {
        if pass > 0 && !frames.begin_pass() {
            break;
        }
        (damage, links) = run(sources, &mut frames, pass > 0)?;
    }
    links.refuse_if_nothing_was_read(&request.files)?;
    Ok(frames.into_report(&request.files, damage, links))
}

/// A capture that can be read again.
enum Source {
    Path(PathBuf),
    Spooled(File),
    Octets(Arc<[u8]>),
}

impl Source {
    fn new(path: &Path) -> Result<Self, CaptureError> {
        if path == Path::new("-") {
            return spool_stdin().map(Self::Spooled);
        }
        Ok(Self::Path(path.to_path_buf()))
    }

    fn open(&self) -> Result<Reader, CaptureError> {
        match self {
            Self::Path(path) => Reader::open(path),
            Self::Octets(octets) => {
                let stream = std::io::Cursor::new(Arc::clone(octets));
                Reader::new(Path::new("memory"), Box::new(stream))
            }
            Self::Spooled(file) => {
                let path = Path::new("-");
                let again = file.try_clone().and_then(|mut file| {
                    file.seek(SeekFrom::Start(0))?;
                    Ok(file)
                });
                let stream: Box<dyn Read + Send> =
                    Box::new(again.map_err(|source| CaptureError::Open {
                        path: path.to_path_buf(),
                        source,
                    })?);
                Reader::new(path, stream)
            }
        }
    }
}

/// Packets side by side in one buffer.
#[derive(Default)]
struct Batch {
    slots: Vec<Slot>,
    octets: Vec<u8>,
    plain: Vec<u8>,
    /// The last time that a file had.
    last_ns: u64,
}

impl Batch {
    fn push(&mut self, number: u64, frame: FrameNumber, packet: &Packet<'_>, link: Link<'_>) {
        let start = self.octets.len();
        let kind = match link {
            Link::Air {
                mpdu,
                on_air,
                data_pad,
                swapped,
                radio,
            } => {
                let padding = if data_pad { padding_of(mpdu) } else { None };
                let kind = match padding {
                    Some(Padding { header, pad }) => {
                        self.octets.extend_from_slice(&mpdu[..header]);
                        self.octets.extend_from_slice(&mpdu[header + pad..]);
                        SlotKind::Air {
                            on_air: on_air.saturating_sub(pad),
                            radio,
                        }
                    }
                    None => {
                        self.octets.extend_from_slice(mpdu);
                        SlotKind::Air { on_air, radio }
                    }
                };
                if swapped {
                    self.octets.swap(start, start + 1);
                }
                kind
            }
            Link::Wire(wire, packet) => {
                self.octets.extend_from_slice(packet);
                SlotKind::Wire(wire)
            }
            Link::Broken | Link::Empty | Link::Unread => SlotKind::Other,
        };
        self.slots.push(Slot {
            number,
            frame,
            time_ns: packet.time_ns,
            timed: packet.time_ns != 0,
            kind,
            start,
            len: self.octets.len() - start,
            original: packet.original,
        });
    }

    fn is_full(&self) -> bool {
        self.slots.len() >= BATCH || self.octets.len() >= BATCH_OCTETS
    }

    /// Gives packets without a time that of the packet before, or of the next one.
    fn date(&mut self) {
        if self.last_ns == 0
            && let Some(first) = self.slots.iter().find(|slot| slot.timed)
        {
            self.last_ns = first.time_ns;
        }
        for slot in &mut self.slots {
            if slot.timed {
                self.last_ns = slot.time_ns;
            } else {
                slot.time_ns = self.last_ns;
            }
        }
    }

    /// Opens what CCMP keys known now can open, then hands everything on in order.
    fn work(&mut self, frames: &mut Frames<'_>, again: bool) {
        self.date();
        let mut opened: Vec<Option<std::ops::Range<usize>>> = vec![None; self.slots.len()];
        if !again {
            self.plain.clear();
            let mut indices: Vec<(usize, usize, usize)> = Vec::new();
            let mut keys: Vec<&CcmpKey> = Vec::new();
            for (index, slot) in self.slots.iter().enumerate() {
                let SlotKind::Air { on_air, .. } = slot.kind else {
                    continue;
                };
                let mpdu = &self.octets[slot.start..slot.start + slot.len];
                if slot.len == on_air
                    && let Some(key) = frames.keyring().batch_key(mpdu)
                {
                    let start = self.plain.len();
                    self.plain.extend_from_slice(mpdu);
                    indices.push((index, start, slot.len));
                    keys.push(key);
                }
            }
            let mut jobs: Vec<IncomingMpdu<'_>> = Vec::with_capacity(indices.len());
            let mut rest = &mut self.plain[..];
            for (_, _, len) in &indices {
                let (frame, after) = rest.split_at_mut(*len);
                rest = after;
                jobs.push(IncomingMpdu::new(frame));
            }
            CcmpKey::decapsulate_batch(&keys, &mut jobs);
            for ((index, start, _), job) in indices.iter().zip(&jobs) {
                if let Ok(found) = &job.result {
                    opened[*index] = Some(start + found.payload.start..start + found.payload.end);
                }
            }
        }
        for (slot, opened) in self.slots.iter().zip(opened) {
            let octets = &self.octets[slot.start..slot.start + slot.len];
            let plain = opened.and_then(|range| self.plain.get(range));
            if again {
                frames.again(slot, octets);
            } else {
                frames.frame(slot, octets, plain);
            }
        }
        self.slots.clear();
        self.octets.clear();
    }
}

fn run(
    sources: &[Source],
    frames: &mut Frames<'_>,
    again: bool,
) -> Result<(Vec<Damage>, LinkTypes), CaptureError> {
    let mut readers = sources
        .iter()
        .map(Source::open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut links = vec![LinkReader::default(); readers.len()];
    let mut batch = Batch::default();
    let mut number = 0;
    let mut of_file = vec![0u32; readers.len()];
    if let ([reader], [link]) = (&mut readers[..], &mut links[..]) {
        while let Some(packet) = reader.next_packet() {
            number += 1;
            if !again || frames.is_marked(number) {
                let frame = FrameNumber {
                    file: 0,
                    number: u32::try_from(number).unwrap_or(u32::MAX),
                };
                batch.push(number, frame, &packet, link.read(&packet));
                if batch.is_full() {
                    batch.work(frames, again);
                }
            } else {
                link.read(&packet);
            }
        }
    } else {
        let mut merge = Merge::new(readers.len());
        while let Some((index, packet)) = merge.next(&mut readers) {
            number += 1;
            of_file[index] = of_file[index].saturating_add(1);
            let read = links[index].read(&packet);
            if !again || frames.is_marked(number) {
                let frame = FrameNumber {
                    file: u16::try_from(index).unwrap_or(u16::MAX),
                    number: of_file[index],
                };
                batch.push(number, frame, &packet, read);
                if batch.is_full() {
                    batch.work(frames, again);
                }
            }
        }
    }
    batch.work(frames, again);
    let damage = readers.iter().filter_map(Reader::damage).cloned();
    Ok((damage.collect(), LinkTypes::of(&links)))
}

/// Several captures in order of time: holds the next packet of each.
struct Merge {
    held: Vec<Option<Held>>,
    out: Vec<u8>,
    begun: bool,
}

struct Held {
    time_ns: u64,
    link_type: u32,
    fcs_len: Option<u8>,
    original: u32,
    octets: Vec<u8>,
}

impl Merge {
    fn new(readers: usize) -> Self {
        Self {
            held: (0..readers).map(|_| None).collect(),
            out: Vec::new(),
            begun: false,
        }
    }

    fn next<'m>(&'m mut self, readers: &mut [Reader]) -> Option<(usize, Packet<'m>)> {
        if !self.begun {
            self.begun = true;
            for index in 0..readers.len() {
                self.refill(index, readers);
            }
        }
        let index = (0..self.held.len())
            .filter(|index| self.held[*index].is_some())
            .min_by_key(|index| self.held[*index].as_ref().map(|held| held.time_ns))?;
        let held = self.held[index].take()?;
        self.out = held.octets;
        self.refill(index, readers);
        let packet = Packet {
            time_ns: held.time_ns,
            link_type: held.link_type,
            fcs_len: held.fcs_len,
            original: held.original,
            octets: &self.out,
        };
        Some((index, packet))
    }

    fn refill(&mut self, index: usize, readers: &mut [Reader]) {
        self.held[index] = readers[index].next_packet().map(|packet| Held {
            time_ns: packet.time_ns,
            link_type: packet.link_type,
            fcs_len: packet.fcs_len,
            original: packet.original,
            octets: packet.octets.to_vec(),
        });
    }
}

/// Padding between the header of a frame and its body, octets.
struct Padding {
    /// Length of the header.
    header: usize,
    pad: usize,
}

fn padding_of(mpdu: &[u8]) -> Option<Padding> {
    let frame = airtoll_wire::ieee80211::Frame::new(mpdu).ok()?;
    let header = frame.header_len();
    let pad = header.next_multiple_of(4) - header;
    (pad > 0 && mpdu.len() >= header + pad).then_some(Padding { header, pad })
}
