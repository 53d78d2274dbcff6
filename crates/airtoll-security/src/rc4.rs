//! The RC4 stream cipher, one stream at a time.
//!
//! Takes a key of 1 to 256 octets; gives its key stream, XORed over data. Never authenticates
//! anything. Broken as a cipher (RFC 7465): here only because WEP, TKIP and EAPOL-Key descriptor
//! version 1 are made of it. Several streams at once: `crate::batch`.

use zeroize::{Zeroize, ZeroizeOnDrop};

/// One RC4 key stream.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Rc4 {
    state: [u8; 256],
    i: u8,
    j: u8,
}

impl Rc4 {
    /// Schedules a key. Octets beyond the 256th have no influence; an empty key leaves the
    /// identity permutation.
    #[must_use]
    pub fn new(key: &[u8]) -> Self {
        let mut state: [u8; 256] = core::array::from_fn(|i| i as u8);
        if !key.is_empty() {
            let mut j = 0u8;
            for i in 0..256 {
                j = j.wrapping_add(state[i]).wrapping_add(key[i % key.len()]);
                state.swap(i, usize::from(j));
            }
        }
        Self { state, i: 0, j: 0 }
    }

    /// The next octet of key stream.
    #[inline]
    pub fn next_octet(&mut self) -> u8 {
        self.i = self.i.wrapping_add(1);
        let x = self.state[usize::from(self.i)];
        self.j = self.j.wrapping_add(x);
        let y = self.state[usize::from(self.j)];
        self.state[usize::from(self.i)] = y;
        self.state[usize::from(self.j)] = x;
        self.state[usize::from(x.wrapping_add(y))]
    }

    /// XORs the key stream over `data`: encrypts or decrypts.
    pub fn apply(&mut self, data: &mut [u8]) {
        for octet in data {
            *octet ^= self.next_octet();
        }
    }

    /// Throws away `octets` of key stream.
    pub fn skip(&mut self, octets: usize) {
        for _ in 0..octets {
            self.next_octet();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    fn stream_at(key: &[u8], offset: usize) -> [u8; 16] {
        let mut rc4 = Rc4::new(key);
        rc4.skip(offset);
        let mut out = [0; 16];
        rc4.apply(&mut out);
        out
    }

    #[test]
    fn rfc6229_section_2() {
        let key40 = hex!("0102030405");
        assert_eq!(
            stream_at(&key40, 0),
            hex!("b2396305f03dc027ccc3524a0a1118a8")
        );
        assert_eq!(
            stream_at(&key40, 16),
            hex!("6982944f18fc82d589c403a47a0d0919")
        );
        assert_eq!(
            stream_at(&key40, 4096),
            hex!("ff25b58995996707e51fbdf08b34d875")
        );
        let key128 = hex!("0102030405060708090a0b0c0d0e0f10");
        assert_eq!(
            stream_at(&key128, 0),
            hex!("9ac7cc9a609d1ef7b2932899cde41b97")
        );
        let key256 = hex!("0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20");
        assert_eq!(
            stream_at(&key256, 0),
            hex!("eaa6bd25880bf93d3f5d1e4ca2611d91")
        );
    }

    #[test]
    fn any_key_length_schedules() {
        for length in [0, 1, 256, 300] {
            Rc4::new(&vec![7; length]).skip(3);
        }
    }
}
