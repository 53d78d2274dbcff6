//! Applications alone, against a port that writes down their calls.

use airtoll_engine::Streams;

use super::*;

/// A call of a port.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Call {
    WakeAt(u64),
    TimeOutAt(u64),
    Send(u32),
    Message(End, u32, u32),
    Write(End, u64),
    WithoutEnd,
    Finish,
    Reopen,
    Offered(u64),
    Repeated,
    Answered(u64),
    Transferred(u64),
}

/// A flow from 1 s to 2 s whose socket takes `room` datagrams; times are ms.
struct Recorded {
    now_ms: u64,
    kind: SocketKind,
    room: u32,
    calls: Vec<Call>,
}

impl Recorded {
    fn new(kind: SocketKind) -> Self {
        Self {
            now_ms: 1_000,
            kind,
            room: 3,
            calls: Vec::new(),
        }
    }

    /// The calls since the last look.
    fn take(&mut self) -> Vec<Call> {
        std::mem::take(&mut self.calls)
    }
}

fn ms(at: Instant) -> u64 {
    at.as_nanos() / 1_000_000
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

impl Port for Recorded {
    fn now(&self) -> Instant {
        at(self.now_ms)
    }
    fn began(&self) -> Instant {
        at(1_000)
    }
    fn is_stopped(&self) -> bool {
        self.now_ms >= 2_000
    }
    fn kind(&self) -> SocketKind {
        self.kind
    }
    fn wake_at(&mut self, at: Instant) {
        self.calls.push(Call::WakeAt(ms(at)));
    }
    fn time_out_at(&mut self, at: Instant) {
        self.calls.push(Call::TimeOutAt(ms(at)));
    }
    fn has_room(&mut self) -> bool {
        self.room > 0
    }
    fn send(&mut self, octets: u32) {
        assert_eq!(self.kind, SocketKind::Datagrams);
        self.room -= 1;
        self.calls.push(Call::Send(octets));
    }
    fn send_message(&mut self, from: End, number: u32, octets: u32) {
        assert_eq!(self.kind, SocketKind::Datagrams);
        self.calls.push(Call::Message(from, number, octets));
    }
    fn write(&mut self, from: End, octets: u64) {
        assert_eq!(self.kind, SocketKind::Stream);
        self.calls.push(Call::Write(from, octets));
    }
    fn write_without_end(&mut self) {
        self.calls.push(Call::WithoutEnd);
    }
    fn finish(&mut self) {
        self.calls.push(Call::Finish);
    }
    fn reopen(&mut self) {
        self.calls.push(Call::Reopen);
    }
    fn offered(&mut self, octets: u64) {
        self.calls.push(Call::Offered(octets));
    }
    fn repeated(&mut self) {
        self.calls.push(Call::Repeated);
    }
    fn answered(&mut self, took: Duration) {
        self.calls.push(Call::Answered(took.as_nanos() / 1_000_000));
    }
    fn transferred(&mut self, took: Duration) {
        let took = took.as_nanos() / 1_000_000;
        self.calls.push(Call::Transferred(took));
    }
}

fn pattern(text: &str) -> Pattern {
    serde_json::from_str(text).unwrap()
}

/// An application that has begun, and its port.
fn running(text: &str, kind: SocketKind) -> (Running, Recorded) {
    let pattern = pattern(text);
    pattern.check(kind).unwrap();
    let mut application = pattern.application(kind, Streams::new(1).named("flow/f"));
    application.begin(at(1_000));
    (application, Recorded::new(kind))
}

use Call::*;
use End::{Destination, Source};
use SocketKind::{Datagrams, Stream as Octets};

#[test]
fn a_saturated_application_sends_while_there_is_room_until_it_is_stopped() {
    let text = r#"{"type": "saturated", "payload_octets": 100}"#;
    let (mut application, mut port) = running(text, Datagrams);
    application.due(&mut port);
    assert_eq!(port.take(), [Send(100); 3]);
    (port.room, port.now_ms) = (1, 2_000);
    application.due(&mut port);
    assert_eq!(port.take(), []);
    let (mut application, mut port) = running(text, Octets);
    application.due(&mut port);
    assert_eq!(port.take(), [WithoutEnd]);
}

#[test]
fn paced_writes_keep_their_distance_and_make_up_for_a_full_socket() {
    // 100 octets at 80 kbit/s: one write every 10 ms.
    let text = r#"{"type": "paced", "payload_octets": 100, "rate_bps": 80000}"#;
    let (mut application, mut port) = running(text, Datagrams);
    application.due(&mut port);
    assert_eq!(port.take(), [Send(100), WakeAt(1_010)]);
    (port.now_ms, port.room) = (1_010, 0);
    application.due(&mut port);
    assert_eq!(port.take(), []);
    (port.now_ms, port.room) = (1_025, 3);
    application.due(&mut port);
    assert_eq!(port.take(), [Send(100), Send(100), WakeAt(1_030)]);

    let (mut application, mut port) = running(text, Octets);
    application.due(&mut port);
    assert_eq!(
        port.take(),
        [Write(Source, 100), Offered(100), WakeAt(1_010)]
    );
    port.now_ms = 2_000;
    application.due(&mut port);
    assert_eq!(port.take(), []);
}

#[test]
fn poisson_writes_have_the_mean_distance_of_constant_ones() {
    let text = r#"{"type": "paced", "payload_octets": 100, "rate_bps": 80000,
        "arrivals": "poisson"}"#;
    let (mut application, mut port) = running(text, Octets);
    let mut distances = Vec::new();
    for _ in 0..4_000 {
        // The flow never stops here.
        port.now_ms = 1_000;
        application.due(&mut port);
        let Some(WakeAt(next)) = port.take().pop() else {
            panic!("it does not go on");
        };
        distances.push(next);
    }
    let mean = (distances[3_999] - 1_000) as f64 / 4_000.0;
    // Four standard errors of the mean of 4000 exponential distances of 10 ms.
    assert!((mean - 10.0).abs() < 4.0 * 10.0 / 4_000f64.sqrt(), "{mean}");
    let short = distances.windows(2).filter(|d| d[1] - d[0] < 7).count();
    assert!((1_700..2_300).contains(&short), "{short}");
}

