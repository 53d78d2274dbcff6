//! Zstandard streams (RFC 8878): takes a packed stream, gives its octets frame after frame.
//!
//! Frames follow each other, skippable frames give nothing (section 3.1.2), and a frame with a
//! checksum is checked. A window of more than 128 MiB is refused, as the `zstd` program does.

use std::io::{self, BufRead, BufReader, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Octets of blocks that are unpacked at once.
const STEP: usize = 1 << 17;

/// The unpacked side of a Zstandard stream.
pub struct Frames<R> {
    source: BufReader<R>,
    decoder: Box<FrameDecoder>,
    /// Whether the decoder is inside a frame.
    open: bool,
}

impl<R: Read> Frames<R> {
    /// Reads nothing yet.
    pub fn new(source: R) -> Self {
        Self {
            source: BufReader::with_capacity(STEP, source),
            decoder: Box::new(FrameDecoder::new()),
            open: false,
        }
    }

    /// Opens the next frame that holds octets; false at the end of the stream.
    fn next_frame(&mut self) -> io::Result<bool> {
        loop {
            if self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut self.source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let length = u64::from(length);
                    if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                }
                Err(wrong) => return Err(io::Error::other(wrong)),
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(io::Error::other("a checksum of the zstd stream is wrong"));
        }
        Ok(())
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        if target.is_empty() {
            return Ok(0);
        }
        loop {
            if self.open {
                while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    self.decoder
                        .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBytes(STEP))
                        .map_err(io::Error::other)?;
                }
                let given = self.decoder.read(target)?;
                if given > 0 {
                    return Ok(given);
                }
                self.check()?;
                self.open = false;
            }
            if !self.next_frame()? {
                return Ok(0);
            }
            self.open = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    /// `printf 'airtoll airtoll airtoll airtoll airtoll' | zstd -19 --check`, by the reference program.
    const REFERENCE: [u8; 27] = [
        0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x68, 0x75, 0x00, 0x00, 0x40, 0x61, 0x69, 0x72, 0x74, 0x6f,
        0x6c, 0x6c, 0x20, 0x01, 0x00, 0x9b, 0xcb, 0x05, 0x08, 0x7e, 0xf6, 0x1f,
    ];

    fn unpacked(packed: &[u8]) -> io::Result<Vec<u8>> {
        let mut octets = Vec::new();
        Frames::new(packed).read_to_end(&mut octets)?;
        Ok(octets)
    }

    #[test]
    fn a_frame_of_the_reference_program_is_read_and_its_checksum_checked() {
        let expected = b"airtoll airtoll airtoll airtoll airtoll".to_vec();
        assert_eq!(unpacked(&REFERENCE).unwrap(), expected);
        let mut wrong = REFERENCE;
        *wrong.last_mut().unwrap() ^= 1;
        assert!(
            unpacked(&wrong)
                .unwrap_err()
                .to_string()
                .contains("checksum")
        );
    }

    #[test]
    fn frames_follow_each_other_and_a_skippable_one_gives_nothing() {
        let skippable = [0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];
        let packed = [&REFERENCE[..], &skippable, &REFERENCE].concat();
        assert_eq!(unpacked(&packed).unwrap().len(), 2 * 39);
        assert!(unpacked(&skippable[..9]).is_err());
    }

    #[test]
    fn a_cut_stream_is_an_error_wherever_it_ends() {
        for end in 1..REFERENCE.len() {
            assert!(unpacked(&REFERENCE[..end]).is_err(), "{end} octets");
        }
    }

    proptest! {
        #[test]
        fn packed_octets_come_back(octets: Vec<u8>, copies in 1_usize..200) {
            let plain = octets.repeat(copies);
            for level in [CompressionLevel::Uncompressed, CompressionLevel::Fastest] {
                prop_assert_eq!(&unpacked(&compress_to_vec(&plain[..], level)).unwrap(), &plain);
            }
        }

        #[test]
        fn no_octets_make_it_panic(octets: Vec<u8>, at in 0_usize..27, flip: u8) {
            let _ = unpacked(&octets);
            let mut damaged = REFERENCE;
            damaged[at] ^= flip;
            let _ = unpacked(&damaged);
        }
    }
}
