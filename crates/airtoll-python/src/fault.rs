//! Faults of the native code: a panic becomes a Python exception that says what and where.
//!
//! The panic of one trial must not end the trials beside it, and its text must not be written over a
//! progress bar: inside a guarded call the hook keeps the words instead of printing them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::Once;

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::panic::PanicException;
use pyo3::prelude::*;

create_exception!(
    _native,
    Fault,
    PyException,
    "The native code stopped at a fault of its own; the message says what and where."
);

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
    static SAID: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A caught panic, in words.
#[derive(Debug)]
pub struct Panicked(pub String);

impl From<Panicked> for PyErr {
    fn from(Panicked(words): Panicked) -> Self {
        Fault::new_err(words)
    }
}

/// Carries out `work`; a panic in it ends it alone.
///
/// # Errors
/// [`Panicked`] with the message and the place in the source.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if GUARDED.get() {
                SAID.replace(Some(words(info)));
            } else {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    // The values of the work are dropped with the panic: no caller sees a half-changed one.
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    done.map_err(|payload| Panicked(SAID.take().unwrap_or_else(|| message(payload.as_ref()))))
}

fn words(info: &PanicHookInfo<'_>) -> String {
    let said = message(info.payload());
    match info.location() {
        Some(at) => format!("{said} ({}:{})", at.file(), at.line()),
        None => said,
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned())
}

/// Stops as a fault of the native code would, with these words. Tests of what follows use it.
///
/// Raises `Fault`.
#[pyfunction]
fn stop_with_fault(py: Python<'_>, words: &str) -> PyResult<()> {
    py.detach(|| guarded(|| panic!("{words}")))?;
    Ok(())
}

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Fault", module.py().get_type::<Fault>())?;
    // Of calls that are not guarded.
    module.add("PanicException", module.py().get_type::<PanicException>())?;
    module.add_function(wrap_pyfunction!(stop_with_fault, module)?)
}
