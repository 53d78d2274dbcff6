//! A refilled window over a stream: takes any reader, gives contiguous octets on demand.
//!
//! Memory is bounded by the largest request, which callers check against their own limits.
//! Knows the offset of every octet for damage messages. Never interprets what it reads.

use std::io::Read;

const CHUNK: usize = 1 << 18;

/// A stream with a window of octets read ahead.
pub struct Feed {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    ended: bool,
    failure: Option<String>,
}

impl Feed {
    /// A window over `source`, nothing read yet.
    pub fn new(source: Box<dyn Read + Send>) -> Self {
        Self {
            source,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            offset: 0,
            ended: false,
            failure: None,
        }
    }

    /// Offset of the next octet in the (unpacked) stream.
    pub const fn offset(&self) -> u64 {
        self.offset
    }

    /// The error of a source that failed (corrupt compression, a read error).
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The next octets without consuming them: `len` of them, or fewer where the stream ends.
    #[inline]
    pub fn peek(&mut self, len: usize) -> &[u8] {
        if self.end - self.start < len {
            self.fill(len);
        }
        let end = (self.start + len).min(self.end);
        &self.buffer[self.start..end]
    }

    /// Octets already in the window, without reading.
    pub fn window(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    /// Consumes octets that a peek has shown.
    #[inline]
    pub fn consume(&mut self, len: usize) {
        let len = len.min(self.end - self.start);
        self.start += len;
        self.offset += len as u64;
    }

    /// Consumes `len` octets without holding them; gives how many there were.
    pub fn skip(&mut self, mut len: u64) -> u64 {
        let wanted = len;
        while len > 0 {
            let step = self.peek(len.min(CHUNK as u64) as usize).len();
            if step == 0 {
                break;
            }
            self.consume(step);
            len -= step as u64;
        }
        wanted - len
    }

    /// The stream behind the window.
    pub fn into_source(self) -> Box<dyn Read + Send> {
        self.source
    }

    #[cold]
    fn fill(&mut self, len: usize) {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.buffer.len() < len {
            self.buffer.resize(len.next_multiple_of(CHUNK), 0);
        }
        while self.end < len && !self.ended {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    self.failure = Some(error.to_string());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Trickle(u8);

    impl Read for Trickle {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            if self.0 == 200 {
                return Err(std::io::Error::other("broken"));
            }
            out[0] = self.0;
            self.0 += 1;
            Ok(1)
        }
    }

    #[test]
    fn gives_what_there_is_and_says_why_it_ended() {
        let mut feed = Feed::new(Box::new(Trickle(0)));
        assert_eq!(feed.peek(3), &[0, 1, 2]);
        feed.consume(2);
        assert_eq!(feed.peek(2), &[2, 3]);
        assert_eq!(feed.offset(), 2);
        assert_eq!(feed.skip(1000), 198);
        assert_eq!(feed.failure(), Some("broken"));
        assert!(feed.peek(1).is_empty());
    }
}
