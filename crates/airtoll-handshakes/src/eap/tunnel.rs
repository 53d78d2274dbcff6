//! The authentication inside a TLS tunnel: how PEAP, EAP-TTLS and their like extend EAP-TLS.
//!
//! Takes plaintexts of the tunnel; gives plaintexts and a verdict. Never sees a record key: `tls`
//! carries the plaintexts, and each method is a file of its own.

use crate::exchange::Context;

/// The next step of the server inside the tunnel.
pub(super) enum InnerStep {
    /// Send this plaintext and wait.
    Send(Vec<u8>),
    /// The station is authenticated.
    Accept,
    /// The station is rejected.
    Reject,
    /// Wait for the station.
    Nothing,
}

/// Key material that a method exports from TLS.
pub(super) struct Exporter {
    pub label: &'static [u8],
    pub context: Vec<u8>,
    /// Octets to export: TLS 1.3 mixes the length into the material (RFC 9190 section 2.3).
    pub octets: usize,
    /// Octets of the material that the method uses.
    pub used: usize,
}

/// Octets of MSK and EMSK together, and of the MSK.
const KEY_MATERIAL_OCTETS: usize = 128;
const MSK_OCTETS: usize = 64;

impl Exporter {
    /// An MSK under a label of TLS 1.2; under TLS 1.3 the label of RFC 9190 section 2.3 with the
    /// method's type.
    pub fn msk(label: &'static [u8], number: u8, tls13: bool) -> Self {
        Self {
            label: if tls13 {
                b"EXPORTER_EAP_TLS_Key_Material"
            } else {
                label
            },
            context: if tls13 { vec![number] } else { Vec::new() },
            octets: KEY_MATERIAL_OCTETS,
            used: MSK_OCTETS,
        }
    }
}

/// An established tunnel, as far as a method binds to it.
pub(super) struct Tunnel<'a> {
    /// The exported key material.
    pub keys: &'a [u8],
    /// Outer TLVs of the first packets: the server's, then the station's.
    pub outer: &'a [u8],
}

/// Properties of a method's tunnel at both ends.
pub(super) trait Inner {
    /// The key material that the method exports.
    fn exporter(&self, tls13: bool) -> Exporter;

    /// The version in the flags of every packet.
    fn version(&self) -> u8 {
        0
    }

    /// Takes the tunnel, once it stands.
    fn bind(&mut self, _tunnel: &Tunnel<'_>) {}

    /// The MSK that replaces the tunnel's, once both are bound.
    fn msk(&self) -> Option<&[u8]> {
        None
    }
}

/// The server inside the tunnel.
pub(super) trait InnerServer: Inner {
    /// Outer TLVs of the server's first packet.
    fn outer(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Goes on after a resumed handshake: an earlier session has authenticated the station.
    fn resume(&mut self, context: &mut Context<'_>) -> InnerStep;

    /// Begins: the tunnel stands and the station has sent nothing in it.
    fn start(&mut self, context: &mut Context<'_>) -> InnerStep;

    /// Takes a plaintext of the station.
    fn next(&mut self, plain: &[u8], context: &mut Context<'_>) -> InnerStep;
}

/// The station inside the tunnel.
pub(super) trait InnerPeer: Inner {
    /// Goes on after a resumed handshake: nothing need run inside. A server may also say nothing
    /// inside and end with EAP-Success.
    fn resume(&mut self);

    /// Begins: the tunnel stands and the server has sent nothing in it.
    fn start(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Answers a plaintext of the server.
    fn answer(&mut self, plain: &[u8], context: &mut Context<'_>) -> Option<Vec<u8>>;

    /// Whether the inner method ended well for the station.
    fn is_satisfied(&self) -> bool;
}
