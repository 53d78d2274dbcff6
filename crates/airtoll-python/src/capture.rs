//! Capture reports: takes paths, keys and options, gives one JSON text; joins of a live capture.

use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use airtoll_border::CaptureOptions;
use airtoll_capture::file::Reader;
use airtoll_capture::frames::{Seen, Status};
use airtoll_capture::keys::Keys;
use airtoll_capture::networks::networks;
use airtoll_capture::session::SessionReport;
use airtoll_capture::{
    AnnouncedBss, CaptureError, HeardBss, Request, Selection, Window, analyse, heard_bss, watch,
};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::answers::answer;

create_exception!(
    _native,
    BadCapture,
    PyValueError,
    "A file that cannot be read as a capture, or an invalid key or option."
);

/// The report on captures, as JSON. `keys` are texts of the form KIND:VALUE; `options_json` is the
/// JSON of `airtoll.border.CaptureOptions`.
#[pyfunction]
fn capture_report(
    py: Python<'_>,
    files: Vec<PathBuf>,
    keys: Vec<String>,
    key_logs: Vec<PathBuf>,
    options_json: &str,
) -> PyResult<String> {
    let request = request(files, &keys, &key_logs, &options(options_json)?).map_err(bad)?;
    py.detach(|| analyse(&request, None).map(|report| report.to_json()))
        .map_err(bad)
}

/// Writes the report as JSON to a Python file of octets, in pieces. Gives the places where files
/// broke and the rows of key logs that were left out, as JSON.
#[pyfunction]
fn write_capture_report(
    py: Python<'_>,
    sink: Py<PyAny>,
    files: Vec<PathBuf>,
    keys: Vec<String>,
    key_logs: Vec<PathBuf>,
    options_json: &str,
) -> PyResult<String> {
    let request = request(files, &keys, &key_logs, &options(options_json)?).map_err(bad)?;
    let report = py.detach(|| analyse(&request, None)).map_err(bad)?;
    py.detach(|| {
        let mut out = BufWriter::with_capacity(1 << 16, Sink(sink));
        report.write_json(&mut out)?;
        out.flush()?;
        let said = serde_json::json!({
            "damages": report.damages,
            "skipped_keys": report.skipped_keys,
        });
        Ok::<_, std::io::Error>(said.to_string())
    })
    .map_err(PyErr::from)
}

/// A Python file that takes octets.
struct Sink(Py<PyAny>);

impl Write for Sink {
    fn write(&mut self, octets: &[u8]) -> std::io::Result<usize> {
        Python::attach(|py| {
            self.0
                .call_method1(py, "write", (PyBytes::new(py, octets),))
                .map(|_| octets.len())
                .map_err(std::io::Error::other)
        })
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Python::attach(|py| self.0.call_method0(py, "flush").map(|_| ()))
            .map_err(std::io::Error::other)
    }
}

/// A network as a capture has it: BSSID, capability, interval, elements, frequency, level.
type HeardRow = (String, u16, u16, Py<PyBytes>, Option<u16>, Option<f64>);

/// The networks that captures of the air announce, one row per BSSID, as [`announced_bss`] takes them.
#[pyfunction]
fn captured_networks(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<Vec<HeardRow>> {
    let found = py.detach(|| heard_bss(&files)).map_err(bad)?;
    let row = |heard: HeardBss| {
        let elements = PyBytes::new(py, &heard.elements).unbind();
        let radio = (heard.frequency_mhz, heard.signal_dbm.map(f64::from));
        (
            heard.bssid.to_string(),
            heard.capability,
            heard.interval_tu,
            elements,
            radio.0,
            radio.1,
        )
    };
    Ok(found.into_iter().map(row).collect())
}

/// The announcement of a BSS, as JSON of `AnnouncedBss`, from the fields that a scan gives.
/// `elements` are those of its beacon, or else of its probe response.
#[pyfunction]
#[pyo3(signature = (bssid, capability, interval_tu, elements, frequency_mhz=None, signal_dbm=None))]
fn announced_bss(
    bssid: &str,
    capability: u16,
    interval_tu: u16,
    elements: &[u8],
    frequency_mhz: Option<u16>,
    signal_dbm: Option<f64>,
) -> PyResult<String> {
    let address = bssid
        .parse()
        .map_err(|_| BadCapture::new_err(format!("{bssid}: is no MAC address")))?;
    let heard = (frequency_mhz, signal_dbm);
    let bss = AnnouncedBss::of(address, capability, interval_tu, elements, heard);
    Ok(serde_json::to_string(&bss).unwrap_or_default())
}

/// Follows a capture on a file or on standard input (`-`): `tell` takes each join that ends, as
/// JSON. Gives the counts at the end, as JSON. A signal of Python's ends it.
#[pyfunction]
fn watch_capture(
    py: Python<'_>,
    path: PathBuf,
    keys: Vec<String>,
    key_logs: Vec<PathBuf>,
    tell: Py<PyAny>,
) -> PyResult<String> {
    let request = request(vec![path.clone()], &keys, &key_logs, &without_steps()).map_err(bad)?;
    let mut raised: Option<PyErr> = None;
    let report = py.detach(|| {
        let stream: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(Interruptible(std::io::stdin()))
        } else {
            let file = std::fs::File::open(&path);
            Box::new(file.map_err(|source| CaptureError::Open { path, source })?)
        };
        let mut told = |session: Option<&SessionReport>| {
            let Some(session) = session else {
                return true;
            };
            let text = serde_json::to_string(session).unwrap_or_default();
            let done = Python::attach(|py| tell.call1(py, (text,)).map(|_| ()));
            done.map_err(|error| raised = Some(error)).is_ok()
        };
        watch(&request, stream, &mut told)
    });
    if let Some(error) = raised {
        return Err(error);
    }
    py.check_signals()?;
    report.map(|report| report.to_json()).map_err(bad)
}

