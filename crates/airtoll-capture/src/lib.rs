//! capture files: reader, decryption, timelines, ledger.
