//! Keys as users give them: takes `kind:value` texts and key logs, gives key material.
//!
//! `wpa-pwd:PASS:SSID`, `wpa-psk:HEX`, `pmk:HEX`, `msk:HEX`, `tk:HEX`, `wep:HEX`,
//! `radius:SECRET`; rows of Wireshark's `esp_sa` and `ikev2_decryption_table`. A key log has
//! one such text a line, or Wireshark's `80211_keys` lines (`"wpa-pwd","PASS:SSID"`), or lines of
//! hostapd and wpa_supplicant run with `-dd -K` (`PMK - hexdump(len=32): ..`), or it is the JSON
//! list that airtoll's own trials write beside their captures. Never prints a key, not even a
//! wrong one.

use std::net::IpAddr;
use std::path::Path;

use airtoll_security::ike::{IkeEncryption, IkeIntegrity, IkeKey};
use airtoll_security::keys::psk;
use airtoll_security::{KeyError, TunnelSuite};
use zeroize::Zeroizing;

use crate::error::CaptureError;

/// Octets of secret.
pub type Secret = Zeroizing<Vec<u8>>;

/// Most lines of a key log that are read.
const MAX_LINES: usize = 100_000;

/// All keys that were given, sorted by what they can do.
#[derive(Debug, Clone, Default)]
pub struct Keys {
    /// 32 to 64 octets each: PSKs and PMKs.
    pub pmks: Vec<Secret>,
    /// Master session keys of EAP.
    pub msks: Vec<Secret>,
    /// Temporal keys.
    pub tks: Vec<Secret>,
    /// WEP keys of 5, 13 or 16 octets.
    pub weps: Vec<Secret>,
    /// Passphrases without SSID, to be tried with each BSS's own.
    pub passphrases: Vec<Zeroizing<String>>,
    /// SSIDs that came with passphrases (FT needs one where no frame shows it).
    pub ssids: Vec<Vec<u8>>,
    /// Secrets that APs share with RADIUS servers.
    pub radius: Vec<Secret>,
    /// Security associations of ESP.
    pub esp: Vec<EspSa>,
    /// Security associations of IKEv2.
    pub ike: Vec<IkeSa>,
}

/// One direction of an ESP security association.
#[derive(Debug, Clone)]
pub struct EspSa {
    /// Sender; `None`: any.
    pub source: Option<IpAddr>,
    /// Receiver; `None`: any.
    pub destination: Option<IpAddr>,
    /// Security parameters index.
    pub spi: u32,
    /// Algorithms.
    pub suite: TunnelSuite,
    /// Encryption key, of AES-GCM with its salt.
    pub encryption: Secret,
    /// Integrity key; empty with AES-GCM.
    pub integrity: Secret,
}

/// An IKEv2 security association.
#[derive(Debug, Clone)]
pub struct IkeSa {
    /// SPI of the initiator.
    pub initiator: [u8; 8],
    /// SPI of the responder.
    pub responder: [u8; 8],
    /// Encryption algorithm.
    pub encryption: IkeEncryption,
    /// SK_ei and SK_er, of AES-GCM with their salts.
    pub encryption_keys: (Secret, Secret),
    /// Integrity algorithm; `None` with AES-GCM.
    pub integrity: Option<IkeIntegrity>,
    /// SK_ai and SK_ar; empty with AES-GCM.
    pub integrity_keys: (Secret, Secret),
}

impl IkeSa {
    /// The keys of messages from the initiator or from the responder.
    ///
    /// # Errors
    /// A key of the wrong length.
    pub fn key(&self, initiator: bool) -> Result<IkeKey, KeyError> {
        let (encryption, integrity) = if initiator {
            (&self.encryption_keys.0, &self.integrity_keys.0)
        } else {
            (&self.encryption_keys.1, &self.integrity_keys.1)
        };
        IkeKey::new(self.encryption, encryption, self.integrity, integrity)
    }
}

impl Keys {
    /// Adds the texts of `--key`.
    ///
    /// # Errors
    /// [`CaptureError::Key`] with the position of the text.
    pub fn add_texts(&mut self, texts: &[String]) -> Result<(), CaptureError> {
        for (index, text) in texts.iter().enumerate() {
            let kind = text.split(':').next().unwrap_or("").to_owned();
            self.add(text).map_err(|what| CaptureError::Key {
                index: index + 1,
                kind,
                what,
            })?;
        }
        Ok(())
    }

