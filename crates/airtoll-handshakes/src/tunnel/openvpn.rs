//! OpenVPN's control channel over UDP: tls-crypt, the reliability layer, TLS 1.3 with certificates of
//! both ends, key method 2, and the options that the server pushes (openvpn-rfc draft; `ssl.c`,
//! `ssl_pkt.c`, `reliable.c`, `tls_crypt.c` and `push.c` of OpenVPN 2.6).
//!
//! Takes an [`OpenVpnConfig`] at each end; gives packets, and the keys and peer ID of the data channel
//! (`airtoll_security::openvpn`). Data keys come from TLS's exporter (`tls-ekm`). The texts that the ends
//! exchange are those of OpenVPN 2.6.14, so that packets have its lengths. Never reads a clock: a party
//! counts time-outs, and the number that tls-crypt writes in place of the time is given.

mod channel;

use airtoll_wire::openvpn::{KeyMethod2, PORT, WrappedRepr, opcode};
use airtoll_wire::tls::RecordView;

use self::channel::Channel;
use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure};
use crate::octets::written;
use crate::sides::Sides;
use crate::tls::{
    Chain, Connection, Credential, NamedGroup, Refusal, TlsClient, TlsConfig, TlsServer, TlsSuite,
    TlsVersion,
};

/// Time-outs of an end that hears nothing: with 2 s (`--tls-timeout`), doubled every time, they fill
/// the 60 s of `--hand-window`.
const ATTEMPTS: u8 = 5;
/// Time-outs of a gateway that no client has spoken to.
const PATIENCE: u8 = 18;
/// Octets that both ends share for tls-crypt (`openvpn --genkey secret`): two pairs of 64 octets for a
/// cipher and 64 for an HMAC.
pub const STATIC_KEY_OCTETS: usize = 256;
/// Octets that TLS's exporter gives, in the same arrangement.
const EXPORTED_OCTETS: usize = 256;
const EXPORT_LABEL: &[u8] = b"EXPORTER-OpenVPN-datakeys";
const OPTIONS: &str = "V4,dev-type tun,link-mtu 1541,tun-mtu 1500,proto UDPv4,auth SHA1,\
    keysize 128,key-method 2,";
/// Bits of IV_PROTO (`ssl.h`): the client takes a reply without a request, and keys from the exporter.
const REQUEST_PUSH: u32 = 1 << 2;
const TLS_KEY_EXPORT: u32 = 1 << 3;
/// IV_PROTO of OpenVPN 2.6.14 with `--pull`. Its bit for dynamic tls-crypt keys acts in later
/// negotiations only.
const IV_PROTO: u32 = 990;
const REQUEST: &[u8] = b"PUSH_REQUEST";
const REPLY: &str = "PUSH_REPLY";
const CIPHER: &str = "AES-256-GCM";
/// Tickets of OpenSSL's server, which OpenVPN 2.6 does not turn off.
const TICKETS: u8 = 2;

/// Settings of one end.
#[derive(Debug, Clone)]
pub struct OpenVpnConfig {
    /// The shared key of tls-crypt, [`STATIC_KEY_OCTETS`].
    pub static_key: Vec<u8>,
    /// Seconds since 1970, as tls-crypt writes them.
    pub time: u32,
    /// Certificates of both ends.
    pub chain: Chain,
    /// The gateway's chain has another root.
    pub rogue: bool,
    /// Groups of TLS; empty: X25519.
    pub groups: Vec<NamedGroup>,
    /// The client asks for the options with PUSH_REQUEST, as clients before 2.6 do. Otherwise the
    /// gateway sends them at once.
    pub requests: bool,
    /// The peer ID that the gateway gives, 24 bits.
    pub peer: u32,
    /// IPv4 addresses in the tunnel: the client's, the gateway's.
    pub inner: Sides<[u8; 4]>,
}

impl OpenVpnConfig {
    fn tls(&self, credential: Credential) -> TlsConfig {
        TlsConfig {
            version: TlsVersion::Tls13,
            suite: TlsSuite::Aes256GcmSha384,
            groups: match self.groups.is_empty() {
                true => vec![NamedGroup::X25519],
                false => self.groups.clone(),
            },
            credential: Some(credential),
            trusted: self.chain,
            client_certificate: true,
            certificate_compression: false,
            resume: None,
        }
    }
}

/// The TLS records of a byte stream.
#[derive(Default)]
struct Records(Vec<u8>);

impl Records {
    /// The next complete record.
    fn next(&mut self) -> Option<Vec<u8>> {
        let (_, rest) = RecordView::split(&self.0).ok()?;
        let length = self.0.len() - rest.len();
        Some(self.0.drain(..length).collect())
    }
}

