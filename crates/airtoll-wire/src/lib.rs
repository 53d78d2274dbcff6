//! octet formats: view, repr, parse and emit, one protocol per file.
