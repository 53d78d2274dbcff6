//! Keys as users give them: takes `kind:value` texts and key logs, gives key material.
//!
//! `wpa-pwd:PASS:SSID`, `wpa-psk:HEX`, `pmk:HEX`, `msk:HEX`, `tk:HEX`, `wep:HEX`,
//! `radius:SECRET`; rows of Wireshark's `esp_sa` and `ikev2_decryption_table`. A key log has
//! one such text a line, or Wireshark's `80211_keys` lines (`"wpa-pwd","PASS:SSID"`), or lines of
//! hostapd and wpa_supplicant run with `-dd -K` (`PMK - hexdump(len=32): ..`), or it is the JSON
//! list that airtoll's own trials write beside their captures. Prefixes of journald, syslog, logread
//! and logcat are skipped. A row of a key log that cannot be used is left out and
//! named. Never prints a key, not even a wrong one.

use std::net::IpAddr;
use std::path::Path;

use airtoll_security::esp::{self, EspKey};
use airtoll_security::ike::IkeKey;
use airtoll_security::ipsec::{Encryption, Integrity};
use airtoll_security::keys::psk;
use airtoll_security::{KeyError, TunnelSuite};
use schemars::JsonSchema;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::error::CaptureError;

/// Octets of secret.
pub type Secret = Zeroizing<Vec<u8>>;

/// Most lines of a key log that are read.
const MAX_LINES: usize = 100_000;
/// Most rows that cannot be used and are named.
const MAX_SKIPPED: usize = 100;

/// A row of a key log that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SkippedKey {
    /// The key log.
    pub file: String,
    /// Number of the line, or of the row of a JSON list, from 1.
    pub line: u32,
    /// Why it cannot be used.
    pub what: String,
}

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
    /// Rows of key logs that were left out.
    pub skipped: Vec<SkippedKey>,
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
    /// Encryption algorithm.
    pub encryption: Encryption,
    /// Encryption key, with its salt where the algorithm has one.
    pub encryption_key: Secret,
    /// Integrity algorithm; `None` with a cipher that authenticates.
    pub integrity: Option<Integrity>,
    /// Integrity key; empty without an algorithm.
    pub integrity_key: Secret,
}

impl EspSa {
    /// The key.
    ///
    /// # Errors
    /// A key of the wrong length.
    pub fn key(&self) -> Result<EspKey, KeyError> {
        EspKey::with_algorithms(
            self.spi,
            self.encryption,
            &self.encryption_key,
            self.integrity,
            &self.integrity_key,
        )
    }
}

/// An IKEv2 security association.
#[derive(Debug, Clone)]
pub struct IkeSa {
    /// SPI of the initiator.
    pub initiator: [u8; 8],
    /// SPI of the responder.
    pub responder: [u8; 8],
    /// Encryption algorithm.
    pub encryption: Encryption,
    /// SK_ei and SK_er, with their salts where the algorithm has one.
    pub encryption_keys: (Secret, Secret),
    /// Integrity algorithm; `None` with a cipher that authenticates.
    pub integrity: Option<Integrity>,
    /// SK_ai and SK_ar; empty without an algorithm.
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

