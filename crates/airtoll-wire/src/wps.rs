//! Wi-Fi Protected Setup in EAP: takes the data of an expanded EAP type, gives the type of its message.
//!
//! Source: Wi-Fi Simple Configuration specification 2.0.5, sections 7.7 (EAP-WSC) and 12 (attributes);
//! RFC 3748 section 5.7 (expanded types). Never reads an encrypted attribute.

/// Vendor of the Wi-Fi Alliance and its type SimpleConfig, in front of an expanded EAP type's data.
pub const EXPANDED: [u8; 7] = [0x00, 0x37, 0x2a, 0, 0, 0, 1];

/// Types of messages (section 12, table 33). 0 stands for a message that names no type.
pub mod message {
    /// The registrar refuses.
    pub const NACK: u8 = 0x0e;
    /// The enrollee has its credentials.
    pub const DONE: u8 = 0x0f;
}

/// The type of a message, as far as the octets after the EAP type hold WPS; 0 where the message names
/// none (start, fragments).
pub fn message_type(data: &[u8]) -> Option<u8> {
    let rest = data.strip_prefix(&EXPANDED)?;
    let [_opcode, flags, rest @ ..] = rest else {
        return Some(0);
    };
    // The length field of a message in several fragments.
    let mut attributes = rest.get(usize::from(*flags & 2)..).unwrap_or(&[]);
    while let [a, b, high, low, rest @ ..] = attributes {
        let len = usize::from(u16::from_be_bytes([*high, *low]));
        if ([*a, *b], len) == ([0x10, 0x22], 1)
            && let Some(kind) = rest.first()
        {
            return Some(*kind);
        }
        attributes = rest.get(len..).unwrap_or(&[]);
    }
    Some(0)
}

/// A message's name.
pub const fn name(kind: u8) -> &'static str {
    match kind {
        4 => "M1",
        5 => "M2",
        6 => "M2D",
        7 => "M3",
        8 => "M4",
        9 => "M5",
        10 => "M6",
        11 => "M7",
        12 => "M8",
        13 => "ACK",
        message::NACK => "NACK",
        message::DONE => "done",
        _ => "message",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_message_type_is_an_attribute() {
        let mut data = EXPANDED.to_vec();
        data.extend([4, 0, 0x10, 0x4a, 0, 1, 0x10, 0x10, 0x22, 0, 1, 0x0f]);
        assert_eq!(message_type(&data).map(name), Some("done"));
        let mut start = EXPANDED.to_vec();
        start.extend([1, 0]);
        assert_eq!(message_type(&start), Some(0));
        assert_eq!(message_type(&[0, 0, 0, 0, 0, 0, 3]), None);
    }

    proptest! {
        #[test]
        fn any_octets_are_read(rest in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = message_type(&[&EXPANDED[..], &rest].concat());
        }
    }
}
