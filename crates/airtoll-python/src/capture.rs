//! Capture reports: paths and keys in, one JSON text out.

use std::path::PathBuf;

use airtoll_capture::frames::{Seen, Status};
use airtoll_capture::keys::Keys;
use airtoll_capture::{CaptureError, Request, analyse};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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

/// A frame for Python: number, state, protected data, EAPOL, EAP, plaintext.
type Row<T> = (u64, &'static str, bool, bool, bool, Option<T>);

/// Every frame of captures, in order; `keys` as of [`capture_report`].
#[pyfunction]
fn capture_frames(
    py: Python<'_>,
    files: Vec<PathBuf>,
    keys: Vec<String>,
    key_logs: Vec<PathBuf>,
) -> PyResult<Vec<Row<Py<PyBytes>>>> {
    let rows = py
        .detach(|| frames(files, &keys, &key_logs))
        .map_err(|error| BadCapture::new_err(error.to_string()))?;
    Ok(rows
        .into_iter()
        .map(|(number, state, protected, eapol, eap, plain)| {
            let plain = plain.map(|plain| PyBytes::new(py, &plain).unbind());
            (number, state, protected, eapol, eap, plain)
        })
        .collect())
}

/// Adds this room to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BadCapture", module.py().get_type::<BadCapture>())?;
    module.add_function(wrap_pyfunction!(capture_report, module)?)?;
    module.add_function(wrap_pyfunction!(capture_frames, module)?)
}

fn report(
    files: Vec<PathBuf>,
    texts: &[String],
    key_logs: &[PathBuf],
) -> Result<String, CaptureError> {
    analyse(&request(files, texts, key_logs)?, None).map(|report| report.to_json())
}

fn frames(
    files: Vec<PathBuf>,
    texts: &[String],
    key_logs: &[PathBuf],
) -> Result<Vec<Row<Vec<u8>>>, CaptureError> {
    let mut rows: Vec<Row<Vec<u8>>> = Vec::new();
    let mut watcher = |seen: &Seen<'_>| {
        let opened = seen.status == Status::Decrypted;
        let row = (
            seen.number,
            seen.status.words(),
            seen.protected_data,
            seen.eapol,
            seen.eap,
            opened.then(|| seen.plain.to_vec()),
        );
        // A frame that a later pass opens is seen again.
        match usize::try_from(seen.number - 1) {
            Ok(at) if at < rows.len() => rows[at] = row,
            _ => rows.push(row),
        }
    };
    analyse(&request(files, texts, key_logs)?, Some(&mut watcher))?;
    Ok(rows)
}

fn request(
    files: Vec<PathBuf>,
    texts: &[String],
    key_logs: &[PathBuf],
) -> Result<Request, CaptureError> {
    let mut keys = Keys::default();
    keys.add_texts(texts)?;
    for log in key_logs {
        keys.add_log(log)?;
    }
    Ok(Request { files, keys })
}
