//! the air for virtual radios.
