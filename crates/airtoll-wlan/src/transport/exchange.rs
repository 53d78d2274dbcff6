//! Applications that ask and answer: request-response, HTTP-like pages, FTP-like transfers.
//!
//! Takes simulated time and the octets that TCP (or UDP) delivered; gives octets to write at the client and at the
//! server, and how long each response took. Never sees packets: put a [`Sender`](super::Sender) and
//! [`Receiver`](super::Receiver) for each direction between [`Client`] and [`Server`].

use airtoll_units::{Duration, Instant};

/// One request and its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Octets the client sends.
    pub request: u64,
    /// Octets the server answers with.
    pub response: u64,
    /// What the server takes before it answers.
    pub server_time: Duration,
    /// Pause of the client after the response.
    pub think_time: Duration,
}

/// The same exchange `count` times.
pub fn request_response(exchange: Exchange, count: usize) -> Vec<Exchange> {
    vec![exchange; count]
}

/// An HTTP-like page over one persistent connection without pipelining: the document, then each embedded object,
/// one request after another (RFC 9112 section 9.3). `request` octets for every request; `think_time` after
/// the page.
pub fn web_page(
    request: u64,
    document: u64,
    objects: &[u64],
    server_time: Duration,
    think_time: Duration,
) -> Vec<Exchange> {
    let sizes: Vec<u64> = std::iter::once(document)
        .chain(objects.iter().copied())
        .collect();
    let last = sizes.len() - 1;
    sizes
        .into_iter()
        .enumerate()
        .map(|(i, response)| Exchange {
            request,
            response,
            server_time,
            think_time: if i == last {
                think_time
            } else {
                Duration::from_nanos(0)
            },
        })
        .collect()
}

/// An FTP-like download: the control dialogue as request and reply pairs of `command` and `reply` octets
/// (USER, PASS, TYPE, PASV, RETR: RFC 959 section 5), then the file. Control and data share one connection here,
/// so a second handshake has to be modelled by whoever needs it.
pub fn file_download(command: u64, reply: u64, file: u64) -> Vec<Exchange> {
    let none = Duration::from_nanos(0);
    let dialogue = Exchange {
        request: command,
        response: reply,
        server_time: none,
        think_time: none,
    };
    let mut script = vec![dialogue; 5];
    script[4].response += file;
    script
}

/// The side that asks.
#[derive(Debug, Clone)]
pub struct Client {
    script: Vec<Exchange>,
    at: usize,
    state: ClientState,
    response_times: Vec<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClientState {
    Waiting { until: Instant },
    Asked { since: Instant, missing: u64 },
    Done,
}

impl Client {
    /// A client that plays `script` from `start` on.
    pub fn new(script: Vec<Exchange>, start: Instant) -> Self {
        let state = if script.is_empty() {
            ClientState::Done
        } else {
            ClientState::Waiting { until: start }
        };
        Self {
            response_times: Vec::with_capacity(script.len()),
            script,
            at: 0,
            state,
        }
    }

    /// Octets of request to write at `now`, if one is due.
    pub fn poll_write(&mut self, now: Instant) -> Option<u64> {
        match self.state {
            ClientState::Waiting { until } if now >= until => {
                let exchange = self.script[self.at];
                self.state = ClientState::Asked {
                    since: now,
                    missing: exchange.response,
                };
                Some(exchange.request)
            }
            _ => None,
        }
    }

    /// `octets` of response arrived at `now`.
    pub fn on_delivered(&mut self, now: Instant, octets: u64) {
        let ClientState::Asked { since, missing } = self.state else {
            return;
        };
        if octets < missing {
            self.state = ClientState::Asked {
                since,
                missing: missing - octets,
            };
            return;
        }
        self.response_times
            .push(Duration::from_nanos(now.as_nanos() - since.as_nanos()));
        let pause = self.script[self.at].think_time;
        self.at += 1;
        self.state = if self.at == self.script.len() {
            ClientState::Done
        } else {
            ClientState::Waiting { until: now + pause }
        };
    }

