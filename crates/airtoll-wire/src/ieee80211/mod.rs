//! IEEE 802.11: headers, management bodies, elements, suites, security headers, A-MSDUs.

pub mod amsdu;
pub mod announcement;
pub mod capability;
pub mod control;
pub mod element;
pub mod frame;
pub mod ft;
pub mod management;
pub mod multi_link;
pub mod operating_channel;
pub mod operation;
pub mod protection;
pub mod reason;
pub mod rsne;
pub mod suite;
pub mod target_wake_time;

pub use announcement::{AnnouncedPhy, Announcement};
pub use control::ControlRepr;
pub use element::{Element, Elements};
pub use frame::{Frame, FrameControl, HeaderRepr, Kind};
pub use management::{Management, ManagementRepr};
pub use multi_link::MultiLinkRepr;
pub use operating_channel::OciRepr;
pub use protection::Protection;
pub use rsne::RsnRepr;
pub use suite::{AkmSelector, CipherSelector};
pub use target_wake_time::BroadcastSchedule;
