//! `airtoll-medium [--virtual-time] CONTROL_SOCKET SETTINGS`: the air for the virtual radios of a
//! namespace.
//!
//! Takes a settings file (JSON, see `settings`), frames from mac80211_hwsim, and requests on a
//! control socket (see `control`); hands frames to receivers when the air lets them
//! through. With `--virtual-time` the clock stands while this program runs. Needs root and the module. The socket appears once the kernel has accepted us as its
//! medium; when the program ends, however it ends, the kernel goes back to a medium without air.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use airtoll_medium::control::{self, Service};
use airtoll_medium::hwsim::{self, Received};
use airtoll_medium::{Happening, Medium, Offer, Settings};
use airtoll_units::Instant;
use airtoll_wire::MacAddress;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_GENERIC;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::set_socket_recv_buffer_size_force;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// Enough for the frames of a second at full rate, should the machine be away for so long.
const RECEIVE_OCTETS: usize = 16 << 20;
/// Most octets of messages to the kernel at a time; a socket of the default size takes 212,992.
const SEND_OCTETS: usize = 1 << 16;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("airtoll-medium: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    let virtual_time = arguments
        .next_if(|argument| argument == "--virtual-time")
        .is_some();
    let (path, file) = match (arguments.next(), arguments.next(), arguments.next()) {
        (Some(path), Some(file), None) => (PathBuf::from(path), PathBuf::from(file)),
        _ => return Err("usage: airtoll-medium [--virtual-time] CONTROL_SOCKET SETTINGS".into()),
    };
    let text =
        std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    let settings =
        Settings::from_json(&text).map_err(|error| format!("{}: {error}", file.display()))?;
    // Ahead of the traffic that it carries: lateness here is lateness of every frame. Without
    // the right to it, it is as late as others are.
    let _ = rustix::process::setpriority_process(None, -20);
    // Timers would otherwise end up to 50 us late, so that other timers may end with them.
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let kernel = Kernel::register()?;
    let listener = UnixListener::bind(&path)
        .and_then(|listener| listener.set_nonblocking(true).map(|()| listener))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    println!("registered");
    let clock = Clock::new(virtual_time)?;
    let result = Shell::new(settings, kernel, listener, clock).serve();
    remove(&path);
    result
}

fn remove(path: &Path) {
    // A file that is gone already needs no message.
    let _ = std::fs::remove_file(path);
}

/// The kernel's side: a netlink socket that is registered as the medium.
struct Kernel {
    socket: Socket,
    family: u16,
    buffer: Vec<u8>,
}

impl Kernel {
    fn register() -> Result<Self, String> {
        let fault = |what: &str| {
            let what = what.to_owned();
            move |error: io::Error| format!("{what}: {error}")
        };
        let mut socket = Socket::new(NETLINK_GENERIC).map_err(fault("netlink socket"))?;
        socket.bind_auto().map_err(fault("netlink socket"))?;
        set_socket_recv_buffer_size_force(&socket, RECEIVE_OCTETS)
            .or_else(|_| {
                socket
                    .set_rx_buf_sz(RECEIVE_OCTETS as u32)
                    .map_err(|_| rustix::io::Errno::PERM)
            })
            .map_err(|error| format!("netlink socket: buffer: {error}"))?;
        let mut kernel = Self {
            socket,
            family: 0,
            buffer: vec![0; 1 << 16],
        };
        kernel
            .send(&hwsim::ask_family())
            .map_err(fault("netlink"))?;
        let answer = kernel.wait().map_err(fault("netlink"))?;
        kernel.family = hwsim::read_family(&answer).map_err(|number| match number {
            Some(2) => "no mac80211_hwsim in this kernel: modprobe mac80211_hwsim".to_owned(),
            Some(number) => io::Error::from_raw_os_error(number).to_string(),
            None => "netlink: no answer about mac80211_hwsim".to_owned(),
        })?;
        // The acknowledgement that follows the answer, if the kernel sends one.
        kernel
            .socket
            .set_non_blocking(true)
            .map_err(fault("netlink"))?;
        kernel
            .send(&hwsim::register(kernel.family))
            .map_err(fault("netlink"))?;
        loop {
            let mut ready = [PollFd::new(&kernel.socket, PollFlags::IN)];
            let limit = Timespec {
                tv_sec: 10,
                tv_nsec: 0,
            };
            if poll(&mut ready, Some(&limit)).map_err(|e| e.to_string())? == 0 {
                return Err("mac80211_hwsim does not answer".into());
            }
            let family = kernel.family;
            let message = kernel.receive().map_err(fault("netlink"))?;
            if let Some(octets) = message
                && let Ok(Received::Status(number)) = hwsim::read(octets, family)
            {
                return match number {
                    0 => Ok(kernel),
                    1 => Err("the kernel takes a medium from root only".into()),
                    16 => Err("mac80211_hwsim has another medium already".into()),
                    _ => Err(io::Error::from_raw_os_error(number).to_string()),
                };
            }
        }
    }

    fn send(&self, octets: &[u8]) -> io::Result<()> {
        self.socket.send(octets, 0).map(|_| ())
    }

