//! The LDPC codes of HT and later: encoder, shortening, puncturing and repetition, and a layered normalised
//! min-sum decoder.
//!
//! Source: IEEE Std 802.11-2020, 19.3.11.7.5 and 21.3.10.5.4 (words of a PPDU; data bits fill whole symbols, as in
//! VHT, and the symbol that missing check bits cost is sent) and annex F (matrices). The decoder is that of
//! Hocevar, "A reduced complexity decoder architecture via layered decoding of LDPC codes" (SiPS 2004), with
//! the normalisation of Chen and Fossorier (IEEE Trans. Comm. 50(3), 2002).

use airtoll_phy::{CodeRate, CodeWords};

use super::matrices::prototype;
use super::{Noise, SUBCARRIERS};

/// Columns of blocks of every matrix.
const COLUMNS: usize = 24;
/// Passes over all checks at most.
const ITERATIONS: usize = 12;
/// Factor of the normalised min-sum algorithm.
const NORMALISATION: f32 = 0.75;
/// Certainty of a bit that is known to be 0; above that of every received bit.
const KNOWN: f32 = 1e6;
/// Rows of the largest block.
const MOST_ROWS: usize = 81;

type Lanes = [f32; MOST_ROWS];

/// A block of a matrix that is not zero.
#[derive(Clone, Copy)]
struct Block {
    column: usize,
    shift: usize,
}

/// A matrix in rows of blocks.
struct Matrix {
    /// Rows of a block.
    size: usize,
    rows: Vec<Vec<Block>>,
}

impl Matrix {
    fn new(length: u32, code: CodeRate) -> Self {
        let block = |(column, shift): (usize, &str)| {
            let shift = shift.parse().ok()?;
            Some(Block { column, shift })
        };
        let row = |line: &str| line.split(' ').enumerate().filter_map(block).collect();
        Self {
            size: length as usize / COLUMNS,
            rows: prototype(length, code).lines().map(row).collect(),
        }
    }

    fn data_bits(&self) -> usize {
        (COLUMNS - self.rows.len()) * self.size
    }

    /// Puts the check bits behind the data bits of `word`.
    ///
    /// The first block column of check bits has three blocks, two of which are equal, and the others are a
    /// double diagonal: the sum of all rows leaves the first block of check bits alone.
    fn encode(&self, word: &mut [bool]) {
        let (size, data) = (self.size, self.data_bits());
        let (data_columns, rows) = (data / size, self.rows.len());
        let mut sums = vec![false; rows * size];
        let add = |sum: &mut [bool], word: &[bool], block: &Block| {
            for (i, sum) in sum.iter_mut().enumerate() {
                *sum ^= word[block.column * size + (i + block.shift) % size];
            }
        };
        for (row, sum) in self.rows.iter().zip(sums.chunks_mut(size)) {
            for block in row.iter().filter(|b| b.column < data_columns) {
                add(sum, word, block);
            }
        }
        word[data..].fill(false);
        for sum in sums.chunks(size) {
            for (check, sum) in word[data..].iter_mut().zip(sum) {
                *check ^= sum;
            }
        }
        for (row, sum) in self.rows.iter().zip(sums.chunks_mut(size)) {
            for block in row.iter().filter(|b| b.column == data_columns) {
                add(sum, word, block);
            }
        }
        for row in 0..rows - 1 {
            let at = data + (row + 1) * size;
            for i in 0..size {
                let before = row > 0 && word[at - size + i];
                word[at + i] = sums[row * size + i] ^ before;
            }
        }
    }

    /// Whether the signs of `bits` meet every check.
    fn is_met(&self, bits: &[f32]) -> bool {
        let size = self.size;
        self.rows.iter().all(|row| {
            let mut odd = [0_u32; MOST_ROWS];
            for block in row {
                let column = &bits[block.column * size..][..size];
                let (front, back) = odd[..size].split_at_mut(size - block.shift);
                for (odd, bit) in front.iter_mut().zip(&column[block.shift..]) {
                    *odd ^= bit.to_bits();
                }
                for (odd, bit) in back.iter_mut().zip(column) {
                    *odd ^= bit.to_bits();
                }
            }
            odd[..size].iter().fold(0, |any, odd| any | odd) >> 31 == 0
        })
    }
}

/// Coder and decoder of frames of one length.
pub struct Ldpc {
    words: CodeWords,
    matrix: Matrix,
    /// Data bits of all words, and all words with shortened and punctured bits.
    data: Vec<bool>,
    coded: Vec<Vec<bool>>,
    /// Messages of the checks, by blocks of the matrix, and what the bits of a row told it.
    messages: Vec<Vec<Lanes>>,
    told: Vec<Lanes>,
}

/// The parts of a word that are sent.
struct Parts {
    /// Data bits that are not known to be 0.
    data: usize,
    /// Check bits.
    checks: usize,
    /// Bits that are sent once more, from the first on.
    repeated: usize,
}