/// Keys of both directions and the peer ID.
#[derive(Debug, Clone)]
struct Keys {
    exported: Vec<u8>,
    peer: u32,
}

impl Keys {
    fn export(connection: &Connection, context: &mut Context<'_>, peer: u32) -> Self {
        Self {
            exported: connection.export(context, EXPORT_LABEL, &[], EXPORTED_OCTETS),
            peer,
        }
    }

    /// A key is the first 32 octets of the cipher's part, and the implicit nonce the first 8 of the
    /// HMAC's. The client sends under the first pair.
    fn secrets(&self) -> Secrets {
        let key = |at: usize| {
            let (cipher, implicit) = (at..at + 32, at + 64..at + 72);
            [&self.exported[cipher], &self.exported[implicit]].concat()
        };
        let peer = self.peer.to_be_bytes();
        Secrets::from([
            (SecretName::TunnelSpis, [peer, peer].concat()),
            (SecretName::TunnelForward, key(0)),
            (SecretName::TunnelBackward, key(128)),
        ])
    }
}

const fn mismatch() -> Failure {
    Failure::NothingInCommon { code: Code::Silent }
}

/// The value of a line `NAME=value` of the peer information.
fn announced<'a>(peer_info: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = peer_info.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
}

/// The station's end.
pub struct OpenVpnClient {
    config: OpenVpnConfig,
    channel: Channel,
    tls: TlsClient,
    records: Records,
    started: bool,
    key_sent: bool,
    key_received: bool,
    keys: Option<Keys>,
    failure: Option<Failure>,
    silent: u8,
}

impl OpenVpnClient {
    /// A client that has sent nothing yet.
    #[must_use]
    pub fn new(config: OpenVpnConfig) -> Self {
        let mut tls = TlsClient::new(config.tls(Credential::client(config.chain)));
        tls.connection.set_streamed();
        Self {
            channel: Channel::new(Party::Station, &config),
            tls,
            records: Records::default(),
            started: false,
            key_sent: false,
            key_received: false,
            keys: None,
            failure: None,
            silent: 0,
            config,
        }
    }

    fn key_method(&self, context: &mut Context<'_>) -> Vec<u8> {
        let protocol = match self.config.requests {
            true => IV_PROTO & !REQUEST_PUSH,
            false => IV_PROTO,
        };
        let message = KeyMethod2 {
            pre_master: Some(context.random()),
            random: context.random(),
            options: format!("{OPTIONS}tls-client"),
            user: Default::default(),
            peer_info: format!(
                "IV_VER=2.6.14\nIV_PLAT=linux\nIV_TCPNL=1\nIV_MTU=1600\nIV_NCP=2\n\
                 IV_CIPHERS={CIPHER}:AES-128-GCM:CHACHA20-POLY1305\nIV_PROTO={protocol}\n\
                 IV_LZO_STUB=1\nIV_COMP_STUB=1\nIV_COMP_STUBv2=1\n"
            ),
        };
        written(|out| message.emit(out))
    }

    /// Takes the complete records.
    fn read(&mut self, context: &mut Context<'_>) -> Result<(), Refusal> {
        while let Some(record) = self.records.next() {
            let mut answer = self.tls.receive(context, &record)?;
            let data = self.tls.connection.take_data();
            if self.tls.connection.is_done() && !self.key_sent {
                self.key_sent = true;
                let message = self.key_method(context);
                answer.extend(self.tls.connection.seal(context, &message));
            }
            self.channel.write(context, &answer);
            if !data.is_empty() {
                self.told(context, &data);
            }
        }
        Ok(())
    }

    /// Takes a message in TLS.
    fn told(&mut self, context: &mut Context<'_>, data: &[u8]) {
        if !self.key_received {
            match KeyMethod2::parse(data, false) {
                Ok(_) => self.key_received = true,
                Err(_) => self.failure = Some(mismatch()),
            }
            if self.config.requests {
                self.request(context);
            }
            return;
        }
        let text = core::str::from_utf8(data).unwrap_or_default();
        let mut options = text.trim_end_matches('\0').split(',');
        match options.next() {
            Some(REPLY) if self.keys.is_none() => match agreed(options) {
                Some(peer) => self.keys = Some(Keys::export(&self.tls.connection, context, peer)),
                None => self.failure = Some(mismatch()),
            },
            Some("AUTH_FAILED") => {
                self.failure = Some(Failure::WrongCredentials { code: Code::Silent });
            }
            // Other control messages change nothing here.
            _ => {}
        }
    }

    fn request(&mut self, context: &mut Context<'_>) {
        let sealed = [REQUEST, &[0]].concat();
        let sealed = self.tls.connection.seal(context, &sealed);
        self.channel.write(context, &sealed);
    }
}

