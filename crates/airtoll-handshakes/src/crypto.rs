//! Public-key operations and other primitives, counted.

pub(crate) mod agreement;
pub(crate) mod curve_equation;
pub mod diffie_hellman;
pub mod ec_group;
pub mod kem;
pub mod modp;
pub(crate) mod points;
pub(crate) mod primitives;
#[cfg(test)]
pub(crate) mod vectors;
