//! AES-CCM in the shape of IEEE 802.11: 13-octet nonce, 8-octet tag under a 16-octet key, 16
//! under a 32-octet key.
//!
//! Takes a key and jobs; encrypts or decrypts them in place with the best kernel the processor
//! has. Tags are compared in constant time, and a payload that is not authentic is erased before
//! anyone sees it. Never looks at an 802.11 header.

use ccm::aead::array::{Array, ArraySize};
use ccm::aead::inout::InOutBuf;
use ccm::consts::{U8, U13, U16};
use ccm::{AeadInOut, Ccm, KeyInit};
#[cfg(target_arch = "x86_64")]
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::error::KeyError;
use crate::kernels::{CcmJob, Engine};

#[cfg(target_arch = "x86_64")]
use crate::kernels::{aes_round_keys::RoundKeys, ccm_aesni, ccm_vaes, ccm_vaes_keys};

/// Jobs sorted by length together; more would sort better and need a larger table.
#[cfg(target_arch = "x86_64")]
const WINDOW: usize = 64;

/// A scheduled AES-CCM key. Erases itself when dropped.
#[derive(Clone)]
pub struct CcmKey {
    schedule: Schedule,
    engine: Engine,
    tag: usize,
}

#[derive(Clone)]
enum Schedule {
    #[cfg(target_arch = "x86_64")]
    Rounds(Box<RoundKeys>),
    Short(Box<Ccm<aes::Aes128, U8, U13>>),
    Long(Box<Ccm<aes::Aes256, U16, U13>>),
}

impl CcmKey {
    /// Schedules a key of 16 or 32 octets for the best engine here.
    ///
    /// # Errors
    /// Another length.
    pub fn new(key: &[u8]) -> Result<Self, KeyError> {
        Self::with_engine(key, Engine::detect())
    }

    /// Schedules a key for a given engine; for tests and measurements.
    ///
    /// # Errors
    /// A key of other than 16 or 32 octets, or an engine this processor cannot run.
    pub fn with_engine(key: &[u8], engine: Engine) -> Result<Self, KeyError> {
        let tag = match key.len() {
            16 => 8,
            32 => 16,
            got => {
                return Err(KeyError::Length {
                    what: "AES-CCM",
                    expected: 16,
                    got,
                });
            }
        };
        if !engine.is_available() {
            return Err(KeyError::NotDefined(
                "this processor cannot run that cipher engine",
            ));
        }
        let length = "the length was checked";
        let schedule = match engine {
            #[cfg(target_arch = "x86_64")]
            Engine::Vaes | Engine::AesNi => {
                Schedule::Rounds(Box::new(RoundKeys::new(key).expect(length)))
            }
            _ if tag == 8 => Schedule::Short(Box::new(KeyInit::new_from_slice(key).expect(length))),
            _ => Schedule::Long(Box::new(KeyInit::new_from_slice(key).expect(length))),
        };
        Ok(Self {
            schedule,
            engine,
            tag,
        })
    }

    /// Octets of tag: 8 or 16.
    #[must_use]
    pub const fn tag_octets(&self) -> usize {
        self.tag
    }

