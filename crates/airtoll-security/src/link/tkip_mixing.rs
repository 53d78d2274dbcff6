//! TKIP key mixing (IEEE 802.11-2020, 12.5.2.5).
//!
//! Takes a 128-bit temporal key, a transmitter address and a 48-bit TSC; gives the 128-bit RC4 key
//! of one frame. Phase 1 changes every 65536 frames, phase 2 with every frame. Never keeps either.

/// TTAK: the 80 bits that phase 1 gives.
pub type Ttak = [u16; 5];

/// Phase 1: temporal key, transmitter address and the upper 32 bits of the TSC.
#[must_use]
pub fn phase1(temporal_key: &[u8; 16], transmitter: [u8; 6], iv32: u32) -> Ttak {
    let pair = |i: usize| u16::from_le_bytes([transmitter[i], transmitter[i + 1]]);
    let mut p = [iv32 as u16, (iv32 >> 16) as u16, pair(0), pair(2), pair(4)];
    for i in 0..8 {
        let j = usize::from(i & 1);
        p[0] = p[0].wrapping_add(sbox(p[4] ^ word(temporal_key, j)));
        p[1] = p[1].wrapping_add(sbox(p[0] ^ word(temporal_key, 2 + j)));
        p[2] = p[2].wrapping_add(sbox(p[1] ^ word(temporal_key, 4 + j)));
        p[3] = p[3].wrapping_add(sbox(p[2] ^ word(temporal_key, 6 + j)));
        p[4] = p[4]
            .wrapping_add(sbox(p[3] ^ word(temporal_key, j)))
            .wrapping_add(i);
    }
    p
}

/// Phase 2: temporal key, TTAK and the lower 16 bits of the TSC; gives the WEP seed, whose first
/// three octets travel in the clear.
#[must_use]
pub fn phase2(temporal_key: &[u8; 16], ttak: &Ttak, iv16: u16) -> [u8; 16] {
    let tk = |n| word(temporal_key, n);
    let mut p = [
        ttak[0],
        ttak[1],
        ttak[2],
        ttak[3],
        ttak[4],
        ttak[4].wrapping_add(iv16),
    ];
    for i in 0..6 {
        p[i] = p[i].wrapping_add(sbox(p[(i + 5) % 6] ^ tk(i)));
    }
    p[0] = p[0].wrapping_add((p[5] ^ tk(6)).rotate_right(1));
    p[1] = p[1].wrapping_add((p[0] ^ tk(7)).rotate_right(1));
    for i in 2..6 {
        p[i] = p[i].wrapping_add(p[i - 1].rotate_right(1));
    }
    let high = (iv16 >> 8) as u8;
    let mut seed = [0; 16];
    seed[0] = high;
    seed[1] = seed_octet(high);
    seed[2] = iv16 as u8;
    seed[3] = ((p[5] ^ tk(0)) >> 1) as u8;
    for (octets, p) in seed[4..].chunks_exact_mut(2).zip(p) {
        octets.copy_from_slice(&p.to_le_bytes());
    }
    seed
}

/// The second octet of the seed: TSC1 with bits set and cleared so that the RC4 key is none of
/// the weak ones known in 2001.
#[must_use]
pub const fn seed_octet(tsc1: u8) -> u8 {
    (tsc1 | 0x20) & 0x7f
}

fn word(key: &[u8; 16], n: usize) -> u16 {
    u16::from_le_bytes([key[2 * n], key[2 * n + 1]])
}

/// The 16-bit S-box (12.5.2.5.2).
#[inline]
fn sbox(v: u16) -> u16 {
    SBOX[usize::from(v & 255)] ^ SBOX[usize::from(v >> 8)].swap_bytes()
}

/// The low half of the S-box, derived from the AES S-box: 2 S(x) in the upper octet, 3 S(x) in
/// the lower one, products in GF(2^8).
static SBOX: [u16; 256] = {
    let aes = aes_sbox();
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let s = aes[i];
        table[i] = (double(s) as u16) << 8 | (double(s) ^ s) as u16;
        i += 1;
    }
    table
};

const fn double(x: u8) -> u8 {
    (x << 1) ^ if x & 0x80 != 0 { 0x1b } else { 0 }
}

/// The AES S-box (FIPS 197, 5.1.1), walking the powers of 3 and of its inverse together.
const fn aes_sbox() -> [u8; 256] {
    let mut table = [0; 256];
    let (mut p, mut q) = (1u8, 1u8);
    loop {
        p ^= double(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q & 0x80 != 0 {
            q ^= 0x09;
        }
        table[p as usize] =
            0x63 ^ q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4);
        if p == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// FIPS 197, figure 7: corners of the S-box.
    #[test]
    fn sbox_of_fips_197() {
        let table = aes_sbox();
        assert_eq!(
            (table[0], table[1], table[0x53], table[0xff]),
            (0x63, 0x7c, 0xed, 0x16)
        );
        assert_eq!(SBOX[0], 0xc6a5);
    }

    /// The key and TSC of the TKIP MPDU of IEEE 802.11-2012, M.6.3, with its phase outputs.
    #[test]
    fn annex_mixing() {
        let tk = hex!("12345678901234567890123456789012");
        let ttak = phase1(&tk, hex!("020304050607"), 0);
        let octets: Vec<u8> = ttak.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(octets, hex!("bb58071f9e93b438254b"));
        assert_eq!(
            phase2(&tk, &ttak, 1),
            hex!("0020014cfe67bed27c867b1bf8028b1c")
        );
    }
}
