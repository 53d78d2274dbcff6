//! Devices: the host CPU, cipher engines and the pipes between them.

pub(crate) mod host;

use airtoll_units::Duration;

use crate::event::PipeKind;
use host::{Host, Pipe};

/// The device of a node.
#[derive(Debug)]
pub(crate) struct Node {
    pub host: Host,
    pub transmit: Pipe,
    pub encrypt: Pipe,
    pub decrypt: Pipe,
    pub receive: Pipe,
}

/// The devices of all nodes.
pub(crate) struct Device {
    pub nodes: Vec<Node>,
    /// Cipher work that the CPU at hand will do with its next job.
    pub cpu_ciphers: Duration,
}

impl Node {
    pub fn pipe(&mut self, kind: PipeKind) -> &mut Pipe {
        match kind {
            PipeKind::Transmit => &mut self.transmit,
            PipeKind::Encrypt => &mut self.encrypt,
            PipeKind::Decrypt => &mut self.decrypt,
            PipeKind::Receive => &mut self.receive,
        }
    }
}
