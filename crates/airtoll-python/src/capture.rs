//! Capture reports: paths and keys in, one JSON text out.

use std::path::PathBuf;

use airtoll_capture::keys::Keys;
use airtoll_capture::{CaptureError, Request, analyse};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    _native,
    BadCapture,
    PyValueError,
    "A file that cannot be read as a capture, or a key that cannot be meant."
);

/// The report on captures, as JSON. `keys` are texts of the form KIND:VALUE.
#[pyfunction]
fn capture_report(
    py: Python<'_>,
    files: Vec<PathBuf>,
    keys: Vec<String>,
    key_logs: Vec<PathBuf>,
) -> PyResult<String> {
    py.detach(|| report(files, &keys, &key_logs))
        .map_err(|error| BadCapture::new_err(error.to_string()))
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BadCapture", module.py().get_type::<BadCapture>())?;
    module.add_function(wrap_pyfunction!(capture_report, module)?)
}

fn report(
    files: Vec<PathBuf>,
    texts: &[String],
    key_logs: &[PathBuf],
) -> Result<String, CaptureError> {
    let mut keys = Keys::default();
    keys.add_texts(texts)?;
    for log in key_logs {
        keys.add_log(log)?;
    }
    let request = Request { files, keys };
    analyse(&request, None).map(|report| report.to_json())
}
