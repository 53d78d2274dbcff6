//! Exported functions of the module, and the octets that they share with a page.
#![allow(
    unsafe_code,
    reason = "an exported name is an unsafe attribute; the functions themselves are safe"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

struct Shared {
    request: Vec<u8>,
    answer: Vec<u8>,
}

static SHARED: Mutex<Shared> = Mutex::new(Shared {
    request: Vec::new(),
    answer: Vec::new(),
});

fn shared() -> MutexGuard<'static, Shared> {
    SHARED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a request of so many octets; gives where the page writes them.
#[unsafe(no_mangle)]
pub extern "C" fn request(octets: usize) -> *mut u8 {
    let mut shared = shared();
    shared.request.clear();
    shared.request.resize(octets, 0);
    shared.request.as_mut_ptr()
}

/// Simulates what the request says; gives the number of octets of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    let mut shared = shared();
    shared.answer = crate::answer(&shared.request);
    shared.answer.len()
}

/// Where the answer is.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    shared().answer.as_ptr()
}

/// Writes a request as a page does.
#[cfg(test)]
pub(crate) fn fill(octets: &[u8]) {
    let _ = request(octets.len());
    shared().request.copy_from_slice(octets);
}

/// The answer as a page reads it.
#[cfg(test)]
pub(crate) fn taken() -> Vec<u8> {
    shared().answer.clone()
}