/// Standard input that ends when a signal of Python's raises an exception.
struct Interruptible(std::io::Stdin);

impl Read for Interruptible {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.0.read(out) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {
                    // The exception is raised by the main thread's next check.
                    Python::attach(|py| py.check_signals()).map_err(std::io::Error::other)?;
                }
                other => return other,
            }
        }
    }
}

/// The networks that announce themselves in captures: an `airtoll.border.answers.NetworksReport`.
#[pyfunction]
fn capture_networks(py: Python<'_>, files: Vec<PathBuf>) -> PyResult<Py<PyAny>> {
    let found = py.detach(|| networks(&files)).map_err(bad)?;
    answer(py, &found)
}

/// Whole packets of a capture that is in memory.
#[pyfunction]
fn count_packets(py: Python<'_>, octets: Vec<u8>) -> PyResult<u64> {
    py.detach(|| {
        let stream = Box::new(std::io::Cursor::new(octets));
        let mut reader = Reader::new(Path::new("memory"), stream)?;
        while reader.next_packet().is_some() {}
        Ok(reader.packets())
    })
    .map_err(bad)
}

fn options(json: &str) -> PyResult<CaptureOptions> {
    serde_json::from_str(json).map_err(|error| BadCapture::new_err(format!("options: {error}")))
}

/// Every session, without its frames.
fn without_steps() -> CaptureOptions {
    CaptureOptions {
        steps: false,
        ..CaptureOptions::default()
    }
}

fn bad(error: CaptureError) -> PyErr {
    BadCapture::new_err(error.to_string())
}

/// A frame for Python: number, Unix time (s), state, protected data, EAPOL, EAP, plaintext.
type Row<T> = (u64, f64, &'static str, bool, bool, bool, Option<T>);

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
        .map(|(number, time_s, state, protected, eapol, eap, plain)| {
            let plain = plain.map(|plain| PyBytes::new(py, &plain).unbind());
            (number, time_s, state, protected, eapol, eap, plain)
        })
        .collect())
}

/// Adds these functions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("BadCapture", module.py().get_type::<BadCapture>())?;
    module.add_function(wrap_pyfunction!(capture_report, module)?)?;
    module.add_function(wrap_pyfunction!(write_capture_report, module)?)?;
    module.add_function(wrap_pyfunction!(captured_networks, module)?)?;
    module.add_function(wrap_pyfunction!(announced_bss, module)?)?;
    module.add_function(wrap_pyfunction!(watch_capture, module)?)?;
    module.add_function(wrap_pyfunction!(capture_networks, module)?)?;
    module.add_function(wrap_pyfunction!(count_packets, module)?)?;
    module.add_function(wrap_pyfunction!(capture_frames, module)?)
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
            seen.time_ns as f64 / 1e9,
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
    analyse(
        &request(files, texts, key_logs, &without_steps())?,
        Some(&mut watcher),
    )?;
    Ok(rows)
}

fn request(
    files: Vec<PathBuf>,
    texts: &[String],
    key_logs: &[PathBuf],
    options: &CaptureOptions,
) -> Result<Request, CaptureError> {
    let mut keys = Keys::default();
    keys.add_texts(texts)?;
    for log in key_logs {
        keys.add_log(log)?;
    }
    let instant = |seconds: f64| (seconds.max(0.0) * 1e9).round() as u64;
    let address = |text: &String| {
        text.parse().map_err(|_| CaptureError::Option {
            what: format!("{text}: is no MAC address"),
        })
    };
    let addresses = |texts: &[String]| texts.iter().map(address).collect::<Result<Vec<_>, _>>();
    Ok(Request {
        files,
        keys,
        window: Window {
            from_ns: options.since_s.map(instant),
            until_ns: options.until_s.map(instant),
            relative: options.relative,
        },
        owners: options
            .owners
            .iter()
            .map(|(ip, station)| Ok((*ip, address(station)?)))
            .collect::<Result<Vec<_>, CaptureError>>()?,
        selection: Selection {
            stations: addresses(&options.stations)?,
            aps: addresses(&options.aps)?,
            ssids: options.ssids.clone(),
            slowest: options.slowest,
            most: options.most,
            without_steps: !options.steps,
        },
    })
}
