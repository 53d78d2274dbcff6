//! Prints the schema of the border as JSON, for `tools/border.py`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let text = serde_json::to_string_pretty(&airtoll_border::schema())?;
    writeln!(std::io::stdout(), "{text}")
}