    /// Sends messages that stand one behind the other; empties the buffer.
    fn hand_in(&self, messages: &mut Vec<u8>) -> Result<(), String> {
        if !messages.is_empty() {
            self.send(messages)
                .map_err(|error| format!("netlink: {error}"))?;
            messages.clear();
        }
        Ok(())
    }

    fn wait(&mut self) -> io::Result<Vec<u8>> {
        let length = self.socket.recv(&mut &mut self.buffer[..], 0)?;
        Ok(self.buffer[..length].to_vec())
    }

    /// The next message, or `None` if there is none now.
    fn receive(&mut self) -> io::Result<Option<&[u8]>> {
        match self.socket.recv(&mut &mut self.buffer[..], 0) {
            Ok(length) => Ok(Some(&self.buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The time since the program's start, and a timer.
struct Clock {
    epoch: Timespec,
    timer: OwnedFd,
    /// The instant for which the timer is set.
    due: Option<Instant>,
    /// Whether the timer has ended: it can be read until it is set anew.
    ended: bool,
    /// The instant of the last wake, where the clock stands until the next one. A look at such a clock
    /// is a call of the kernel, and each moves it.
    stands_at: Option<Instant>,
}

impl Clock {
    fn new(virtual_time: bool) -> Result<Self, String> {
        let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)
            .map_err(|error| format!("timer: {error}"))?;
        Ok(Self {
            epoch: clock_gettime(ClockId::Monotonic),
            timer,
            due: None,
            ended: false,
            stands_at: virtual_time.then_some(Instant::ZERO),
        })
    }

    fn now(&self) -> Instant {
        self.stands_at.unwrap_or_else(|| self.look())
    }

    fn look(&self) -> Instant {
        let now = clock_gettime(ClockId::Monotonic);
        let seconds = (now.tv_sec - self.epoch.tv_sec) * 1_000_000_000;
        Instant::from_nanos((seconds + now.tv_nsec - self.epoch.tv_nsec) as u64)
    }

    /// Sets the timer to an instant, or lets it rest.
    fn set(&mut self, due: Option<Instant>) -> Result<(), String> {
        if self.due == due && !self.ended {
            return Ok(());
        }
        // Zero stops a timer, and the epoch is not zero.
        let mut value = Timespec::default();
        if let Some(due) = due {
            let nanos = self.epoch.tv_nsec + (due.as_nanos() % 1_000_000_000) as i64;
            value.tv_sec =
                self.epoch.tv_sec + (due.as_nanos() / 1_000_000_000) as i64 + nanos / 1_000_000_000;
            value.tv_nsec = nanos % 1_000_000_000;
        }
        let spec = Itimerspec {
            it_interval: Timespec::default(),
            it_value: value,
        };
        timerfd_settime(&self.timer, TimerfdTimerFlags::ABSTIME, &spec)
            .map_err(|error| format!("timer: {error}"))?;
        (self.due, self.ended) = (due, false);
        Ok(())
    }

    /// Notes a wake by the timer's end, by `others`, or by both.
    fn woke(&mut self, ended: bool, others: bool) {
        self.ended = ended;
        if self.stands_at.is_some() {
            self.stands_at = match self.due {
                Some(due) if ended && !others => Some(due),
                _ => Some(self.look()),
            };
        }
    }
}

/// For whom there is something to read.
#[derive(Default)]
struct Ready {
    frames: bool,
    callers: bool,
}

/// A caller on the control socket.
struct Caller {
    stream: UnixStream,
    pending: Vec<u8>,
}

/// Moves octets between the kernel, the callers and the medium.
struct Shell {
    medium: Medium,
    kernel: Kernel,
    listener: UnixListener,
    callers: Vec<Caller>,
    service: Service,
    clock: Clock,
    /// HWSIM flags of frames under way: they go back with the report.
    flags: HashMap<(usize, u64), u32>,
}

impl Shell {
    fn new(settings: Settings, kernel: Kernel, listener: UnixListener, clock: Clock) -> Self {
        Self {
            medium: Medium::new(settings, Instant::ZERO),
            kernel,
            listener,
            callers: Vec::new(),
            service: Service::default(),
            clock,
            flags: HashMap::new(),
        }
    }

    fn serve(mut self) -> Result<(), String> {
        loop {
            self.medium.advance(self.clock.now());
            self.hand_over()?;
            let ready = self.sleep()?;
            if ready.frames {
                self.take_frames()?;
            }
            if ready.callers && self.converse() {
                self.medium.abandon();
                self.hand_over()?;
                return Ok(());
            }
        }
    }

    /// Until a frame or a caller comes, or the medium may have something to hand over.
    fn sleep(&mut self) -> Result<Ready, String> {
        self.clock.set(self.medium.hands_over_at())?;
        let mut ready = vec![
            PollFd::new(&self.kernel.socket, PollFlags::IN),
            PollFd::new(&self.clock.timer, PollFlags::IN),
            PollFd::from_borrowed_fd(self.listener.as_fd(), PollFlags::IN),
        ];
        for caller in &self.callers {
            ready.push(PollFd::from_borrowed_fd(
                caller.stream.as_fd(),
                PollFlags::IN,
            ));
        }
        match poll(&mut ready, None) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => {
                self.clock.woke(false, true);
                return Ok(Ready::default());
            }
            Err(error) => return Err(format!("poll: {error}")),
        }
        let said = |one: &PollFd<'_>| !one.revents().is_empty();
        let found = Ready {
            frames: said(&ready[0]),
            callers: ready[2..].iter().any(said),
        };
        self.clock
            .woke(said(&ready[1]), found.frames || found.callers);
        Ok(found)
    }

    /// All frames that are there; they came at this instant, as far as anyone can tell.
    fn take_frames(&mut self) -> Result<(), String> {
        let family = self.kernel.family;
        let now = self.clock.now();
        loop {
            let octets = match self.kernel.receive() {
                Ok(Some(octets)) => octets,
                Ok(None) => return Ok(()),
                // ENOBUFS: frames were lost before we saw them.
                Err(error) if error.raw_os_error() == Some(105) => {
                    self.service.overruns += 1;
                    continue;
                }
                Err(error) => return Err(format!("netlink: {error}")),
            };
            match hwsim::read(octets, family) {
                Ok(Received::Sent(sent)) => self.offer(sent, now),
                Ok(Received::Status(0) | Received::Other) => {}
                Ok(Received::Status(_)) | Err(_) => self.service.refused += 1,
            }
        }
    }

    fn offer(&mut self, sent: hwsim::Sent, now: Instant) {
        let radios = &self.medium.settings().radios;
        let Some(radio) = radios.iter().position(|r| r.address.0 == sent.transmitter) else {
            return;
        };
        self.flags.insert((radio, sent.cookie), sent.flags);
        let offer = Offer {
            radio,
            frequency_mhz: sent.frequency_mhz,
            octets: sent.octets,
            chain: sent.chain,
            no_ack: sent.flags & hwsim::NO_ACK != 0,
            ticket: sent.cookie,
        };
        self.medium.offer(now, offer);
    }

    /// Hands all deliveries and reports to the kernel, many messages at a time.
    fn hand_over(&mut self) -> Result<(), String> {
        let family = self.kernel.family;
        let (mut now, mut batch) = (None, Vec::new());
        while let Some((at, happening)) = self.medium.take() {
            let now = *now.get_or_insert_with(|| self.clock.now());
            self.service.lateness.book(now.saturating_since(at));
            let message = match happening {
                Happening::Delivery {
                    to,
                    frequency_mhz,
                    octets,
                    rate_index,
                    signal_dbm,
                } => {
                    let receiver = self.address(to);
                    hwsim::deliver(
                        family,
                        receiver,
                        &octets,
                        rate_index,
                        signal_dbm,
                        frequency_mhz,
                    )
                }
                Happening::Report {
                    from,
                    ticket,
                    acknowledged,
                    tried,
                    signal_dbm,
                } => {
                    let mut flags = self.flags.remove(&(from, ticket)).unwrap_or(0);
                    if acknowledged {
                        flags |= hwsim::ACKNOWLEDGED;
                    }
                    let sender = self.address(from);
                    hwsim::report(family, sender, flags, &tried, signal_dbm, ticket)
                }
            };
            if batch.len() + message.len() > SEND_OCTETS {
                self.kernel.hand_in(&mut batch)?;
            }
            batch.extend_from_slice(&message);
            // Messages of one buffer begin at multiples of four octets (NLMSG_ALIGN).
            batch.resize(batch.len().next_multiple_of(4), 0);
        }
        self.kernel.hand_in(&mut batch)
    }

    fn address(&self, radio: usize) -> MacAddress {
        self.medium.settings().radios[radio].address.0
    }

    /// Answers callers; gives whether one of them asked for the end.
    fn converse(&mut self) -> bool {
        while let Ok((stream, _)) = self.listener.accept() {
            if stream.set_nonblocking(true).is_ok() {
                let pending = Vec::new();
                self.callers.push(Caller { stream, pending });
            }
        }
        let mut end = false;
        let mut callers = std::mem::take(&mut self.callers);
        callers.retain_mut(|caller| {
            let mut chunk = [0; 1 << 14];
            let open = loop {
                match caller.stream.read(&mut chunk) {
                    Ok(0) => break false,
                    Ok(length) => caller.pending.extend_from_slice(&chunk[..length]),
                    Err(error) => break error.kind() == io::ErrorKind::WouldBlock,
                }
            };
            while let Some(at) = caller.pending.iter().position(|octet| *octet == b'\n') {
                let line: Vec<u8> = caller.pending.drain(..=at).collect();
                let now = self.clock.now();
                let text = String::from_utf8_lossy(&line);
                // Changes and counts hold for the air as it is at this instant.
                self.medium.advance(now);
                let (answer, last) =
                    control::answer(text.trim(), &mut self.medium, &mut self.service, now);
                // A caller that went away wants no answer.
                let _ = caller.stream.write_all(answer.as_bytes());
                end |= last;
            }
            open
        });
        self.callers = callers;
        end
    }
}