    /// Adds the keys of a key log.
    ///
    /// # Errors
    /// [`CaptureError::KeyLog`] if it cannot be read or a line that names a kind is wrong.
    pub fn add_log(&mut self, path: &Path) -> Result<(), CaptureError> {
        let wrong = |what: String| CaptureError::KeyLog {
            path: path.to_path_buf(),
            what,
        };
        let octets = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8_lossy(&octets);
        if text.trim_start().starts_with('[') {
            return self.add_rows(&text).map_err(wrong);
        }
        let mut dump = None;
        for (number, line) in text.lines().take(MAX_LINES).enumerate() {
            let line = without_colours(line);
            let line = without_prompt(line.trim());
            if let Some(open) = PassphraseDump::begin(line) {
                dump = Some(open);
                continue;
            }
            if let Some(mut open) = dump.take()
                && open.goes_on(line)
            {
                if open.is_whole() {
                    self.add_dumped(open);
                } else {
                    dump = Some(open);
                }
                continue;
            }
            self.add_line(line)
                .map_err(|what| wrong(format!("line {}: {what}", number + 1)))?;
        }
        Ok(())
    }

    /// Whether no key was given.
    pub fn is_empty(&self) -> bool {
        self.pmks.is_empty()
            && self.msks.is_empty()
            && self.tks.is_empty()
            && self.weps.is_empty()
            && self.passphrases.is_empty()
            && self.radius.is_empty()
    }

