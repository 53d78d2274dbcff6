//! Octets: those that a representation writes, and the comparison of secrets.

/// Whether two secrets are equal, compared in constant time.
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    use subtle::ConstantTimeEq;
    a.ct_eq(b).into()
}

/// The octets that `emit` writes.
pub fn written(emit: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut octets = Vec::new();
    emit(&mut octets);
    octets
}
