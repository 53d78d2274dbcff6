//! ciphers, key derivation and sans-IO handshakes.
