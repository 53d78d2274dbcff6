//! Writers: take packets, give pcapng (several interfaces, nanoseconds) or pcap (nanoseconds).
//!
//! The files contain no data of the machine or the wall clock, so equal runs give equal files.

use std::io::{self, Write};

/// Writes pcapng with one section, little-endian, times in nanoseconds.
pub struct PcapNgWriter<W: Write> {
    out: W,
    interfaces: u32,
    block: Vec<u8>,
}

impl<W: Write> PcapNgWriter<W> {
    /// Writes the section header.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(out: W) -> io::Result<Self> {
        let mut writer = Self {
            out,
            interfaces: 0,
            block: Vec::new(),
        };
        let mut body = Vec::new();
        body.extend_from_slice(&0x1a2b_3c4du32.to_le_bytes());
        body.extend_from_slice(&[1, 0, 0, 0]);
        body.extend_from_slice(&u64::MAX.to_le_bytes());
        option(&mut body, 4, b"airtoll");
        end_of_options(&mut body);
        writer.write_block(0x0a0d_0d0a, &body)?;
        Ok(writer)
    }

    /// Describes an interface; gives its number for [`PcapNgWriter::write_packet`].
    ///
    /// # Errors
    /// What `out` says.
    pub fn add_interface(&mut self, link_type: u16, name: &str) -> io::Result<u32> {
        let mut body = Vec::new();
        body.extend_from_slice(&link_type.to_le_bytes());
        body.extend_from_slice(&[0; 6]);
        option(&mut body, 2, name.as_bytes());
        option(&mut body, 9, &[9]);
        end_of_options(&mut body);
        self.write_block(1, &body)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet that was seen at `time_ns` nanoseconds since the epoch.
    ///
    /// # Errors
    /// What `out` says, or an interface that was not described.
    pub fn write_packet(&mut self, interface: u32, time_ns: u64, octets: &[u8]) -> io::Result<()> {
        if interface >= self.interfaces {
            return Err(io::Error::other("interface was not described"));
        }
        let len = u32::try_from(octets.len()).map_err(io::Error::other)?;
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        block.extend_from_slice(&interface.to_le_bytes());
        block.extend_from_slice(&((time_ns >> 32) as u32).to_le_bytes());
        block.extend_from_slice(&(time_ns as u32).to_le_bytes());
        block.extend_from_slice(&len.to_le_bytes());
        block.extend_from_slice(&len.to_le_bytes());
        block.extend_from_slice(octets);
        let written = self.write_block(6, &block);
        self.block = block;
        written
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_block(&mut self, kind: u32, body: &[u8]) -> io::Result<()> {
        let padding = body.len().next_multiple_of(4) - body.len();
        let len = (12 + body.len() + padding) as u32;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&len.to_le_bytes())?;
        self.out.write_all(body)?;
        self.out.write_all(&[0; 3][..padding])?;
        self.out.write_all(&len.to_le_bytes())
    }
}

/// Writes pcap, little-endian, times in nanoseconds, one link type.
pub struct PcapWriter<W: Write> {
    out: W,
}

impl<W: Write> PcapWriter<W> {
    /// Writes the file header.
    ///
    /// # Errors
    /// What `out` says.
    pub fn new(mut out: W, link_type: u16) -> io::Result<Self> {
        let mut header = Vec::new();
        header.extend_from_slice(&0xa1b2_3c4du32.to_le_bytes());
        header.extend_from_slice(&[2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        header.extend_from_slice(&(super::MAX_PACKET as u32).to_le_bytes());
        header.extend_from_slice(&u32::from(link_type).to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out })
    }

    /// Writes a packet that was seen at `time_ns` nanoseconds since the epoch.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_packet(&mut self, time_ns: u64, octets: &[u8]) -> io::Result<()> {
        let len = u32::try_from(octets.len()).map_err(io::Error::other)?;
        let seconds = u32::try_from(time_ns / 1_000_000_000).map_err(io::Error::other)?;
        let mut header = [0; 16];
        header[..4].copy_from_slice(&seconds.to_le_bytes());
        header[4..8].copy_from_slice(&((time_ns % 1_000_000_000) as u32).to_le_bytes());
        header[8..12].copy_from_slice(&len.to_le_bytes());
        header[12..].copy_from_slice(&len.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(octets)
    }

    /// Flushes and gives the output back.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let len = value.len().min(usize::from(u16::MAX));
    body.extend_from_slice(&code.to_le_bytes());
    body.extend_from_slice(&(len as u16).to_le_bytes());
    body.extend_from_slice(&value[..len]);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn end_of_options(body: &mut Vec<u8>) {
    body.extend_from_slice(&[0; 4]);
}
