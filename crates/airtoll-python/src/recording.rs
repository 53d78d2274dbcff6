//! Recording to files: takes the frames and packets of a simulated trial, writes pcapng and a key
//! log.
//!
//! Packets go to the files as they come, so memory does not grow with the length of a trial.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use airtoll_capture::file::PcapNgWriter;
use airtoll_units::Instant;
use airtoll_wlan::record::{Key, Medium, Sink};

/// Link types (draft-ietf-opsawg-pcaplinktype): Ethernet, radiotap.
const ETHERNET: u16 = 1;
const RADIOTAP: u16 = 127;

/// Names of the files in the folder of a trial.
const AIR: &str = "air.pcapng";
const WIRE: &str = "wire.pcapng";
const KEYS: &str = "keys.json";

/// Outcome of a recording, shared with the caller: the first error, if there was one.
pub type Verdict = Arc<Mutex<Option<io::Error>>>;

/// Writes one trial.
pub struct Files {
    folder: PathBuf,
    air: Option<PcapNgWriter<BufWriter<File>>>,
    wire: Option<PcapNgWriter<BufWriter<File>>>,
    /// File and number in it of each interface.
    interfaces: Vec<(Medium, u32)>,
    keys: Vec<Key>,
    verdict: Verdict,
}

impl Files {
    /// Writes into `folder`; creates it if it is missing.
    pub fn new(folder: &Path) -> io::Result<(Self, Verdict)> {
        std::fs::create_dir_all(folder)?;
        let verdict = Verdict::default();
        let files = Self {
            folder: folder.to_path_buf(),
            air: None,
            wire: None,
            interfaces: Vec::new(),
            keys: Vec::new(),
            verdict: Arc::clone(&verdict),
        };
        Ok((files, verdict))
    }

    fn writer(&mut self, medium: Medium) -> io::Result<&mut PcapNgWriter<BufWriter<File>>> {
        let (slot, name) = match medium {
            Medium::Air => (&mut self.air, AIR),
            Medium::Wire => (&mut self.wire, WIRE),
        };
        match slot {
            Some(writer) => Ok(writer),
            None => {
                let file = File::create(self.folder.join(name))?;
                let writer = PcapNgWriter::new(BufWriter::with_capacity(1 << 18, file))?;
                Ok(slot.insert(writer))
            }
        }
    }

    fn describe(&mut self, medium: Medium, name: &str) -> io::Result<u32> {
        let link_type = match medium {
            Medium::Air => RADIOTAP,
            Medium::Wire => ETHERNET,
        };
        self.writer(medium)?.add_interface(link_type, name)
    }

    fn finish(&mut self) -> io::Result<()> {
        for writer in [self.air.take(), self.wire.take()].into_iter().flatten() {
            writer.finish()?;
        }
        let mut log = serde_json::to_string_pretty(&self.keys).map_err(io::Error::other)?;
        log.push('\n');
        File::create(self.folder.join(KEYS))?.write_all(log.as_bytes())
    }

    /// Keeps the first error.
    fn note<T>(&self, result: io::Result<T>) -> Option<T> {
        result
            .map_err(|error| {
                let mut verdict = self.verdict.lock().unwrap_or_else(PoisonError::into_inner);
                verdict.get_or_insert(error);
            })
            .ok()
    }
}

impl Sink for Files {
    fn interface(&mut self, medium: Medium, name: &str) -> u32 {
        let described = self.describe(medium, name);
        let number = self.note(described).unwrap_or(0);
        self.interfaces.push((medium, number));
        self.interfaces.len() as u32 - 1
    }

    fn packet(&mut self, interface: u32, at: Instant, octets: &[u8]) {
        let Some(&(medium, number)) = self.interfaces.get(interface as usize) else {
            return;
        };
        let written = self
            .writer(medium)
            .and_then(|writer| writer.write_packet(number, at.as_nanos(), octets));
        self.note(written);
    }

    fn key(&mut self, key: &Key) {
        self.keys.push(key.clone());
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let finished = self.finish();
        self.note(finished);
    }
}
