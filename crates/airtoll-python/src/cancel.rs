//! A flag that one thread sets to end a long call in another.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _native,
    SimulationInterrupted,
    PyException,
    "The caller asked to stop."
);

/// Handed to a long call; `set` makes the call end soon with `SimulationInterrupted`.
#[pyclass(frozen)]
#[derive(Clone, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
}

impl Cancel {
    /// Whether the caller asked to stop.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Ask every call that holds this flag to end.
    fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }
}

/// Adds [`Cancel`] to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Cancel>()?;
    module.add(
        "SimulationInterrupted",
        module.py().get_type::<SimulationInterrupted>(),
    )
}