impl Ldpc {
    /// For `data` bits, SERVICE included, in symbols of `bits` bits per subcarrier.
    pub fn new(data: usize, code: CodeRate, bits: usize) -> Self {
        let rate = code.fraction();
        let per_symbol = (SUBCARRIERS * bits) as u64;
        let data_bits = per_symbol * u64::from(rate.numerator) / u64::from(rate.denominator);
        let symbols = (data as u64).div_ceil(data_bits);
        let words = CodeWords::of(symbols * data_bits, symbols * per_symbol, per_symbol, code);
        let matrix = Matrix::new(words.length as u32, code);
        let longest = matrix.rows.iter().map(Vec::len).max().unwrap_or(0);
        Self {
            coded: vec![vec![false; words.length as usize]; words.words as usize],
            messages: matrix
                .rows
                .iter()
                .map(|row| vec![[0.0; MOST_ROWS]; row.len()])
                .collect(),
            told: vec![[0.0; MOST_ROWS]; longest],
            words,
            matrix,
            data: Vec::new(),
        }
    }

    /// The first words have the bits that do not divide evenly.
    fn parts(&self, word: usize) -> Parts {
        let share = |all: u64| {
            let more = (word as u64) < all % self.words.words;
            (all / self.words.words) as usize + usize::from(more)
        };
        let data = self.matrix.data_bits();
        Parts {
            data: data - share(self.words.shortened),
            checks: self.words.length as usize - data - share(self.words.punctured),
            repeated: share(self.words.repeated),
        }
    }

    /// Appends a frame of random bits.
    pub fn encode(&mut self, noise: &mut Noise, sent: &mut Vec<bool>) {
        let data_bits = self.matrix.data_bits();
        self.data.clear();
        let count = data_bits * self.coded.len() - self.words.shortened as usize;
        noise.data(count, &mut self.data);
        let mut from = 0;
        for number in 0..self.coded.len() {
            let parts = self.parts(number);
            let word = &mut self.coded[number];
            word[..parts.data].copy_from_slice(&self.data[from..from + parts.data]);
            word[parts.data..data_bits].fill(false);
            from += parts.data;
            self.matrix.encode(word);
            let start = sent.len();
            sent.extend_from_slice(&word[..parts.data]);
            sent.extend_from_slice(&word[data_bits..data_bits + parts.checks]);
            for i in 0..parts.repeated {
                sent.push(sent[start + i]);
            }
        }
    }

    /// Whether the decoder gives other bits than were sent.
    pub fn fails(&mut self, received: &[f32]) -> bool {
        let data_bits = self.matrix.data_bits();
        let mut bits = vec![0.0; self.words.length as usize];
        let mut rest = received;
        for number in 0..self.coded.len() {
            let parts = self.parts(number);
            let own = parts.data + parts.checks;
            let (word, behind) = rest.split_at(own + parts.repeated);
            rest = behind;
            bits.fill(0.0);
            bits[parts.data..data_bits].fill(KNOWN);
            for (i, heard) in word.iter().enumerate() {
                let i = i % own;
                let at = if i < parts.data {
                    i
                } else {
                    data_bits + i - parts.data
                };
                bits[at] += heard;
            }
            self.decode(&mut bits);
            let wrong = |(bit, sent): (&f32, &bool)| (*bit < 0.0) != *sent;
            if bits[..data_bits].iter().zip(&self.coded[number]).any(wrong) {
                return true;
            }
        }
        false
    }