    /// Adds the keys of a key log. A row that cannot be used is left out: see [`Keys::skipped`].
    ///
    /// # Errors
    /// [`CaptureError::KeyLog`] if it cannot be read, or is a text without any key.
    pub fn add_log(&mut self, path: &Path) -> Result<(), CaptureError> {
        let wrong = |what: String| CaptureError::KeyLog {
            path: path.to_path_buf(),
            what,
        };
        let octets = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        let text = String::from_utf8_lossy(&octets);
        if text.trim_start().starts_with('[') && text.trim_end().ends_with(']') {
            return self.add_rows(path, &text).map_err(wrong);
        }
        let mut dump = None;
        let mut used = false;
        for (number, line) in (1u32..).zip(text.lines().take(MAX_LINES)) {
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
                    used |= self.add_dumped(&open.octets);
                } else {
                    dump = Some(open);
                }
                continue;
            }
            match self.add_line(line) {
                Ok(added) => used |= added,
                Err(what) => self.skip(path, number, what),
            }
        }
        if used {
            return Ok(());
        }
        let why = self
            .skipped
            .last()
            .filter(|last| last.file == path.display().to_string());
        Err(wrong(why.map_or_else(
            || {
                "holds no key: give lines such as wpa-pwd:PASS:SSID or pmk:HEX, a table of Wireshark, \
                 or the log of hostapd or wpa_supplicant run with -dd -K"
                    .to_owned()
            },
            |last| format!("holds no key that can be used; line {}: {}", last.line, last.what),
        )))
    }

    fn skip(&mut self, path: &Path, line: u32, what: String) {
        if self.skipped.len() < MAX_SKIPPED {
            self.skipped.push(SkippedKey {
                file: path.display().to_string(),
                line,
                what,
            });
        }
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
    fn add_rows(&mut self, path: &Path, text: &str) -> Result<(), String> {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(text).map_err(|error| format!("is no JSON list: {error}"))?;
        for (number, row) in (1u32..).zip(rows.iter().take(MAX_LINES)) {
            if let Err(what) = self.add_row(row) {
                self.skip(path, number, what);
            }
        }
        Ok(())
    }

    fn add_row(&mut self, row: &serde_json::Value) -> Result<(), String> {
        let field = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
        let octets = |name: &str| hex(field(name).unwrap_or("").trim_start_matches("0x"));
        match field("kind") {
            Some("wep") => push(&mut self.weps, octets("key")?),
            Some("radius-secret") => {
                let secret = field("secret").unwrap_or("").as_bytes().to_vec();
                push(&mut self.radius, Secret::new(secret));
            }
            Some("esp") => {
                if let Some(suite) = field("transform").and_then(TunnelSuite::from_name) {
                    let (encryption, integrity) =
                        esp::algorithms(suite).map_err(|error| error.to_string())?;
                    let spi = field("spi").unwrap_or("").trim_start_matches("0x");
                    // Linux lists the key of AES-GCM by another name than that of a cipher.
                    let aead = field("aead-key").is_some();
                    let cipher_key = if aead { "aead-key" } else { "enc-key" };
                    self.add_esp_sa(EspSa {
                        source: field("source").and_then(|text| text.parse().ok()),
                        destination: field("destination").and_then(|text| text.parse().ok()),
                        spi: u32::from_str_radix(spi, 16).map_err(|_| "no SPI".to_owned())?,
                        encryption,
                        encryption_key: octets(cipher_key)?,
                        integrity,
                        integrity_key: octets("auth-key")?,
                    })?;
                }
            }
            Some("pmk" | "psk") => push(&mut self.pmks, octets("key")?),
            Some("msk") => push(&mut self.msks, octets("key")?),
            Some("tk" | "gtk") => push(&mut self.tks, octets("key")?),
            Some("passphrase") => {
                let (pass, ssid) = (field("passphrase"), field("ssid"));
                let ssid = ssid.unwrap_or("").as_bytes();
                let key = psk::from_passphrase(pass.unwrap_or(""), ssid)
                    .map_err(|error| error.to_string())?;
                push(&mut self.pmks, Zeroizing::new(key.to_vec()));
                self.ssids.push(ssid.to_vec());
            }
            _ => {}
        }
        Ok(())
    }

    fn add_esp_sa(&mut self, sa: EspSa) -> Result<(), String> {
        sa.key().map_err(|error| error.to_string())?;
        self.esp.push(sa);
        Ok(())
    }

    /// Adds the key of a line; gives whether it holds one.
    fn add_line(&mut self, line: &str) -> Result<bool, String> {
        if line.is_empty() || line.starts_with('#') {
            return Ok(false);
        }
        let columns = columns(line);
        if let ["IPv4" | "IPv6" | "Any", rest @ ..] = &columns[..]
            && rest.len() >= 7
        {
            return self.add_esp(rest).map(|()| true);
        }
        if columns.len() == 8 && columns[..2].iter().all(|spi| spi.len() == 16) {
            return self.add_ike(&columns).map(|()| true);
        }
        if let Some(quoted) = line.strip_prefix('"') {
            let Some((kind, rest)) = quoted.split_once('"') else {
                return Err("a quoted line is not closed".to_owned());
            };
            let value = rest.trim_start_matches([',', ' ']).trim_matches('"');
            return self.add(&format!("{kind}:{value}")).map(|()| true);
        }
        let kind = line.split(':').next().unwrap_or("");
        if matches!(
            kind,
            "wpa-pwd" | "wpa-psk" | "pmk" | "msk" | "tk" | "wep" | "radius"
        ) {
            return self.add(line).map(|()| true);
        }
        Ok(self.add_hexdump(line))
    }

    /// A row of Wireshark's `esp_sa`, without its protocol: source, destination, SPI, encryption
    /// and its key, authentication and its key.
    fn add_esp(&mut self, columns: &[&str]) -> Result<(), String> {
        let [source, destination, spi, cipher, key, mac, mac_key, ..] = columns else {
            return Err("an ESP row has 8 columns".to_owned());
        };
        let digits = |text: &str| hex(text.trim_start_matches("0x"));
        let unknown =
            |what: &str, name: &str| format!("{name}: no {what} of ESP that is known here");
        let encryption = esp_encryption(cipher).ok_or_else(|| unknown("cipher", cipher))?;
        let integrity = esp_integrity(mac).ok_or_else(|| unknown("authentication", mac))?;
        let (encryption, integrity) = match (encryption, integrity) {
            // Rows of older versions have the length of the tag in the other column.
            (Encryption::AesGcm(_), Some(Integrity::Unchecked(octets @ (8 | 12 | 16)))) => {
                (Encryption::AesGcm(octets), None)
            }
            other => other,
        };
        self.add_esp_sa(EspSa {
            source: source.parse().ok(),
            destination: destination.parse().ok(),
            spi: u32::from_str_radix(spi.trim_start_matches("0x"), 16)
                .map_err(|_| format!("{spi}: no SPI in hexadecimal"))?,
            encryption,
            encryption_key: digits(key)?,
            integrity,
            integrity_key: match integrity {
                Some(Integrity::Unchecked(_)) | None => Secret::default(),
                Some(_) => digits(mac_key)?,
            },
        })
    }

    /// A row of Wireshark's `ikev2_decryption_table`: both SPIs, SK_ei, SK_er, encryption, SK_ai,
    /// SK_ar, integrity.
    fn add_ike(&mut self, columns: &[&str]) -> Result<(), String> {
        let spi = |text: &str| {
            let octets = hex(text)?;
            <[u8; 8]>::try_from(&octets[..]).map_err(|_| "an SPI has 16 digits".to_owned())
        };
        let unknown =
            |what: &str, name: &str| format!("{name}: no {what} of IKEv2 that is known here");
        let encryption =
            ike_encryption(columns[4]).ok_or_else(|| unknown("encryption", columns[4]))?;
        let integrity =
            ike_integrity(columns[7]).ok_or_else(|| unknown("integrity", columns[7]))?;
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

    /// A debug line of hostapd or wpa_supplicant; gives whether it holds a key. Anything else is left
    /// alone.
    fn add_hexdump(&mut self, line: &str) -> bool {
        let Some((name, rest)) = line.split_once("hexdump(len=") else {
            return false;
        };
        let Some((len, rest)) = rest.split_once("):") else {
            return false;
        };
        // Behind the digits a log in JSON goes on.
        let end = rest
            .find(|c: char| !c.is_ascii_hexdigit() && c != ' ')
            .unwrap_or(rest.len());
        let octets = hex(&rest[..end]);
        let Some(octets) = octets.ok().filter(|octets| len.parse() == Ok(octets.len())) else {
            return false;
        };
        let is = |word: &str| name.contains(word);
        match octets.len() {
            // With syslog and on Android a passphrase is dumped in one line.
            _ if is("ASCII passphrase") => return self.add_dumped(&octets),
            32 | 48 | 64 if is("MSK") && !is("EMSK") => push(&mut self.msks, octets),
            32..=64 if is("PMK") || is("PSK") || is("FT: XXKey") => push(&mut self.pmks, octets),
            16 | 32 if is(" TK") || name.starts_with("TK") || is("GTK") && !is("IGTK") => {
                push(&mut self.tks, octets);
            }
            _ => return false,
        }
        true
    }

    /// A passphrase of a debug log, to be tried with each BSS's SSID; octets that are no passphrase
    /// are left alone.
    fn add_dumped(&mut self, octets: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(octets) else {
            return false;
        };
        if psk::from_passphrase(text, b"").is_err() {
            return false;
        }
        if !self.passphrases.iter().any(|one| one.as_str() == text) {
            self.passphrases.push(Zeroizing::new(text.to_owned()));
        }
        true
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

    /// Takes the next line of the dump, behind what a log puts in front of it; `false` if the line is
    /// another one. The dump indents its octets by five blanks.
    fn goes_on(&mut self, line: &str) -> bool {
        let count = self.left.min(Self::OCTETS_OF_LINE);
        let indented = line.match_indices("    ").map(|(at, _)| &line[at..]);
        let behind = line.match_indices(": ").map(|(at, _)| &line[at + 2..]);
        let Some(octets) = std::iter::once(line)
            .chain(indented)
            .chain(behind)
            .find_map(|part| octets_of(part, count))
        else {
            return false;
        };
        self.octets.extend_from_slice(&octets);
        self.left -= count;
        true
    }

    const fn is_whole(&self) -> bool {
        self.left == 0
    }
}

/// So many octets in hexadecimal with blanks between them, at the beginning of a text.
fn octets_of(text: &str, count: usize) -> Option<Secret> {
    let mut octets = Secret::default();
    for digits in text.split_ascii_whitespace().take(count) {
        let octet = (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?;
        octets.push(octet?);
    }
    (octets.len() == count).then_some(octets)
}

/// The name of an algorithm in Wireshark's tables without its source, and the octets of tag in it.
fn algorithm(text: &str) -> (&str, Option<u8>) {
    let text = text.split(" [").next().unwrap_or("");
    match text.split_once(" with ") {
        Some((name, tag)) if tag.ends_with(" octet ICV") => {
            let octets = tag.split(' ').next().and_then(|octets| octets.parse().ok());
            (name, octets)
        }
        _ => (text, None),
    }
}

/// Encryption by its name in `esp_sa`.
fn esp_encryption(text: &str) -> Option<Encryption> {
    Some(match algorithm(text) {
        ("NULL", None) => Encryption::Null,
        ("DES-CBC", None) => Encryption::Des,
        ("TripleDES-CBC", None) => Encryption::TripleDes,
        ("AES-CBC", None) => Encryption::AesCbc,
        ("AES-CTR", None) => Encryption::AesCtr,
        ("AES-GCM", None) => Encryption::AesGcm(16),
        ("AES-GCM", Some(tag @ (8 | 12 | 16))) => Encryption::AesGcm(tag),
        ("AES-CCM", None) => Encryption::AesCcm(16),
        ("AES-CCM", Some(tag @ (8 | 12 | 16))) => Encryption::AesCcm(tag),
        ("ChaCha20 with Poly1305" | "ChaCha20-Poly1305", None) => Encryption::ChaCha20Poly1305,
        _ => return None,
    })
}

/// Encryption by its name in `ikev2_decryption_table`; the length of the key is in the key.
fn ike_encryption(text: &str) -> Option<Encryption> {
    Some(match algorithm(text) {
        ("NULL", None) => Encryption::Null,
        ("3DES", None) => Encryption::TripleDes,
        ("AES-CBC-128" | "AES-CBC-192" | "AES-CBC-256", None) => Encryption::AesCbc,
        ("AES-CTR-128" | "AES-CTR-192" | "AES-CTR-256", None) => Encryption::AesCtr,
        ("AES-GCM-128" | "AES-GCM-192" | "AES-GCM-256", Some(tag @ (8 | 12 | 16))) => {
            Encryption::AesGcm(tag)
        }
        ("AES-CCM-128" | "AES-CCM-192" | "AES-CCM-256", Some(tag @ (8 | 12 | 16))) => {
            Encryption::AesCcm(tag)
        }
        ("ChaCha20 with Poly1305" | "ChaCha20-Poly1305", None) => Encryption::ChaCha20Poly1305,
        _ => return None,
    })
}

/// Octets of `ANY 96 bit authentication`, which Wireshark does not check.
fn unchecked(text: &str) -> Option<Integrity> {
    let bits = text.strip_prefix("ANY ")?;
    let digits = bits.split([' ', '-']).next()?;
    let octets = digits.parse::<u16>().ok()? / 8;
    (8..=32)
        .contains(&octets)
        .then_some(Integrity::Unchecked(octets as u8))
}

/// Authentication by its name in `esp_sa`; the inner `None` is none.
fn esp_integrity(text: &str) -> Option<Option<Integrity>> {
    Some(Some(match algorithm(text).0 {
        "NULL" => return Some(None),
        "HMAC-MD5-96" => Integrity::HmacMd5,
        "HMAC-SHA-1-96" => Integrity::HmacSha1,
        "HMAC-SHA-256-96" => Integrity::HmacSha256Short,
        "HMAC-SHA-256-128" => Integrity::HmacSha256,
        "HMAC-SHA-384-192" => Integrity::HmacSha384,
        "HMAC-SHA-512-256" => Integrity::HmacSha512,
        other => unchecked(other)?,
    }))
}

/// Integrity by its name in `ikev2_decryption_table`; the inner `None` is none.
fn ike_integrity(text: &str) -> Option<Option<Integrity>> {
    Some(Some(match algorithm(text).0 {
        "NONE" => return Some(None),
        "HMAC_MD5_96" => Integrity::HmacMd5,
        "HMAC_MD5_128" => Integrity::HmacMd5Whole,
        "HMAC_SHA1_96" => Integrity::HmacSha1,
        "HMAC_SHA1_160" => Integrity::HmacSha1Whole,
        "HMAC_SHA2_256_96" => Integrity::HmacSha256Short,
        "HMAC_SHA2_256_128" => Integrity::HmacSha256,
        "HMAC_SHA2_384_192" => Integrity::HmacSha384,
        "HMAC_SHA2_512_256" => Integrity::HmacSha512,
        other => unchecked(other)?,
    }))
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

    fn log(text: &str) -> Result<Keys, CaptureError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        let mut keys = Keys::default();
        keys.add_log(file.path()).map(|()| keys)
    }

    #[test]
    fn a_row_that_cannot_be_used_is_named_and_the_others_are_used() {
        let text = format!(
            "tk:00\n\"wep\",\"xyz\"\npmk:{}\nwep:0102030405\n\
             1234567890123456,0987654321098765,,,\"SPECK [RFC0]\",,,\"NONE [RFC4306]\"\n",
            "11".repeat(32)
        );
        let keys = log(&text).unwrap();
        assert_eq!(
            (keys.pmks.len(), keys.weps.len(), keys.tks.len()),
            (1, 1, 0)
        );
        let lines: Vec<u32> = keys.skipped.iter().map(|row| row.line).collect();
        assert_eq!(lines, [1, 2, 5]);
        assert!(keys.skipped[2].what.contains("SPECK"));
        assert!(!format!("{:?}", keys.skipped).contains("xyz"));
    }

    #[test]
    fn a_key_log_without_a_key_is_refused() {
        for text in ["", "# a comment\n", "just some text\n"] {
            let message = log(text).unwrap_err().to_string();
            assert!(message.contains("holds no key"), "{message}");
        }
        let message = log("tk:00\n").unwrap_err().to_string();
        assert!(message.contains("line 1"), "{message}");
        assert!(log("[]").is_ok());
    }

    #[test]
    fn dumps_are_read_behind_what_loggers_put_in_front() {
        let prefixes = [
            "Nov 26 10:00:01 host hostapd[123]: ",
            "2024-11-26T10:00:01+0000 host wpa_supplicant[12]: ",
            "2024-11-26T10:00:01.123456+00:00 host hostapd: ",
            "[   12.345678] host hostapd[123]: ",
            "Tue Nov 26 10:00:01 2024 daemon.debug hostapd: ",
            "Tue Nov 26 10:00:01 2024 daemon.notice hostapd[26]: ",
            "Nov 26 10:00:01 OpenWrt daemon.debug hostapd: ",
            "11-26 10:00:01.123  1234  5678 D wpa_supplicant: ",
            "11-26 10:00:01.123 D/wpa_supplicant( 1234): ",
            "D/wpa_supplicant( 1234): ",
            "<15>Nov 26 10:00:01 hostapd: ",
            "1700000000.123456: ",
            "",
        ];
        let passphrase = b"abcd: 26 is two!"; // Sixteen octets, then three in a line of their own.
        let long = [&passphrase[..], b"f0r"].concat();
        let hex = |octets: &[u8]| -> String {
            octets.iter().map(|octet| format!(" {octet:02x}")).collect()
        };
        for prefix in prefixes {
            let mut text = format!(
                "{prefix}wlan0: WPA: PMK - hexdump(len=32):{}\n",
                hex(&[0x22; 32])
            );
            text += &format!("{prefix}PSK (ASCII passphrase) - hexdump_ascii(len=19):\n");
            for part in long.chunks(16) {
                let characters = String::from_utf8_lossy(part);
                text += &format!("{prefix}    {:48}   {characters:16}\n", hex(part));
            }
            // Syslog and Android have one line.
            text += &format!(
                "{prefix}PSK (ASCII passphrase) - hexdump(len=8):{}\n",
                hex(b"password")
            );
            text += &format!("{prefix}TK - hexdump(len=16):{}\n", hex(&[0x33; 16]));
            text += &format!("{prefix}EMSK - hexdump(len=64):{} ...\n", hex(&[0x44; 32]));
            let keys = log(&text).unwrap();
            let texts: Vec<&str> = keys.passphrases.iter().map(|text| text.as_str()).collect();
            assert_eq!(texts, ["abcd: 26 is two!f0r", "password"], "{prefix}");
            assert_eq!(
                (keys.pmks.len(), keys.tks.len(), keys.msks.len()),
                (1, 1, 0),
                "{prefix}"
            );
            assert!(keys.skipped.is_empty());
        }
        // A field of a log in JSON.
        let line = format!(
            "{{\"MESSAGE\":\"SAE: PMK - hexdump(len=32):{}\",\"_PID\":\"1\"}}",
            hex(&[0x55; 32])
        );
        assert_eq!(log(&line).unwrap().pmks[0][..], [0x55; 32]);
    }

    proptest! {
        #[test]
        fn any_text_is_refused_or_read(text in ".{0,80}") {
            let _ = keys(&[&text]);
            let _ = Keys::default().add_line(without_prompt(&without_colours(&text)));
        }
    }
}
