//! The link: authentication, association, SAE, OWE, 4-way and group key handshakes, fast transition.

pub mod agreed;
pub mod association;
pub mod authentication;
pub mod dynamic_wep;
pub mod fast_transition;
pub(crate) mod ft_hierarchy;
pub mod key_frame;
pub mod key_handshake;
pub mod key_supplicant;
pub mod multi_link;
pub mod owe;
pub(crate) mod phy_elements;
pub mod sae;