/// The peer ID of a PUSH_REPLY whose cipher and key derivation are known.
fn agreed<'a>(options: impl Iterator<Item = &'a str>) -> Option<u32> {
    let (mut peer, mut cipher, mut exporter) = (None, false, false);
    for option in options {
        let mut words = option.split(' ');
        match words.next() {
            Some("peer-id") => peer = words.next().and_then(|word| word.parse().ok()),
            Some("cipher") => cipher = words.next() == Some(CIPHER),
            Some("protocol-flags" | "key-derivation") => {
                exporter |= words.any(|word| word == "tls-ekm");
            }
            _ => {}
        }
    }
    peer.filter(|_| cipher && exporter)
}

impl Peer for OpenVpnClient {
    fn party(&self) -> Party {
        Party::Station
    }

    fn start(&mut self, context: &mut Context<'_>) {
        self.channel.draw(context);
        self.channel.reset(context, opcode::HARD_RESET_CLIENT_V2);
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        if self.failure.is_some() || !self.channel.open(context, &message.octets) {
            return;
        }
        self.silent = 0;
        while let Some((kind, payload)) = self.channel.next() {
            if kind == opcode::CONTROL_V1 {
                self.records.0.extend(payload);
            }
        }
        if !self.started && self.channel.is_idle() {
            self.started = true;
            let hello = self.tls.start(context);
            self.channel.write(context, &hello);
        }
        if let Err(refusal) = self.read(context) {
            self.channel.write(context, &refusal.alert);
            self.failure = Some(refusal.failure);
        }
        self.channel.go_on(context);
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        self.silent += 1;
        if self.silent > ATTEMPTS {
            self.failure = Some(Failure::PeerTimeout { code: Code::Silent });
        } else if self.channel.is_idle() && self.key_received {
            self.request(context);
        } else {
            self.channel.repeat(context);
        }
    }

    fn status(&self) -> Status {
        match (&self.failure, &self.keys) {
            (Some(failure), _) => Status::Failed(*failure),
            (None, Some(keys)) => Status::Established(keys.secrets()),
            (None, None) => Status::Waiting,
        }
    }
}

/// The gateway's end.
pub struct OpenVpnServer {
    config: OpenVpnConfig,
    /// The session of the client's first packet.
    session: Option<Session>,
    refused: bool,
    silent: u8,
}

struct Session {
    channel: Channel,
    tls: TlsServer,
    records: Records,
    /// Whether the client's key method was answered, and whether it wants the options at once.
    keyed: bool,
    wants_reply: bool,
    replied: bool,
    failure: Option<Failure>,
    keys: Option<Keys>,
}

impl OpenVpnServer {
    /// A server that waits for a client.
    #[must_use]
    pub const fn new(config: OpenVpnConfig) -> Self {
        Self {
            config,
            session: None,
            refused: false,
            silent: 0,
        }
    }

    /// A session for a client that shows the shared key.
    fn open(&self, context: &mut Context<'_>, octets: &[u8]) -> Option<Session> {
        let credential = match self.config.rogue {
            true => Credential::rogue_server(),
            false => Credential::server(self.config.chain),
        };
        let tls = TlsServer::new(self.config.tls(credential))?;
        let mut tls = tls.with_tickets(TICKETS);
        tls.connection.set_streamed();
        let mut channel = Channel::new(Party::Gateway, &self.config);
        if !channel.open(context, octets) {
            return None;
        }
        channel.draw(context);
        Some(Session {
            channel,
            tls,
            records: Records::default(),
            keyed: false,
            wants_reply: false,
            replied: false,
            failure: None,
            keys: None,
        })
    }
}

impl Session {
    fn read(&mut self, context: &mut Context<'_>) -> Result<(), Refusal> {
        while let Some(record) = self.records.next() {
            let answer = self.tls.receive(context, &record)?;
            let data = self.tls.connection.take_data();
            self.channel.write(context, &answer);
            if !data.is_empty() {
                self.told(context, &data);
            }
        }
        Ok(())
    }

    fn told(&mut self, context: &mut Context<'_>, data: &[u8]) {
        if self.keyed {
            self.wants_reply |= data.strip_suffix(&[0]) == Some(REQUEST);
            return;
        }
        let Some(protocol) = KeyMethod2::parse(data, true).ok().and_then(|message| {
            let ciphers = announced(&message.peer_info, "IV_CIPHERS")?;
            let protocol: u32 = announced(&message.peer_info, "IV_PROTO")?.parse().ok()?;
            let known = ciphers.split(':').any(|cipher| cipher == CIPHER);
            (known && protocol & TLS_KEY_EXPORT != 0).then_some(protocol)
        }) else {
            self.failure = Some(mismatch());
            return;
        };
        self.keyed = true;
        self.wants_reply = protocol & REQUEST_PUSH != 0;
        let message = KeyMethod2 {
            pre_master: None,
            random: context.random(),
            options: format!("{OPTIONS}tls-server"),
            user: Default::default(),
            peer_info: String::new(),
        };
        let sealed = written(|out| message.emit(out));
        let sealed = self.tls.connection.seal(context, &sealed);
        self.channel.write(context, &sealed);
    }