    /// Turns log-likelihood ratios of the channel into those after decoding.
    fn decode(&mut self, bits: &mut [f32]) {
        let size = self.matrix.size;
        for messages in &mut self.messages {
            messages.fill([0.0; MOST_ROWS]);
        }
        for _ in 0..ITERATIONS {
            for (row, messages) in self.matrix.rows.iter().zip(&mut self.messages) {
                let told = &mut self.told[..row.len()];
                let (mut least, mut second) = ([f32::MAX; MOST_ROWS], [f32::MAX; MOST_ROWS]);
                let mut signs = [0_u32; MOST_ROWS];
                for ((block, message), told) in row.iter().zip(messages.iter()).zip(told.iter_mut())
                {
                    let column = &bits[block.column * size..][..size];
                    let split = size - block.shift;
                    told[..split].copy_from_slice(&column[block.shift..]);
                    told[split..size].copy_from_slice(&column[..block.shift]);
                    for i in 0..size {
                        told[i] -= message[i];
                        let certainty = told[i].abs();
                        second[i] = second[i].min(least[i].max(certainty));
                        least[i] = least[i].min(certainty);
                        signs[i] ^= told[i].to_bits() & 1 << 31;
                    }
                }
                for ((block, message), told) in row.iter().zip(messages.iter_mut()).zip(told) {
                    for i in 0..size {
                        // The least of the others.
                        let others = if told[i].abs() == least[i] {
                            second[i]
                        } else {
                            least[i]
                        };
                        let sign = signs[i] ^ told[i].to_bits() & 1 << 31;
                        message[i] = f32::from_bits((NORMALISATION * others).to_bits() ^ sign);
                        told[i] += message[i];
                    }
                    let column = &mut bits[block.column * size..][..size];
                    let split = size - block.shift;
                    column[block.shift..].copy_from_slice(&told[..split]);
                    column[..block.shift].copy_from_slice(&told[split..size]);
                }
            }
            if self.matrix.is_met(bits) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Draws;
    use super::*;

    const RATES: [CodeRate; 4] = [
        CodeRate::R1_2,
        CodeRate::R2_3,
        CodeRate::R3_4,
        CodeRate::R5_6,
    ];

    fn matrices() -> impl Iterator<Item = (u32, CodeRate, Matrix)> {
        let all = [648, 1_296, 1_944]
            .into_iter()
            .flat_map(|n| RATES.map(|r| (n, r)));
        all.map(|(n, r)| (n, r, Matrix::new(n, r)))
    }

    #[test]
    fn matrices_have_the_shape_of_annex_f() {
        for (length, code, matrix) in matrices() {
            let rate = code.fraction();
            let checks =
                COLUMNS * (rate.denominator - rate.numerator) as usize / rate.denominator as usize;
            assert_eq!(matrix.rows.len(), checks, "{length} {code:?}");
            let data = COLUMNS - checks;
            let mut columns = vec![Vec::new(); COLUMNS];
            for (row, blocks) in matrix.rows.iter().enumerate() {
                for block in blocks {
                    assert!(block.shift < matrix.size);
                    columns[block.column].push((row, block.shift));
                }
            }
            // The first column of check bits: rotated by one, not rotated, rotated by one.
            let shifts: Vec<_> = columns[data].iter().map(|(_, shift)| *shift).collect();
            assert_eq!(shifts, [1, 0, 1], "{length} {code:?}");
            assert_eq!((columns[data][0].0, columns[data][2].0), (0, checks - 1));
            for (i, column) in columns[data + 1..].iter().enumerate() {
                assert_eq!(column, &[(i, 0), (i + 1, 0)], "{length} {code:?}");
            }
            assert!(
                columns[..data].iter().all(|column| column.len() >= 3),
                "{length} {code:?}"
            );
        }
    }

    #[test]
    fn hardly_any_two_bits_share_two_checks() {
        // A cycle of four: two rows and two columns of blocks with equal differences of their shifts. Nine
        // matrices have none; wrong digits make some.
        for (length, code, matrix) in matrices() {
            let shift = |row: usize, column: usize| {
                let found = matrix.rows[row].iter().find(|b| b.column == column);
                found.map(|b| b.shift)
            };
            let mut cycles = 0;
            for (a, b) in pairs(matrix.rows.len()) {
                for (c, d) in pairs(COLUMNS) {
                    let corners = [shift(a, c), shift(b, c), shift(a, d), shift(b, d)];
                    if let [Some(ac), Some(bc), Some(ad), Some(bd)] = corners {
                        cycles += u32::from((ac + bd) % matrix.size == (bc + ad) % matrix.size);
                    }
                }
            }
            let known = match (length, code) {
                (648, CodeRate::R3_4) | (1_296, CodeRate::R2_3) => 2,
                (1_944, CodeRate::R2_3) => 1,
                _ => 0,
            };
            assert_eq!(cycles, known, "{length} {code:?}");
        }
    }

    fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
    }

    #[test]
    fn every_encoded_word_meets_all_checks() {
        let mut noise = Noise {
            draws: Draws(7),
            kept: None,
        };
        for (length, code, matrix) in matrices() {
            for _ in 0..3 {
                let mut word = Vec::new();
                noise.data(length as usize, &mut word);
                matrix.encode(&mut word);
                let mut bits: Vec<f32> = word.iter().map(|b| if *b { -1.0 } else { 1.0 }).collect();
                assert!(matrix.is_met(&bits), "{length} {code:?}");
                let wrong = noise.draws.bits() as usize % bits.len();
                bits[wrong] = -bits[wrong];
                assert!(!matrix.is_met(&bits), "{length} {code:?} {wrong}");
            }
        }
    }

    #[test]
    fn erased_bits_come_back() {
        let mut noise = Noise {
            draws: Draws(11),
            kept: None,
        };
        for octets in [14, 60, 100, 150, 400] {
            for code in RATES {
                let mut ldpc = Ldpc::new(16 + 8 * octets, code, 2);
                let mut sent = Vec::new();
                ldpc.encode(&mut noise, &mut sent);
                assert_eq!(sent.len() as u64, ldpc.words.sent);
                assert_eq!(sent.len() % (2 * SUBCARRIERS), 0);
                let mut heard: Vec<f32> =
                    sent.iter().map(|b| if *b { -1.0 } else { 1.0 }).collect();
                assert!(!ldpc.fails(&heard), "{octets} {code:?}");
                heard.iter_mut().step_by(37).for_each(|bit| *bit = 0.0);
                assert!(!ldpc.fails(&heard), "{octets} {code:?}");
                heard.iter_mut().for_each(|bit| *bit = -*bit);
                assert!(ldpc.fails(&heard), "{octets} {code:?}");
            }
        }
    }
}