#[test]
fn a_transfer_ends_with_its_last_octet() {
    let text = r#"{"type": "transfer", "octets": 250, "payload_octets": 100}"#;
    let (mut application, mut port) = running(text, Datagrams);
    application.due(&mut port);
    assert_eq!(port.take(), [Send(100), Send(100), Send(50)]);
    let datagram = Datagram {
        from: Source,
        number: 2,
        at: at(1_200),
    };
    assert!(application.datagram_arrived(&mut port, datagram));
    assert_eq!(port.take(), [Transferred(200)]);

    let (mut application, mut port) = running(text, Octets);
    application.due(&mut port);
    assert_eq!(port.take(), [Write(Source, 250), Finish, Offered(250)]);
    port.now_ms = 1_300;
    application.stream_arrived(&mut port, Source, 249);
    assert_eq!(port.take(), []);
    application.stream_arrived(&mut port, Source, 250);
    application.stream_arrived(&mut port, Source, 250);
    assert_eq!(port.take(), [Transferred(300)]);
}

#[test]
fn a_lost_request_is_repeated_and_an_old_answer_is_not_taken() {
    let text = r#"{"type": "request_response", "request_octets": 10, "response_octets": 20,
        "server_s": 0.005, "think_s": 0.03, "count": 1, "retry_s": 0.1}"#;
    let (mut application, mut port) = running(text, Datagrams);
    let datagram = |from, number, ms| Datagram {
        from,
        number,
        at: at(ms),
    };
    application.due(&mut port);
    assert_eq!(
        port.take(),
        [Offered(10), Message(Source, 1, 10), TimeOutAt(1_100)]
    );
    port.now_ms = 1_100;
    application.timed_out(&mut port);
    assert_eq!(
        port.take(),
        [
            Repeated,
            Offered(10),
            Message(Source, 1, 10),
            TimeOutAt(1_200)
        ]
    );
    port.now_ms = 1_110;
    assert!(application.datagram_arrived(&mut port, datagram(Source, 1, 1_110)));
    assert_eq!(port.take(), [WakeAt(1_115)]);
    port.now_ms = 1_115;
    application.due(&mut port);
    assert_eq!(port.take(), [Offered(20), Message(Destination, 1, 20)]);
    assert!(!application.datagram_arrived(&mut port, datagram(Destination, 0, 1_116)));
    port.now_ms = 1_120;
    assert!(application.datagram_arrived(&mut port, datagram(Destination, 1, 1_120)));
    // From the request that was answered, not from the lost one.
    assert_eq!(port.take(), [Answered(20), WakeAt(1_150)]);
    port.now_ms = 1_150;
    application.due(&mut port);
    application.timed_out(&mut port);
    assert_eq!(port.take(), []);
}

