//! The layers below IP: `net` is given them with a call, together with the context.

use crate::context::Context;
use crate::device::Device;
use crate::mac::Mac;
use crate::medium::Medium;

/// The layers below IP, and the context.
pub(crate) struct Lower {
    pub cx: Context,
    pub medium: Medium,
    pub mac: Mac,
    pub device: Device,
}
