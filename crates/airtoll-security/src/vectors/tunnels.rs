//! Vectors of the tunnels' data formats.

use super::Vector;

pub(super) const VECTORS: &[Vector] = &[];
