//! Keys as users give them: takes `kind:value` texts and key logs, gives key material.
//!
//! `wpa-pwd:PASS:SSID`, `wpa-psk:HEX`, `pmk:HEX`, `msk:HEX`, `tk:HEX`, `wep:HEX`. A key log has
//! one such text a line, or Wireshark's `80211_keys` lines (`"wpa-pwd","PASS:SSID"`), or lines of
//! hostapd and wpa_supplicant run with `-dd -K` (`PMK - hexdump(len=32): ..`), or it is the JSON
//! list that airtoll's own trials write beside their captures. Never prints a key, not even a
//! wrong one.

use std::path::Path;

use airtoll_security::keys::psk;
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
        for (number, line) in text.lines().take(MAX_LINES).enumerate() {
            let line = without_colours(line);
            self.add_line(without_prompt(line.trim()))
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
    }

    /// Rows of a trial's `keys.json`; kinds that open no frame are left alone.
    fn add_rows(&mut self, text: &str) -> Result<(), String> {
        let rows: Vec<serde_json::Value> =
            serde_json::from_str(text).map_err(|error| format!("is no JSON list: {error}"))?;
        for (number, row) in rows.iter().take(MAX_LINES).enumerate() {
            let field = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
            let octets = |name: &str| {
                hex(field(name).unwrap_or("")).map_err(|what| format!("row {}: {what}", number + 1))
            };
            match field("kind") {
                Some("wep") => push(&mut self.weps, octets("key")?),
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
        if let Some(quoted) = line.strip_prefix('"') {
            let Some((kind, rest)) = quoted.split_once('"') else {
                return Err("a quoted line is not closed".to_owned());
            };
            let value = rest.trim_start_matches([',', ' ']).trim_matches('"');
            return self.add(&format!("{kind}:{value}"));
        }
        let kind = line.split(':').next().unwrap_or("");
        if matches!(kind, "wpa-pwd" | "wpa-psk" | "pmk" | "msk" | "tk" | "wep") {
            return self.add(line);
        }
        self.add_hexdump(line);
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
            _ => {
                return Err(
                    "is no kind of key; allowed are wpa-pwd, wpa-psk, pmk, msk, tk and wep"
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
