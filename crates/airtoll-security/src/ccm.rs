//! AES-CCM in the shape of IEEE 802.11: 13-octet nonce, 8-octet tag under a 16-octet key, 16
//! under a 32-octet key.
//!
//! Takes a key and a job, or several of each; encrypts or decrypts in place with the best kernel the
//! processor has. Tags are compared in constant time, and a payload that is not authentic is erased before
//! anyone sees it. Never looks at an 802.11 header.

use ccm::aead::array::Array;
use ccm::aead::inout::InOutBuf;
use ccm::consts::{U8, U13, U16};
use ccm::{AeadInOut, Ccm, KeyInit};
#[cfg(target_arch = "x86_64")]
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::error::KeyError;
use crate::kernels::{CcmJob, Engine};

#[cfg(target_arch = "x86_64")]
use crate::kernels::{aes_round_keys::RoundKeys, ccm_aesni, ccm_vaes_keys};

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
        match &self.schedule {
            #[cfg(target_arch = "x86_64")]
            Schedule::Rounds(keys) => {
                ccm_aesni::one::<false>(keys, job, self.tag);
                job.tag[self.tag..].fill(0);
            }
            Schedule::Short(ccm) => seal(&**ccm, job),
            Schedule::Long(ccm) => seal(&**ccm, job),
        }
    }

    /// Decrypts one job whose received tag is in `tag`; see [`CcmJob::authentic`].
    pub fn unseal(&self, job: &mut CcmJob<'_>) {
        match &self.schedule {
            #[cfg(target_arch = "x86_64")]
            Schedule::Rounds(keys) => {
                let received = job.tag;
                ccm_aesni::one::<true>(keys, job, self.tag);
                settle(job, received, self.tag);
            }
            Schedule::Short(ccm) => unseal(&**ccm, job),
            Schedule::Long(ccm) => unseal(&**ccm, job),
        }
    }

    /// Decrypts job `i` under `keys[i]`.
    ///
    /// # Panics
    /// Fewer keys than jobs.
    pub fn unseal_batch(keys: &[&Self], jobs: &mut [CcmJob<'_>]) {
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
                    key.unseal(job);
                }
                continue;
            };
            let rounds = rounds.map(|slot| slot.unwrap_or(first));
            let rounds = &rounds[..jobs.len()];
            let mut order = [0; WINDOW];
            let order = by_length(jobs, &mut order);
            let mut received = [[0; 16]; WINDOW];
            for (tag, job) in received.iter_mut().zip(&*jobs) {
                *tag = job.tag;
            }
            let tag = keys[0].tag;
            if keys[0].engine == Engine::Vaes && jobs.len() > 1 {
                ccm_vaes_keys::unseal(rounds, jobs, order, tag);
            } else {
                ccm_aesni::unseal(rounds, jobs, order, tag);
            }
            for (job, received) in jobs.iter_mut().zip(received) {
                settle(job, received, tag);
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        for (key, job) in keys.iter().zip(jobs) {
            key.unseal(job);
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

fn seal<C>(ccm: &C, job: &mut CcmJob<'_>)
where
    C: AeadInOut<NonceSize = U13>,
{
    let aad = &job.aad[2..2 + usize::from(job.aad[1])];
    let tag = ccm
        .encrypt_inout_detached(&nonce(job), aad, InOutBuf::from(&mut *job.data))
        .expect("the job has checked its payload length");
    job.tag[..tag.len()].copy_from_slice(&tag);
}

fn unseal<C>(ccm: &C, job: &mut CcmJob<'_>)
where
    C: AeadInOut<NonceSize = U13>,
{
    let aad = &job.aad[2..2 + usize::from(job.aad[1])];
    let tag = Array::from_fn(|i| job.tag[i]);
    let opened = ccm.decrypt_inout_detached(&nonce(job), aad, InOutBuf::from(&mut *job.data), &tag);
    job.authentic = opened.is_ok();
    if !job.authentic {
        job.data.zeroize();
    }
}

fn nonce(job: &CcmJob<'_>) -> Array<u8, U13> {
    Array::from_fn(|i| job.counter[i + 1])
}

/// Compares the tag that a kernel left with the one received, and erases what is not authentic.
#[cfg(target_arch = "x86_64")]
fn settle(job: &mut CcmJob<'_>, received: [u8; 16], tag: usize) {
    job.authentic = job.tag[..tag].ct_eq(&received[..tag]).into();
    job.tag = received;
    if !job.authentic {
        job.data.zeroize();
    }
}