    /// Rows of a trial's `keys.json`; kinds that open no frame are left alone.
    fn add_rows(&mut self, text: &str) -> Result<(), String> {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(text).map_err(|error| format!("is no JSON list: {error}"))?;
        for (number, row) in rows.iter().take(MAX_LINES).enumerate() {
            let field = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
            let octets = |name: &str| {
                let digits = field(name).unwrap_or("").trim_start_matches("0x");
                hex(digits).map_err(|what| format!("row {}: {what}", number + 1))
            };
            match field("kind") {
                Some("wep") => push(&mut self.weps, octets("key")?),
                Some("radius-secret") => {
                    let secret = field("secret").unwrap_or("").as_bytes().to_vec();
                    push(&mut self.radius, Secret::new(secret));
                }
                Some("esp") => {
                    if let Some(suite) = field("transform").and_then(TunnelSuite::from_name) {
                        let spi = field("spi").unwrap_or("").trim_start_matches("0x");
                        // Linux lists the key of AES-GCM by another name than that of a cipher.
                        let aead = field("aead-key").is_some();
                        let cipher_key = if aead { "aead-key" } else { "enc-key" };
                        self.esp.push(EspSa {
                            source: field("source").and_then(|text| text.parse().ok()),
                            destination: field("destination").and_then(|text| text.parse().ok()),
                            spi: u32::from_str_radix(spi, 16)
                                .map_err(|_| format!("row {}: no SPI", number + 1))?,
                            suite,
                            encryption: octets(cipher_key)?,
                            integrity: octets("auth-key")?,
                        });
                    }
                }
                Some("pmk" | "psk") => push(&mut self.pmks, octets("key")?),
                Some("msk") => push(&mut self.msks, octets("key")?),
                Some("tk" | "gtk") => push(&mut self.tks, octets("key")?),
                Some("passphrase") => {
                    let (pass, ssid) = (field("passphrase"), field("ssid"));
                    let ssid = ssid.unwrap_or("").as_bytes();
                    let key = psk::from_passphrase(pass.unwrap_or(""), ssid)
                        .map_err(|error| format!("row {}: {error}", number + 1))?;
                    push(&mut self.pmks, Zeroizing::new(key.to_vec()));
                    self.ssids.push(ssid.to_vec());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_line(&mut self, line: &str) -> Result<(), String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(());
        }
        let columns = columns(line);
        if let ["IPv4" | "IPv6" | "Any", rest @ ..] = &columns[..]
            && rest.len() >= 7
        {
            return self.add_esp(rest);
        }
        if columns.len() == 8 && columns[..2].iter().all(|spi| spi.len() == 16) {
            return self.add_ike(&columns);
        }
        if let Some(quoted) = line.strip_prefix('"') {
            let Some((kind, rest)) = quoted.split_once('"') else {
                return Err("a quoted line is not closed".to_owned());
            };
            let value = rest.trim_start_matches([',', ' ']).trim_matches('"');
            return self.add(&format!("{kind}:{value}"));
        }
        let kind = line.split(':').next().unwrap_or("");
        if matches!(
            kind,
            "wpa-pwd" | "wpa-psk" | "pmk" | "msk" | "tk" | "wep" | "radius"
        ) {
            return self.add(line);
        }
        self.add_hexdump(line);
        Ok(())
    }

    /// A row of Wireshark's `esp_sa`, without its protocol: source, destination, SPI, encryption
    /// and its key, authentication and its key.
    fn add_esp(&mut self, columns: &[&str]) -> Result<(), String> {
        let [source, destination, spi, cipher, key, mac, mac_key, ..] = columns else {
            return Err("an ESP row has 8 columns".to_owned());
        };
        let digits = |text: &str| hex(text.trim_start_matches("0x"));
        let encryption = match cipher.split(" [").next().unwrap_or("") {
            "NULL" => "null",
            "DES-CBC" => "des",
            "TripleDES-CBC" => "3des",
            "AES-CBC" => "aes-cbc",
            "AES-GCM" | "AES-GCM with 16 octet ICV" => "aes-gcm",
            other => return Err(format!("{other}: no cipher of ESP that is known here")),
        };
        let integrity = match mac.split(" [").next().unwrap_or("") {
            "NULL" => "none",
            "HMAC-SHA-1-96" => "sha1",
            "HMAC-MD5-96" => "md5",
            other => {
                return Err(format!(
                    "{other}: no authentication of ESP that is known here"
                ));
            }
        };
        let suite = TunnelSuite::ALL
            .iter()
            .copied()
            .filter(|suite| suite.name().starts_with("esp-"))
            .find(|suite| suite.encryption() == encryption && suite.integrity() == integrity)
            .ok_or_else(|| format!("{cipher} with {mac}: no pair of algorithms that is known"))?;
        self.esp.push(EspSa {
            source: source.parse().ok(),
            destination: destination.parse().ok(),
            spi: u32::from_str_radix(spi.trim_start_matches("0x"), 16)
                .map_err(|_| format!("{spi}: no SPI in hexadecimal"))?,
            suite,
            encryption: digits(key)?,
            integrity: digits(mac_key)?,
        });
        Ok(())
    }

    /// A row of Wireshark's `ikev2_decryption_table`: both SPIs, SK_ei, SK_er, encryption, SK_ai,
    /// SK_ar, integrity.
    fn add_ike(&mut self, columns: &[&str]) -> Result<(), String> {
        let spi = |text: &str| {
            let octets = hex(text)?;
            <[u8; 8]>::try_from(&octets[..]).map_err(|_| "an SPI has 16 digits".to_owned())
        };
        let name = |column: usize| columns[column].split(" [").next().unwrap_or("");
        let encryption = match name(4) {
            "NULL" => IkeEncryption::Null,
            "3DES" => IkeEncryption::TripleDes,
            "AES-CBC-128" | "AES-CBC-192" | "AES-CBC-256" => IkeEncryption::AesCbc,
            "AES-GCM-128 with 16 octet ICV" | "AES-GCM-256 with 16 octet ICV" => {
                IkeEncryption::AesGcm
            }
            other => {
                return Err(format!(
                    "{other}: no encryption of IKEv2 that is known here"
                ));
            }
        };
        let integrity = match name(7) {
            "NONE" => None,
            "HMAC_MD5_96" => Some(IkeIntegrity::HmacMd5),
            "HMAC_SHA1_96" => Some(IkeIntegrity::HmacSha1),
            "HMAC_SHA2_256_128" => Some(IkeIntegrity::HmacSha256),
            "HMAC_SHA2_384_192" => Some(IkeIntegrity::HmacSha384),
            "HMAC_SHA2_512_256" => Some(IkeIntegrity::HmacSha512),
            other => return Err(format!("{other}: no integrity of IKEv2 that is known here")),
        };
        let sa = IkeSa {
            initiator: spi(columns[0])?,
            responder: spi(columns[1])?,
            encryption,
            encryption_keys: (hex(columns[2])?, hex(columns[3])?),
            integrity,
            integrity_keys: (hex(columns[5])?, hex(columns[6])?),
        };
        for initiator in [true, false] {
            sa.key(initiator).map_err(|error| error.to_string())?;
        }
        self.ike.push(sa);
        Ok(())
    }

    /// A debug line of hostapd or wpa_supplicant; anything else is left alone.
    fn add_hexdump(&mut self, line: &str) {
        let Some((name, digits)) = line
            .split_once("hexdump(len=")
            .and_then(|(name, rest)| Some((name, rest.split_once("):")?.1)))
        else {
            return;
        };
        let Ok(octets) = hex(&digits.replace(' ', "")) else {
            return;
        };
        let is = |word: &str| name.contains(word);
        match octets.len() {
            32 | 48 | 64 if is("MSK") && !is("EMSK") => push(&mut self.msks, octets),
            32..=64 if is("PMK") || is("PSK") || is("FT: XXKey") => push(&mut self.pmks, octets),
            16 | 32 if is(" TK") || name.starts_with("TK") || is("GTK") && !is("IGTK") => {
                push(&mut self.tks, octets);
            }
            _ => {}
        }
    }

    /// A passphrase of a debug log, to be tried with each BSS's SSID; octets that are no passphrase
    /// are left alone.
    fn add_dumped(&mut self, dump: PassphraseDump) {
        let Ok(text) = std::str::from_utf8(&dump.octets) else {
            return;
        };
        let known = self.passphrases.iter().any(|one| one.as_str() == text);
        if !known && psk::from_passphrase(text, b"").is_ok() {
            self.passphrases.push(Zeroizing::new(text.to_owned()));
        }
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        let (kind, value) = text
            .split_once(':')
            .ok_or("is not of the form KIND:VALUE")?;
        let sized = |lens: &[usize], say: &str| {
            let octets = hex(value)?;
            if lens.contains(&octets.len()) {
                Ok(octets)
            } else {
                Err(format!("has {} octets; {say}", octets.len()))
            }
        };
        let long: Vec<usize> = (32..=64).collect();
        match kind {
            "wep" => push(
                &mut self.weps,
                sized(&[5, 13, 16], "a WEP key has 5, 13 or 16")?,
            ),
            "tk" => push(
                &mut self.tks,
                sized(&[16, 32], "a temporal key has 16 or 32")?,
            ),
            "wpa-psk" | "pmk" => push(&mut self.pmks, sized(&long, "a PMK has 32 to 64")?),
            "msk" => {
                let long: Vec<usize> = (32..=128).collect();
                push(&mut self.msks, sized(&long, "an MSK has 32 to 128")?);
            }
            "wpa-pwd" => self.add_passphrase(value)?,
            "radius" => push(&mut self.radius, Secret::new(unescape(value)?)),
            _ => {
                return Err(
                    "is no kind of key; allowed are wpa-pwd, wpa-psk, pmk, msk, tk, wep and \
                     radius"
                        .to_owned(),
                );
            }
        }
        Ok(())
    }

    fn add_passphrase(&mut self, value: &str) -> Result<(), String> {
        let (pass, ssid) = match value.split_once(':') {
            Some((pass, ssid)) => (pass, Some(ssid)),
            None => (value, None),
        };
        let pass = String::from_utf8(unescape(pass)?)
            .map(Zeroizing::new)
            .map_err(|_| "the passphrase is not UTF-8")?;
        match ssid {
            Some(ssid) => {
                let ssid = unescape(ssid)?;
                let key = psk::from_passphrase(&pass, &ssid).map_err(|error| error.to_string())?;
                push(&mut self.pmks, Zeroizing::new(key.to_vec()));
                self.ssids.push(ssid);
            }
            None => {
                psk::from_passphrase(&pass, b"").map_err(|error| error.to_string())?;
                self.passphrases.push(pass);
            }
        }
        Ok(())
    }
}

/// A passphrase that hostapd or wpa_supplicant dumps over several lines: `PSK (ASCII passphrase) -
/// hexdump_ascii(len=8):`, then lines of up to 16 octets in hexadecimal with their characters
/// behind them (`wpa_hexdump_ascii_key` of hostap's `wpa_debug.c`).
struct PassphraseDump {
    octets: Secret,
    left: usize,
}

impl PassphraseDump {
    const OCTETS_OF_LINE: usize = 16;
    /// Longest passphrase (IEEE 802.11-2020, J.4.1).
    const MOST: usize = 63;

    /// The line that begins a dump.
    fn begin(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once("hexdump_ascii(len=")?;
        let left = rest.strip_suffix("):")?.parse().ok()?;
        let passphrase = name.contains("PSK (ASCII passphrase)");
        (passphrase && (1..=Self::MOST).contains(&left)).then(|| Self {
            octets: Secret::default(),
            left,
        })
    }

    /// Takes the next line of the dump; `false` if the line is another one.
    fn goes_on(&mut self, line: &str) -> bool {
        let count = self.left.min(Self::OCTETS_OF_LINE);
        let mut columns = line.split_ascii_whitespace();
        for _ in 0..count {
            let octet = columns
                .next()
                .filter(|digits| digits.len() == 2)
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let Some(octet) = octet else {
                return false;
            };
            self.octets.push(octet);
        }
        self.left -= count;
        true
    }

    const fn is_whole(&self) -> bool {
        self.left == 0
    }
}

/// A line without the control sequences that colour a terminal (ECMA-48, 5.4: ESC `[`, parameters,
/// one final octet) and without other control characters.
fn without_colours(line: &str) -> Zeroizing<String> {
    let mut plain = Zeroizing::new(String::with_capacity(line.len()));
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            if characters.next_if_eq(&'[').is_some() {
                characters.by_ref().find(|c| ('@'..='~').contains(c));
            }
        } else if !character.is_control() || character == '\t' {
            plain.push(character);
        }
    }
    plain
}

