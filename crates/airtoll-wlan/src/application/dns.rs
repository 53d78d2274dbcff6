//! DNS: lookups one after the other, over UDP or over TLS.

use airtoll_engine::Stream;
use airtoll_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request_response::{Rounds, Transaction};
use super::{Checked, DATAGRAM_MAX, SocketKind, not_negative, positive, within};

/// DNS lookups. Over TLS every lookup opens a TCP connection and a TLS 1.3 session of its own. The
/// response time of a lookup is from its start, the TCP handshake included, to the whole answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Dns {
    /// DNS message of the query, octets. Default 44: header 12, `www.example.com` 17, type and class
    /// 4 (RFC 1035 section 4.1), EDNS(0) option record 11 (RFC 6891).
    pub query_octets: u32,
    /// DNS message of the answer, octets. Default 60: the query with one A record of 16.
    pub answer_octets: u32,
    /// Time that the resolver takes to answer, s.
    pub server_s: f64,
    /// Pause between an answer and the next lookup, s.
    pub think_s: f64,
    /// Number of lookups; null: until the end.
    pub count: Option<u32>,
    /// UDP: repeat the query if there is no answer within this time, s (5 in `resolv.conf`).
    pub retry_s: f64,
    /// TLS record of the ClientHello, octets. Default: RFC 8448 section 3.
    pub client_hello_octets: u32,
    /// TLS records from ServerHello to the server's Finished, octets. Default: RFC 8448 section 3
    /// (95 and 679, with a certificate of 432 octets).
    pub server_flight_octets: u32,
    /// TLS record of the client's Finished, octets. Default: RFC 8448 section 3.
    pub client_finished_octets: u32,
}

impl Default for Dns {
    fn default() -> Self {
        Self {
            query_octets: 44,
            answer_octets: 60,
            server_s: 0.0,
            think_s: 0.0,
            count: None,
            retry_s: 5.0,
            client_hello_octets: 201,
            server_flight_octets: 95 + 679,
            client_finished_octets: 58,
        }
    }
}

/// Octets of the length before a DNS message on a stream (RFC 1035 section 4.2.2).
const LENGTH: u32 = 2;
/// Octets that a TLS 1.3 record adds: header 5, content type 1, authentication tag 16 (RFC 8446
/// section 5.2).
const TLS_RECORD: u32 = 22;

impl Dns {
    pub(super) fn check(&self, _: SocketKind) -> Checked {
        not_negative("server_s", self.server_s)?;
        not_negative("think_s", self.think_s)?;
        positive("retry_s", self.retry_s)?;
        // The length before a DNS message has 16 bits; a datagram takes less.
        for (field, octets) in [
            ("query_octets", self.query_octets),
            ("answer_octets", self.answer_octets),
            ("client_hello_octets", self.client_hello_octets),
            ("server_flight_octets", self.server_flight_octets),
            ("client_finished_octets", self.client_finished_octets),
        ] {
            let right = (1..=DATAGRAM_MAX).contains(&octets);
            within(field, octets, right, "1 to 65,507")?;
        }
        Ok(())
    }

    pub(super) fn application(&self, kind: SocketKind, _: Stream) -> Rounds {
        Rounds::new(self.lookup(kind), self.think_s, self.retry_s, self.count)
            .reconnecting(kind == SocketKind::Stream)
            .counting_waits()
    }

    /// The transactions of one lookup: query and answer over UDP; over TLS the handshake before them,
    /// and the query behind the client's Finished.
    fn lookup(&self, kind: SocketKind) -> Vec<Transaction> {
        let server = Duration::from_secs_f64(self.server_s);
        if kind == SocketKind::Datagrams {
            return vec![Transaction {
                request: self.query_octets,
                response: self.answer_octets,
                server,
            }];
        }
        let framed = |message: u32| LENGTH + message + TLS_RECORD;
        vec![
            Transaction {
                request: self.client_hello_octets,
                response: self.server_flight_octets,
                server: Duration::ZERO,
            },
            Transaction {
                request: self.client_finished_octets + framed(self.query_octets),
                response: framed(self.answer_octets),
                server,
            },
        ]
    }
}
