//! The protocol stack: the subsystems below the control plane, bottom up.
//!
//! Each subsystem owns its state and names only those below it.

use crate::flow::Flows;
use crate::lower::Lower;
use crate::net::Net;

/// All layers.
pub(crate) struct Stack {
    pub lower: Lower,
    pub net: Net,
    pub flow: Flows,
}
