//! Mobility of the network layer.

pub mod mobile_ip;
