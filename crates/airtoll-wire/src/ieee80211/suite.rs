//! Suite selectors of RSN and WPA elements: four octets, OUI and type.
//!
//! Source: IEEE 802.11-2020 section 9.4.2.24.2; Wi-Fi Alliance OUI 00-50-F2 for WPA. Never names a
//! suite: the tables are in `airtoll-security`.

use core::fmt;

/// OUI of IEEE 802.11 suites.
pub const OUI_IEEE: [u8; 3] = [0x00, 0x0f, 0xac];
/// OUI of WPA (version 1) suites.
pub const OUI_WPA: [u8; 3] = [0x00, 0x50, 0xf2];

/// Cipher suite selector: OUI and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CipherSelector(pub [u8; 4]);

/// AKM suite selector: OUI and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AkmSelector(pub [u8; 4]);

fn selector([a, b, c, kind]: [u8; 4], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{a:02X}-{b:02X}-{c:02X}:{kind}")
}

impl fmt::Display for CipherSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selector(self.0, f)
    }
}

impl fmt::Display for AkmSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selector(self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selector_prints_oui_and_type() {
        assert_eq!(CipherSelector([1, 2, 0xab, 4]).to_string(), "01-02-AB:4");
        assert_eq!(AkmSelector([0, 0x0f, 0xac, 18]).to_string(), "00-0F-AC:18");
    }
}