    /// When [`Self::poll_write`] has something next; `None` while a response is missing or all is done.
    pub fn next_timer(&self) -> Option<Instant> {
        match self.state {
            ClientState::Waiting { until } => Some(until),
            _ => None,
        }
    }

    /// Request written to last octet of response, for each exchange done.
    pub fn response_times(&self) -> &[Duration] {
        &self.response_times
    }

    /// Whether the script is over.
    pub fn is_done(&self) -> bool {
        self.state == ClientState::Done
    }
}

/// The side that answers.
#[derive(Debug, Clone)]
pub struct Server {
    script: Vec<Exchange>,
    at: usize,
    received: u64,
    ready: Option<Instant>,
}

impl Server {
    /// A server that knows the client's script.
    pub fn new(script: Vec<Exchange>) -> Self {
        Self {
            script,
            at: 0,
            received: 0,
            ready: None,
        }
    }

    /// `octets` of request arrived at `now`.
    pub fn on_delivered(&mut self, now: Instant, octets: u64) {
        self.received += octets;
        if self.ready.is_none()
            && let Some(exchange) = self.script.get(self.at)
            && self.received >= exchange.request
        {
            self.received -= exchange.request;
            self.ready = Some(now + exchange.server_time);
        }
    }

    /// Octets of response to write at `now`, if one is due.
    pub fn poll_write(&mut self, now: Instant) -> Option<u64> {
        if self.ready.is_none_or(|at| now < at) {
            return None;
        }
        self.ready = None;
        let octets = self.script[self.at].response;
        self.at += 1;
        Some(octets)
    }

    /// When [`Self::poll_write`] has something next.
    pub fn next_timer(&self) -> Option<Instant> {
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(n: u64) -> Duration {
        Duration::from_nanos(n * MS)
    }

    /// Plays a script over a network that only delays by `one_way`; gives when it ended.
    fn play(script: &[Exchange], one_way: Duration) -> (Client, Instant) {
        let mut client = Client::new(script.to_vec(), Instant::from_nanos(0));
        let mut server = Server::new(script.to_vec());
        let mut now = Instant::from_nanos(0);
        while let Some(at) = client.next_timer() {
            now = at;
            let request = client.poll_write(now).unwrap();
            assert_eq!(client.poll_write(now), None);
            now += one_way;
            // In two pieces.
            server.on_delivered(now, request - 1);
            assert_eq!(server.next_timer(), None);
            server.on_delivered(now, 1);
            now = server.next_timer().unwrap();
            let response = server.poll_write(now).unwrap();
            assert_eq!(server.poll_write(now), None);
            now += one_way;
            client.on_delivered(now, response / 2);
            client.on_delivered(now, response - response / 2);
        }
        (client, now)
    }

    #[test]
    fn response_time_is_two_ways_and_the_server() {
        let exchange = Exchange {
            request: 100,
            response: 2_000,
            server_time: ms(3),
            think_time: ms(50),
        };
        let (client, end) = play(&request_response(exchange, 4), ms(5));
        assert!(client.is_done());
        assert_eq!(client.response_times(), [ms(13); 4]);
        assert_eq!(end.as_nanos(), (4 * 13 + 3 * 50) * MS);
    }

    #[test]
    fn a_page_is_its_document_then_its_objects() {
        let script = web_page(350, 10_000, &[5_000, 6_000], ms(1), ms(1_000));
        assert_eq!(script.len(), 3);
        assert_eq!(script.iter().map(|e| e.response).sum::<u64>(), 21_000);
        let (client, end) = play(&script, ms(10));
        assert_eq!(client.response_times().len(), 3);
        assert_eq!(end.as_nanos(), 63 * MS);
    }

    #[test]
    fn a_download_is_a_dialogue_and_a_file() {
        let script = file_download(20, 60, 1_000_000);
        assert_eq!(script.len(), 5);
        assert_eq!(script[4].response, 1_000_060);
        assert!(play(&script, ms(1)).0.is_done());
        assert!(Client::new(Vec::new(), Instant::from_nanos(0)).is_done());
    }
}