#[test]
fn a_lookup_over_tls_has_a_connection_and_a_handshake_before_the_query() {
    let (mut application, mut port) = running(r#"{"type": "dns"}"#, Octets);
    application.due(&mut port);
    assert_eq!(port.take(), [Reopen, Offered(201), Write(Source, 201)]);
    application.stream_arrived(&mut port, Source, 201);
    assert_eq!(port.take(), [WakeAt(1_000)]);
    application.due(&mut port);
    assert_eq!(port.take(), [Offered(774), Write(Destination, 774)]);
    port.now_ms = 1_010;
    application.stream_arrived(&mut port, Destination, 774);
    assert_eq!(port.take(), [WakeAt(1_010)]);
    application.due(&mut port);
    // Finished, and the query of 44 octets with its length in a record.
    let second = 58 + 2 + 44 + 22;
    assert_eq!(port.take(), [Offered(second), Write(Source, second)]);
    application.stream_arrived(&mut port, Source, 201 + second - 1);
    assert_eq!(port.take(), []);
    application.stream_arrived(&mut port, Source, 201 + second);
    application.due(&mut port);
    assert_eq!(
        port.take(),
        [WakeAt(1_010), Offered(84), Write(Destination, 84)]
    );
    port.now_ms = 1_020;
    application.stream_arrived(&mut port, Destination, 774 + 84);
    assert_eq!(port.take(), [Answered(20), WakeAt(1_020)]);
}

#[test]
fn a_call_is_paced_and_says_how_much_speech_a_packet_holds() {
    let (mut application, mut port) = running(r#"{"type": "voip"}"#, Datagrams);
    application.due(&mut port);
    assert_eq!(port.take(), [Send(172), WakeAt(1_020)]);
    assert_eq!(application.speech(), Some(Duration::from_millis(20)));
}

#[test]
fn parameters_outside_their_ranges_are_named() {
    for (text, field, allowed) in [
        (
            r#"{"type": "saturated", "payload_octets": 0}"#,
            "payload_octets",
            "at least 1",
        ),
        (
            r#"{"type": "transfer", "octets": 1, "payload_octets": 65508}"#,
            "payload_octets",
            "at most 65,507",
        ),
        (
            r#"{"type": "paced", "payload_octets": 1, "rate_bps": 0}"#,
            "rate_bps",
            "above zero",
        ),
        (
            r#"{"type": "voip", "interval_ms": -1}"#,
            "interval_ms",
            "above zero",
        ),
        (
            r#"{"type": "request_response", "request_octets": 1, "response_octets": 0}"#,
            "response_octets",
            "at least 1",
        ),
        (
            r#"{"type": "dns", "query_octets": 70000}"#,
            "query_octets",
            "1 to 65,507",
        ),
    ] {
        let problem = pattern(text).check(Datagrams).unwrap_err();
        assert_eq!((problem.field, problem.allowed), (field, allowed), "{text}");
    }
    let long = r#"{"type": "saturated", "payload_octets": 65508}"#;
    assert_eq!(pattern(long).check(Octets), Ok(()));
}