    /// The engine in use.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        self.engine
    }

    /// Encrypts one job and writes its tag.
    pub fn seal(&self, job: &mut CcmJob<'_>) {
        self.one::<false>(job);
    }

    /// Decrypts one job whose received tag is in `tag`; see [`CcmJob::authentic`].
    pub fn unseal(&self, job: &mut CcmJob<'_>) {
        self.one::<true>(job);
    }

    /// Encrypts all jobs under this key and writes their tags.
    pub fn seal_batch(&self, jobs: &mut [CcmJob<'_>]) {
        self.many::<false>(jobs);
    }

    /// Decrypts all jobs under this key.
    pub fn unseal_batch(&self, jobs: &mut [CcmJob<'_>]) {
        self.many::<true>(jobs);
    }

    /// Encrypts each job under its own key.
    ///
    /// # Panics
    /// Fewer keys than jobs.
    pub fn seal_batch_keys(keys: &[&Self], jobs: &mut [CcmJob<'_>]) {
        Self::many_keys::<false>(keys, jobs);
    }

    /// Decrypts each job under its own key.
    ///
    /// # Panics
    /// Fewer keys than jobs.
    pub fn unseal_batch_keys(keys: &[&Self], jobs: &mut [CcmJob<'_>]) {
        Self::many_keys::<true>(keys, jobs);
    }

    fn one<const DECRYPT: bool>(&self, job: &mut CcmJob<'_>) {
        match &self.schedule {
            #[cfg(target_arch = "x86_64")]
            Schedule::Rounds(keys) => {
                let received = [job.tag];
                let jobs = core::slice::from_mut(job);
                ccm_aesni::run::<DECRYPT>(|_| keys, jobs, &[0], self.tag);
                settle::<DECRYPT>(jobs, &received, self.tag);
            }
            Schedule::Short(ccm) => portable::<_, U8, DECRYPT>(&**ccm, job),
            Schedule::Long(ccm) => portable::<_, U16, DECRYPT>(&**ccm, job),
        }
    }

    fn many<const DECRYPT: bool>(&self, jobs: &mut [CcmJob<'_>]) {
        match &self.schedule {
            #[cfg(target_arch = "x86_64")]
            Schedule::Rounds(keys) => {
                for window in jobs.chunks_mut(WINDOW) {
                    let mut order = [0; WINDOW];
                    let order = by_length(window, &mut order);
                    let received = received_tags::<DECRYPT>(window);
                    if self.engine == Engine::Vaes && window.len() > 1 {
                        ccm_vaes::run::<DECRYPT>(keys, window, order, self.tag);
                    } else {
                        ccm_aesni::run::<DECRYPT>(|_| keys, window, order, self.tag);
                    }
                    settle::<DECRYPT>(window, &received, self.tag);
                }
            }
            _ => jobs.iter_mut().for_each(|job| self.one::<DECRYPT>(job)),
        }
    }

    fn many_keys<const DECRYPT: bool>(keys: &[&Self], jobs: &mut [CcmJob<'_>]) {
        assert!(keys.len() >= jobs.len(), "a key for every job");
        #[cfg(target_arch = "x86_64")]
        for (keys, jobs) in keys.chunks(WINDOW).zip(jobs.chunks_mut(WINDOW)) {
            let keys = &keys[..jobs.len()];
            let alike = |key: &&Self| key.engine == keys[0].engine && key.tag == keys[0].tag;
            let mut rounds = [None; WINDOW];
            for (slot, key) in rounds.iter_mut().zip(keys) {
                if let Schedule::Rounds(round_keys) = &key.schedule {
                    *slot = Some(&**round_keys);
                }
            }
            let (Some(first), true) = (rounds[0], keys.iter().all(alike)) else {
                for (key, job) in keys.iter().zip(jobs) {
                    key.one::<DECRYPT>(job);
                }
                continue;
            };
            let rounds = rounds.map(|slot| slot.unwrap_or(first));
            let mut order = [0; WINDOW];
            let order = by_length(jobs, &mut order);
            let received = received_tags::<DECRYPT>(jobs);
            if keys[0].engine == Engine::Vaes && jobs.len() > 1 {
                ccm_vaes_keys::run::<DECRYPT>(&rounds[..jobs.len()], jobs, order, keys[0].tag);
            } else {
                ccm_aesni::run::<DECRYPT>(|i| rounds[i], jobs, order, keys[0].tag);
            }
            settle::<DECRYPT>(jobs, &received, keys[0].tag);
        }
        #[cfg(not(target_arch = "x86_64"))]
        for (key, job) in keys.iter().zip(jobs) {
            key.one::<DECRYPT>(job);
        }
    }
}

impl core::fmt::Debug for CcmKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "CcmKey({}, tag of {} octets)",
            self.engine.name(),
            self.tag
        )
    }
}

/// The order in which frames of similar length stand next to each other, so that lanes in lock
/// step finish together.
#[cfg(target_arch = "x86_64")]
fn by_length<'o>(jobs: &[CcmJob<'_>], order: &'o mut [u16; WINDOW]) -> &'o [u16] {
    let order = &mut order[..jobs.len()];
    for (i, slot) in (0..).zip(order.iter_mut()) {
        *slot = i;
    }
    let length = |&i: &u16| jobs[usize::from(i)].data.len();
    if !order.is_sorted_by_key(length) {
        order.sort_unstable_by_key(length);
    }
    order
}

fn portable<C, M, const DECRYPT: bool>(ccm: &C, job: &mut CcmJob<'_>)
where
    C: AeadInOut<NonceSize = U13, TagSize = M>,
    M: ArraySize,
{
    let aad = &job.aad[2..2 + usize::from(job.aad[1])];
    let nonce = Array::from_fn(|i| job.counter[i + 1]);
    let buffer = InOutBuf::from(&mut *job.data);
    if DECRYPT {
        let tag = Array::from_fn(|i| job.tag[i]);
        job.authentic = ccm
            .decrypt_inout_detached(&nonce, aad, buffer, &tag)
            .is_ok();
        if !job.authentic {
            job.data.zeroize();
        }
    } else {
        let tag = ccm
            .encrypt_inout_detached(&nonce, aad, buffer)
            .expect("the job has checked its payload length");
        job.tag[..tag.len()].copy_from_slice(&tag);
    }
}

#[cfg(target_arch = "x86_64")]
fn received_tags<const DECRYPT: bool>(jobs: &[CcmJob<'_>]) -> [[u8; 16]; WINDOW] {
    let mut tags = [[0; 16]; WINDOW];
    if DECRYPT {
        for (tag, job) in tags.iter_mut().zip(jobs) {
            *tag = job.tag;
        }
    }
    tags
}

/// Cuts the tags that the kernels left to their length or, after decryption, compares them with
/// those received and erases what is not authentic.
#[cfg(target_arch = "x86_64")]
fn settle<const DECRYPT: bool>(jobs: &mut [CcmJob<'_>], received: &[[u8; 16]], tag: usize) {
    if !DECRYPT {
        if tag < 16 {
            jobs.iter_mut().for_each(|job| job.tag[tag..].fill(0));
        }
        return;
    }
    for (job, received) in jobs.iter_mut().zip(received) {
        job.authentic = job.tag[..tag].ct_eq(&received[..tag]).into();
        job.tag = *received;
        if !job.authentic {
            job.data.zeroize();
        }
    }
}