    /// Pushes the options once the client has acknowledged everything before them; the keys hold once
    /// it has acknowledged the options.
    fn push(&mut self, context: &mut Context<'_>, config: &OpenVpnConfig) {
        if !self.channel.is_idle() || !self.keyed || self.keys.is_some() {
            return;
        }
        if self.replied {
            self.keys = Some(Keys::export(&self.tls.connection, context, config.peer));
        } else if self.wants_reply {
            self.replied = true;
            let dotted = |octets: [u8; 4]| core::net::Ipv4Addr::from(octets);
            let (client, gateway) = (
                dotted(config.inner.initiator),
                dotted(config.inner.responder),
            );
            let reply = format!(
                "{REPLY},route-gateway {gateway},topology subnet,ifconfig {client} 255.255.255.0,\
                 peer-id {},cipher {CIPHER},protocol-flags cc-exit tls-ekm dyn-tls-crypt,\
                 tun-mtu 1500\0",
                config.peer
            );
            let sealed = self.tls.connection.seal(context, reply.as_bytes());
            self.channel.write(context, &sealed);
        }
    }
}

impl Peer for OpenVpnServer {
    fn party(&self) -> Party {
        Party::Gateway
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Ok(packet) = WrappedRepr::parse(&message.octets) else {
            return;
        };
        if packet.opcode == opcode::HARD_RESET_CLIENT_V2 && self.session.is_none() {
            self.session = self.open(context, &message.octets);
            self.refused = self.session.is_none();
            if let Some(session) = &mut self.session {
                self.silent = 0;
                session.channel.next();
                session.channel.reset(context, opcode::HARD_RESET_SERVER_V2);
                session.channel.forget_acknowledged();
            }
            return;
        }
        let Some(session) = &mut self.session else {
            return;
        };
        if session.failure.is_some() || !session.channel.open(context, &message.octets) {
            return;
        }
        self.silent = 0;
        if packet.opcode == opcode::HARD_RESET_CLIENT_V2 {
            // The client has not heard ours.
            session.channel.repeat(context);
        }
        while let Some((kind, payload)) = session.channel.next() {
            if kind == opcode::CONTROL_V1 {
                session.records.0.extend(payload);
            }
        }
        if let Err(refusal) = session.read(context) {
            session.channel.write(context, &refusal.alert);
            session.failure = Some(refusal.failure);
        }
        session.push(context, &self.config);
        session.channel.go_on(context);
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if self.status() != Status::Waiting {
            return;
        }
        self.silent += 1;
        match &mut self.session {
            Some(session) if self.silent > ATTEMPTS => {
                session.failure = Some(Failure::PeerTimeout { code: Code::Silent });
            }
            Some(session) => session.channel.repeat(context),
            None => {}
        }
    }

    fn status(&self) -> Status {
        match &self.session {
            Some(Session {
                failure: Some(failure),
                ..
            }) => Status::Failed(*failure),
            Some(Session {
                keys: Some(keys), ..
            }) => Status::Established(keys.secrets()),
            Some(_) => Status::Waiting,
            None if self.refused => {
                Status::Failed(Failure::WrongCredentials { code: Code::Silent })
            }
            None if self.silent > PATIENCE => {
                Status::Failed(Failure::PeerTimeout { code: Code::Silent })
            }
            None => Status::Waiting,
        }
    }

    fn is_half_open(&self) -> bool {
        let done = |session: &Session| session.tls.connection.is_done();
        self.session.as_ref().is_some_and(|session| !done(session))
    }
}

/// Protocol and name of a packet, which tls-crypt leaves readable.
pub(crate) fn name(octets: &[u8]) -> &'static str {
    match octets.first().map(|first| first >> 3) {
        Some(opcode::HARD_RESET_CLIENT_V2) => "hard reset, client",
        Some(opcode::HARD_RESET_SERVER_V2) => "hard reset, server",
        Some(opcode::CONTROL_V1) => "control",
        Some(opcode::ACK_V1) => "acknowledgement",
        _ => "malformed",
    }
}

/// Sends a packet.
fn send(context: &mut Context<'_>, party: Party, octets: Vec<u8>) {
    let to = match party {
        Party::Station => Party::Gateway,
        _ => Party::Station,
    };
    context.send(party, to, Carrier::Udp(PORT), octets);
}

#[cfg(test)]
mod tests;
