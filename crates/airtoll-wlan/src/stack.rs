//! The protocol stack: the subsystems below the control plane, bottom up.
//!
//! Each subsystem owns its state and names only those below it. `association` and `mobility` are
//! given the stack with a call; they stand above it.

use crate::context::Context;
use crate::device::Device;
use crate::flow::Flows;
use crate::mac::Mac;
use crate::medium::Medium;
use crate::net::Net;

/// The layers below IP, and the context.
pub(crate) struct Lower {
    pub cx: Context,
    pub medium: Medium,
    pub mac: Mac,
    pub device: Device,
}

/// All layers.
pub(crate) struct Stack {
    pub lower: Lower,
    pub net: Net,
    pub flow: Flows,
}
