//! The only crate that knows PyO3: one file per part of the native module `airtoll._native`.
//!
//! Takes Python values, gives Python values; every call releases the interpreter lock while it
//! works. Never holds logic of its own.

mod analytic;
mod answers;
mod cancel;
mod capture;
mod ciphers;
mod exchanges;
mod fault;
mod handshakes;
mod mobility;
mod recording;
mod refused;
mod scenario;
mod simulate;
mod tables;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("aws_lc", cfg!(feature = "aws-lc"))?;
    analytic::register(module)?;
    cancel::register(module)?;
    capture::register(module)?;
    ciphers::register(module)?;
    exchanges::register(module)?;
    fault::register(module)?;
    handshakes::register(module)?;
    mobility::register(module)?;
    scenario::register(module)?;
    simulate::register(module)?;
    tables::register(module)?;
    Ok(())
}
