//! Tunnels of the network layer: IKE, WireGuard, OpenVPN.

pub mod encapsulation;
pub mod ike_v1;
pub mod ike_v2;
pub mod openvpn;
pub mod wireguard;