/// A line without the prompts that a console prints in front (`> ` of hostapd_cli and wpa_cli).
fn without_prompt(line: &str) -> &str {
    let mut rest = line;
    while let Some(after) = rest.strip_prefix('>') {
        rest = after.trim_start();
    }
    rest
}

/// Columns of a row of Wireshark's tables, without quotes.
fn columns(line: &str) -> Vec<&str> {
    line.split(',')
        .map(|column| column.trim().trim_matches('"'))
        .collect()
}

fn push(list: &mut Vec<Secret>, octets: Secret) {
    if !list.contains(&octets) {
        list.push(octets);
    }
}

fn hex(digits: &str) -> Result<Secret, String> {
    let digits: Zeroizing<String> = Zeroizing::new(
        digits
            .chars()
            .filter(|c| !matches!(c, ':' | '-' | ' '))
            .collect(),
    );
    if !digits.is_ascii() || digits.len() % 2 == 1 {
        return Err("is not an even number of hexadecimal digits".to_owned());
    }
    (0..digits.len() / 2)
        .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16))
        .collect::<Result<Vec<u8>, _>>()
        .map(Zeroizing::new)
        .map_err(|_| "is not hexadecimal".to_owned())
}

/// Undoes percent-escapes; a `%` that starts none is an error, as it would be a wrong key.
fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let octets = text.as_bytes();
    let mut out = Vec::with_capacity(octets.len());
    let mut at = 0;
    while let Some(&octet) = octets.get(at) {
        if octet == b'%' {
            let digit = |at: usize| octets.get(at).and_then(|d| (*d as char).to_digit(16));
            match (digit(at + 1), digit(at + 2)) {
                (Some(high), Some(low)) => out.push((high << 4 | low) as u8),
                _ => return Err("has a % that starts no escape; write %25 for it".to_owned()),
            }
            at += 3;
        } else {
            out.push(octet);
            at += 1;
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn keys(texts: &[&str]) -> Result<Keys, CaptureError> {
        let texts: Vec<String> = texts.iter().map(|t| (*t).to_owned()).collect();
        let mut keys = Keys::default();
        keys.add_texts(&texts).map(|()| keys)
    }

    #[test]
    fn passphrase_of_the_standard() {
        // IEEE 802.11-2020, J.4.2, first test vector.
        let keys = keys(&["wpa-pwd:password:IEEE", "wpa-pwd:p%61ssword:%49EEE"]).unwrap();
        assert_eq!(keys.pmks.len(), 1);
        assert_eq!(keys.pmks[0][..4], [0xf4, 0x2c, 0x6f, 0xc5]);
    }

    #[test]
    fn mistakes_name_the_key_but_not_its_value() {
        for text in [
            "wep:12345",
            "tk:00",
            "wpa-pwd:short:x",
            "zip:00",
            "nothing",
            "wpa-pwd:100%sure1:x",
        ] {
            let message = keys(&["wep:0102030405", text]).unwrap_err().to_string();
            assert!(message.starts_with("key 2 ("), "{message}");
            assert!(!message.contains("12345") && !message.contains("sure"));
        }
    }

    #[test]
    fn key_logs_of_three_kinds() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = [
            "# comment".to_owned(),
            format!("pmk:{}", "11".repeat(32)),
            "\"wep\",\"01:02:03:04:05\"".to_owned(),
            format!("wlan0: WPA: PMK - hexdump(len=32):{}", " 22".repeat(32)),
            "some other line".to_owned(),
        ];
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let mut keys = Keys::default();
        keys.add_log(file.path()).unwrap();
        assert_eq!(keys.pmks.len(), 2);
        assert_eq!(keys.weps[0][..], [1, 2, 3, 4, 5]);
        let rows = r#"[{"kind": "passphrase", "ssid": "IEEE", "passphrase": "password"},
            {"kind": "radius-secret", "secret": "x"}, {"kind": "wep", "index": 0, "key": "0908070605"}]"#;
        std::fs::write(file.path(), rows).unwrap();
        keys.add_log(file.path()).unwrap();
        assert_eq!(keys.pmks[2][..4], [0xf4, 0x2c, 0x6f, 0xc5]);
        assert_eq!(keys.weps[1][..], [9, 8, 7, 6, 5]);
    }

    #[test]
    fn passphrases_of_debug_logs_may_have_several_lines() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let dump = |passphrase: &str| {
            let mut lines = vec![format!(
                "1700000000.5: PSK (ASCII passphrase) - hexdump_ascii(len={}):",
                passphrase.len()
            )];
            for part in passphrase.as_bytes().chunks(16) {
                let digits: String = part.iter().map(|octet| format!(" {octet:02x}")).collect();
                let characters = String::from_utf8_lossy(part);
                lines.push(format!("     {digits:48}   {characters:16}"));
            }
            lines
        };
        let long = "four words make a passphrase";
        let mut lines = [dump("password"), dump(long), dump("password")].concat();
        lines.push("PSK (ASCII passphrase) - hexdump_ascii(len=8): [REMOVED]".to_owned());
        // Another line in the middle ends a dump.
        lines.extend(dump("a passphrase that is cut").into_iter().take(2));
        lines.push(format!("pmk:{}", "11".repeat(32)));
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let mut keys = Keys::default();
        keys.add_log(file.path()).unwrap();
        let texts: Vec<&str> = keys.passphrases.iter().map(|text| text.as_str()).collect();
        assert_eq!(texts, ["password", long]);
        assert_eq!((keys.pmks.len(), keys.tks.len()), (1, 0));
    }

    #[test]
    fn prompts_and_colours_in_front_of_a_line_are_left_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lines = [
            format!("> wlan0: WPA: PMK - hexdump(len=32):{}", " 22".repeat(32)),
            format!(
                "\u{1b}[0;36mSAE: PMK - hexdump(len=32):{}\u{1b}[0m",
                " 33".repeat(32)
            ),
            format!("> > pmk:{}\r", "44".repeat(32)),
            format!(
                "1700000000.123456: TK - hexdump(len=16):{}",
                " 55".repeat(16)
            ),
            "\u{1b}[1m> \u{1b}[0m\"wep\",\"01:02:03:04:05\"".to_owned(),
        ];
        std::fs::write(file.path(), lines.join("\n")).unwrap();
        let mut keys = Keys::default();
        keys.add_log(file.path()).unwrap();
        let firsts: Vec<u8> = keys.pmks.iter().map(|key| key[0]).collect();
        assert_eq!(firsts, [0x22, 0x33, 0x44]);
        assert_eq!((keys.tks.len(), keys.weps.len()), (1, 1));
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_read(text in ".{0,80}") {
            let _ = keys(&[&text]);
            let _ = Keys::default().add_line(without_prompt(&without_colours(&text)));
        }
    }
}
