//! Lays the folders and the file that ship with airtoll beside the build, from where the wheel takes them
//! (`include` in `pyproject.toml`). The checkout stays their only home.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folders at the root of the checkout that the package reads while it runs.
const SHIPPED: [&str; 2] = ["studies", "datasets"];
/// Its file that says how to cite it.
const CITATION: &str = "CITATION.cff";

fn main() -> io::Result<()> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let data = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("data");
    // A file that has left the checkout leaves the wheel.
    match fs::remove_dir_all(&data) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    for folder in SHIPPED {
        let from = root.join(folder);
        println!("cargo::rerun-if-changed={}", from.display());
        copy(&from, &data.join(folder)).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", from.display()))
        })?;
    }
    let from = root.join(CITATION);
    println!("cargo::rerun-if-changed={}", from.display());
    fs::copy(&from, data.join(CITATION))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", from.display())))?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
