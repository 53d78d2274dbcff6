//! DHCP over IPv4: takes a BOOTP message, gives client, address and type of message.
//!
//! Source: RFC 2131 section 2 (format), RFC 2132 section 9.6 (option 53). Other options are not read.

use core::net::Ipv4Addr;

use crate::{Error, MacAddress, Result};

const FORMAT: &str = "DHCP";

/// UDP port of servers.
pub const SERVER_PORT: u16 = 67;
/// UDP port of clients.
pub const CLIENT_PORT: u16 = 68;
/// Octets before the options, magic cookie included.
pub const LEN: usize = 240;

/// Types of messages (RFC 2132 section 9.6).
pub mod message {
    /// A client looks for servers.
    pub const DISCOVER: u8 = 1;
    /// A server offers an address.
    pub const OFFER: u8 = 2;
    /// A client asks for an address.
    pub const REQUEST: u8 = 3;
    /// A client refuses an address that is in use.
    pub const DECLINE: u8 = 4;
    /// A server confirms.
    pub const ACK: u8 = 5;
    /// A server refuses.
    pub const NAK: u8 = 6;
    /// A client gives its address up.
    pub const RELEASE: u8 = 7;
    /// A client asks for parameters only.
    pub const INFORM: u8 = 8;
}

/// A message of a client with an Ethernet address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DhcpView {
    /// See [`message`].
    pub message: u8,
    /// Transaction.
    pub transaction: u32,
    /// Hardware address of the client.
    pub client: MacAddress,
    /// The address that the client gets.
    pub yours: Ipv4Addr,
}

impl DhcpView {
    /// Reads a message.
    ///
    /// # Errors
    /// [`Error`] on a message that is cut short, another hardware type, no magic cookie, or no type of
    /// message (BOOTP).
    pub fn parse(octets: &[u8]) -> Result<Self> {
        let header =
            octets
                .first_chunk::<LEN>()
                .ok_or(Error::truncated(FORMAT, LEN, octets.len()))?;
        if header[1..3] != [1, 6] || header[236..] != [99, 130, 83, 99] {
            return Err(Error::malformed(FORMAT, "not of an Ethernet client"));
        }
        let mut options = &octets[LEN..];
        while let [code, rest @ ..] = options {
            match (code, rest) {
                (0, _) => options = rest,
                (53, [1, message, ..]) => {
                    let word = [header[4], header[5], header[6], header[7]];
                    let yours = [header[16], header[17], header[18], header[19]];
                    return Ok(Self {
                        message: *message,
                        transaction: u32::from_be_bytes(word),
                        client: MacAddress::from_slice(&header[28..34])?,
                        yours: yours.into(),
                    });
                }
                (255, _) => break,
                (_, [len, rest @ ..]) => options = rest.get(usize::from(*len)..).unwrap_or(&[]),
                _ => break,
            }
        }
        Err(Error::malformed(FORMAT, "no type of message"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(kind: u8) -> Vec<u8> {
        let mut octets = vec![0; LEN];
        octets[..8].copy_from_slice(&[2, 1, 6, 0, 0, 0, 0, 9]);
        octets[16..20].copy_from_slice(&[10, 0, 0, 7]);
        octets[28..34].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
        octets[236..].copy_from_slice(&[99, 130, 83, 99]);
        octets.extend([0, 12, 2, 1, 1, 53, 1, kind, 255]);
        octets
    }

    #[test]
    fn the_type_is_found_behind_other_options() {
        let view = DhcpView::parse(&message(5)).unwrap();
        assert_eq!((view.message, view.transaction), (message::ACK, 9));
        assert_eq!(view.yours, Ipv4Addr::new(10, 0, 0, 7));
        assert_eq!(view.client, MacAddress([2, 0, 0, 0, 0, 1]));
        let mut bootp = message(5);
        bootp.truncate(LEN + 5);
        assert!(DhcpView::parse(&bootp).is_err());
    }

    proptest! {
        #[test]
        fn any_octets_are_refused_or_read(options in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut octets = message(1);
            octets.truncate(LEN);
            octets.extend(options);
            let _ = DhcpView::parse(&octets);
        }
    }
}
