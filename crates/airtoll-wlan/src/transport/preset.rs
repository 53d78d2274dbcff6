//! TCP of operating systems: the one table of their parameters, each row with its source, and the
//! parameters of a flow between two of them.
//!
//! A row has only the behaviour that this model has. Its note names what the real stack does
//! beyond that, above all window auto-tuning where `untuned_window` is not set: the row has the usual
//! upper value on a LAN path or the fixed default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::back_pressure::{BackPressure, SmallQueues};
use super::config::{Nagle, RtoFloor, SlowStartGrowth, TcpConfig};
use super::options::{CongestionControl, HystartRule, LossDetection, TcpOptions};

/// An operating system, by its TCP; the names are those of device profiles.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
pub enum TcpSystem {
    /// A current stack of no certain system.
    #[default]
    #[serde(rename = "generic")]
    Generic,
    /// Windows XP and Server 2003.
    #[serde(rename = "windows-xp")]
    WindowsXp,
    /// Windows 7 and Server 2008 R2.
    #[serde(rename = "windows-7")]
    Windows7,
    /// Windows 8 and Server 2012.
    #[serde(rename = "windows-8")]
    Windows8,
    /// Windows 10.
    #[serde(rename = "windows-10")]
    Windows10,
    /// Linux 2.4.
    #[serde(rename = "linux-2.4")]
    Linux24,
    /// Linux 2.6.19 to 2.6.38.
    #[serde(rename = "linux-2.6")]
    Linux26,
    /// Linux 3.
    #[serde(rename = "linux-3")]
    Linux3,
    /// Linux 6.
    #[serde(rename = "linux-6")]
    Linux6,
    /// The network simulator ns-3.
    #[serde(rename = "ns-3")]
    Ns3,
    /// Every mandatory behaviour of the RFCs, no option.
    #[serde(rename = "rfc")]
    Rfc,
}

/// The TCP of one operating system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// Where the values come from.
    pub source: &'static str,
    /// Behaviour of the real stack that the row leaves out.
    pub note: &'static str,
    /// The parameters.
    pub config: TcpConfig,
}

impl TcpSystem {
    /// Every system, older ones first.
    pub const ALL: [Self; 11] = [
        Self::Generic,
        Self::WindowsXp,
        Self::Windows7,
        Self::Windows8,
        Self::Windows10,
        Self::Linux24,
        Self::Linux26,
        Self::Linux3,
        Self::Linux6,
        Self::Ns3,
        Self::Rfc,
    ];

    /// The row of the table.
    pub fn preset(self) -> Preset {
        match self {
            Self::Generic => Preset {
                source: "Linux, ip-sysctl: CUBIC, tcp_rmem default 131,072 octets, minimum RTO 200 ms, \
                         delayed ACK 40 ms; initial window 10: RFC 6928; SACK: RFC 2018; timestamps off as \
                         on Windows (RFC 7323 makes them optional); small queues as linux-6",
                note: "for an `ideal` device: no receive window auto-tuning and no quick acknowledgements",
                config: TcpConfig::default(),
            },
            Self::WindowsXp => Preset {
                source: "Microsoft registry reference (Windows 2000/XP/2003): TcpWindowSize 17,520 octets on links of 1 to \
                         100 Mb/s, TcpDelAckTicks 2 (200 ms), TcpMaxDupAcks 2, Tcp1323Opts off unless asked for, \
                         SackOpts on, initial RTT estimate 3 s; initial window of two segments: RFC 2581; Windows DDK, NdisMSendResourcesAvailable: NDIS keeps and \
                         resubmits a packet that the driver has no room for",
                note: "minimum RTO taken from Windows 7; on links above 100 Mb/s the window is 64 KB; the send buffer is 8 KB \
                       unless the program sets one",
                config: windows_xp(),
            },
            Self::Windows7 => Preset {
                source: "netsh interface tcp show supplemental (KB2472264, Windows 7 and 2008 R2): minimum RTO 300 ms, initial \
                         window 2, delayed ACK 200 ms; initial RTO 3 s; timestamps off",
                note: "receive window auto-tuning from 64 KB; Compound TCP is off by default on clients",
                config: windows_7(),
            },
            Self::Windows8 => Preset {
                source: "Get-NetTCPSetting, Internet template of Windows 8 and Server 2012, from secondary reports: \
                         minimum RTO 300 ms, initial window 4, delayed ACK 50 ms, initial RTO 3 s; timestamps off",
                note: "not verified on a machine; receive window auto-tuning from 64 KB",
                config: windows_8(),
            },
            Self::Windows10 => Preset {
                source: "Get-NetTCPSetting, Internet template (Microsoft Networking Blog, 2018-10-03): CUBIC, initial \
                         window 10, minimum RTO 300 ms, delayed ACK 40 ms every 2; initial RTO 1 s; timestamps off; HyStart++ \
                         by default since version 2004 (RFC 9406, section 6)",
                note: "RACK and tail loss probe beyond what the preset sets",
                config: windows_10(),
            },
            Self::Linux24 => Preset {
                source: "tcp(7) for 2.4: tcp_rmem default 87,380 octets, of which tcp_adv_win_scale 2 leaves a 64 KB window; \
                         SACK, D-SACK, timestamps and window scaling on; minimum RTO 200 ms, initial RTO 3 s; initial \
                         window by RFC 3390; a transmission that the queue refuses \
                         stays unsent and reduces the window (tcp_transmit_skb, tcp_enter_cwr)",
                note: "Reno with FACK, rate halving instead of PRR",
                config: linux_2_4(),
            },
            Self::Linux26 => Preset {
                source: "tcp(7); CUBIC default since 2.6.19; RFC 3390 initial window until 2.6.38; initial RTO 3 s until 3.0; \
                         a refused transmission as linux-2.4",
                note: "receive buffer auto-tuning up to 4 MB; HyStart since 2.6.29; rate halving instead of PRR",
                config: linux_2_6(),
            },
            Self::Linux3 => Preset {
                source: "tcp(7); TCP_INIT_CWND 10 since 2.6.39 (RFC 6928); initial RTO 1 s since 3.1 (RFC 6298); PRR since 3.2; small queues of \
                         131,072 octets of buffers since 3.6 (tcp_limit_output_bytes, commit 46d3ceabd8d9)",
                note: "HyStart is on by default in the kernel and off here; tail loss probe since 3.10; auto-tuning up to 6 MB",
                config: linux_3(),
            },
            Self::Linux6 => Preset {
                source: "kernel Documentation/networking/ip-sysctl; the recorded traces under tests/validation/tcp (6.18); small queues of two \
                         segments or 1/128 s at the pacing rate on mac80211 (tx_sk_pacing_shift 7), at most \
                         tcp_limit_output_bytes, 1 MiB (4 MiB since 6.16); HyStart of tcp_cubic.c; RACK and tail loss probe \
                         (tcp_recovery 1, tcp_early_retrans 3; RFC 8985); receive window from 64 KiB, tuned up to half of tcp_rmem's 6 MiB; \
                         send buffer up to tcp_wmem's 4 MiB; GRO",
                note: "F-RTO is not modelled; tcp_rmem ends at 32 MiB since 6.18",
                config: linux_6(),
            },
            Self::Ns3 => Preset {
                source: "ns-3.44 attributes: TcpCubic, initial window 10, MSS as set, delayed ACK of 2 within 200 ms, \
                         buffers 131,072 octets, minimum RTO 1 s, SACK and PRR on; timestamps off as in the comparison scenarios",
                note: "HyStart is on by default there and off here",
                config: ns_3(),
            },
            Self::Rfc => Preset {
                source: "RFC 5681, RFC 6582, RFC 6298 (minimum 1 s), RFC 6928, RFC 9293: every mandatory behaviour, no option",
                note: "",
                config: rfc(),
            },
        }
    }
}

impl TcpConfig {
    /// The parameters of data from a host with the first system to a host with the second.
    ///
    /// The sender's system decides congestion control, loss recovery and timers, the receiver's
    /// decides window and delayed acknowledgements, and an extension is used where both have it.
    /// A value in `options` replaces that of the systems. `largest_mss` is the MSS that the path
    /// allows, octets: MTU less IP and TCP headers. It holds where the options state no MSS, and it
    /// bounds the one that they state (RFC 9293, 3.7.1: Eff.snd.MSS).
    pub fn of_flow(options: &TcpOptions, systems: [TcpSystem; 2], largest_mss: u32) -> Self {
        let milliseconds = |value: f64| libm::round(value.clamp(0.0, 1e9)) as u32;
        let [sender, receiver] = systems.map(|system| system.preset().config);
        let window = options.window_octets.map(u64::from);
        let wide = window.is_some_and(|octets| octets > 65_535);
        let congestion = options.congestion_control.unwrap_or(sender.congestion);
        let sack = options.sack.unwrap_or(sender.sack && receiver.sack);
        Self {
            mss: options
                .mss_octets
                .map_or(largest_mss, |own| own.min(largest_mss)),
            congestion,
            initial_window_segments: options
                .initial_window_segments
                .unwrap_or(sender.initial_window_segments),
            receive_window: window.unwrap_or(receiver.receive_window),
            // A buffer that the program sets is not tuned (SOCK_RCVBUF_LOCK).
            untuned_window: receiver.untuned_window.filter(|_| window.is_none()),
            send_buffer: sender.send_buffer.map(|own| window.unwrap_or(own).max(own)),
            window_scaling: wide || (sender.window_scaling && receiver.window_scaling),
            timestamps: options
                .timestamps
                .unwrap_or(sender.timestamps && receiver.timestamps),
            sack,
            dsack: receiver.dsack,
            hystart: options
                .hystart
                .unwrap_or(match (sender.hystart, congestion) {
                    (rule, CongestionControl::Cubic) => rule,
                    (HystartRule::Rfc9406, CongestionControl::NewReno) => HystartRule::Rfc9406,
                    _ => HystartRule::Off,
                }),
            loss_detection: options.loss_detection.unwrap_or(if sack {
                sender.loss_detection
            } else {
                LossDetection::DuplicateAcks
            }),
            // A stated number of segments per acknowledgement is kept.
            receive_offload: options
                .receive_offload
                .unwrap_or(receiver.receive_offload && options.delayed_ack_segments.is_none()),
            min_rto_ms: options.min_rto_ms.map_or(sender.min_rto_ms, milliseconds),
            ack_every: options
                .delayed_ack_segments
                .map_or(receiver.ack_every, u32::from),
            delayed_ack_ms: options
                .delayed_ack_timeout_ms
                .map_or(receiver.delayed_ack_ms, milliseconds),
            quick_ack_segments: receiver.quick_ack_segments,
            mtu_probing: options.mtu_probing,
            ..sender
        }
    }
}

fn windows_xp() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::NewReno,
        initial_window_segments: 2,
        receive_window: 17_520,
        window_scaling: false,
        dsack: false,
        limited_transmit: false,
        prr: false,
        undo: false,
        slow_start_growth: SlowStartGrowth::OneSegment,
        duplicate_threshold: 2,
        min_rto_ms: 300,
        rto_floor: RtoFloor::Whole,
        initial_rto_ms: 3_000,
        nagle: Nagle::On,
        delayed_ack_ms: 200,
        back_pressure: BackPressure::Waits,
        ..TcpConfig::default()
    }
}

fn windows_7() -> TcpConfig {
    TcpConfig {
        receive_window: 65_536,
        window_scaling: true,
        dsack: true,
        limited_transmit: true,
        duplicate_threshold: 3,
        ..windows_xp()
    }
}

fn windows_8() -> TcpConfig {
    TcpConfig {
        initial_window_segments: 4,
        delayed_ack_ms: 50,
        ..windows_7()
    }
}

fn windows_10() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Cubic,
        initial_window_segments: 10,
        receive_window: 262_144,
        prr: true,
        hystart: HystartRule::Rfc9406,
        slow_start_growth: SlowStartGrowth::AllAcknowledged,
        initial_rto_ms: 1_000,
        delayed_ack_ms: 40,
        ..windows_7()
    }
}

fn linux_2_4() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::NewReno,
        // min(4 MSS, max(2 MSS, 4380 octets)) / MSS at 1460.
        initial_window_segments: 3,
        receive_window: 65_535,
        timestamps: true,
        prr: false,
        slow_start_growth: SlowStartGrowth::OneSegment,
        initial_rto_ms: 3_000,
        quick_ack_segments: 16,
        back_pressure: BackPressure::Reduces,
        ..TcpConfig::default()
    }
}

fn linux_2_6() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Cubic,
        receive_window: 262_144,
        ..linux_2_4()
    }
}

fn linux_3() -> TcpConfig {
    TcpConfig {
        initial_window_segments: 10,
        receive_window: 1 << 20,
        prr: true,
        slow_start_growth: SlowStartGrowth::AllAcknowledged,
        initial_rto_ms: 1_000,
        back_pressure: BackPressure::SmallQueues(SmallQueues {
            octets: 131_072,
            pacing_shift: None,
            buffers: true,
        }),
        ..linux_2_6()
    }
}

fn linux_6() -> TcpConfig {
    TcpConfig {
        receive_window: 3 << 20,
        untuned_window: Some(65_536),
        // It holds two congestion windows until it ends (`tcp_sndbuf_expand`).
        send_buffer: Some(4 << 20),
        cubic_full_increase: false,
        hystart: HystartRule::Linux,
        loss_detection: LossDetection::Rack,
        receive_offload: true,
        back_pressure: TcpConfig::default().back_pressure,
        ..linux_3()
    }
}

fn ns_3() -> TcpConfig {
    TcpConfig {
        receive_window: 131_072,
        send_buffer: Some(131_072),
        min_rto_ms: 1_000,
        rto_floor: RtoFloor::Whole,
        dsack: false,
        undo: false,
        nagle: Nagle::On,
        idle_restart: false,
        delayed_ack_ms: 200,
        back_pressure: BackPressure::None,
        ..TcpConfig::default()
    }
}

fn rfc() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::NewReno,
        window_scaling: false,
        receive_window: 65_535,
        sack: false,
        dsack: false,
        prr: false,
        undo: false,
        slow_start_growth: SlowStartGrowth::OneSegment,
        min_rto_ms: 1_000,
        rto_floor: RtoFloor::Whole,
        nagle: Nagle::On,
        delayed_ack_ms: 500,
        back_pressure: BackPressure::None,
        ..TcpConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_is_valid_named_once_and_has_a_source() {
        let mut names = BTreeSet::new();
        for system in TcpSystem::ALL {
            let name = serde_json::to_value(system).unwrap();
            let name = name.as_str().unwrap().to_owned();
            let preset = system.preset();
            assert!(preset.source.len() > 20, "{name} has no source");
            preset.config.validate().unwrap();
            assert!(names.insert(name.clone()), "{name} twice");
        }
        assert_eq!(names.len(), TcpSystem::ALL.len());
    }

    #[test]
    fn an_unknown_system_is_refused_with_the_known_ones() {
        let problem = serde_json::from_str::<TcpSystem>("\"beos\"").unwrap_err();
        let problem = problem.to_string();
        for known in ["beos", "generic", "windows-xp", "linux-2.4", "ns-3"] {
            assert!(problem.contains(known), "{problem}");
        }
    }

    #[test]
    fn generations_differ_as_their_sources_say() {
        let config = |system: TcpSystem| system.preset().config;
        assert_eq!(config(TcpSystem::WindowsXp).receive_window, 12 * 1460);
        assert!(!config(TcpSystem::Windows10).timestamps);
        assert!(config(TcpSystem::Linux6).timestamps);
        assert_eq!(config(TcpSystem::Linux26).initial_window_segments, 3);
        assert_eq!(config(TcpSystem::Linux3).initial_window_segments, 10);
        assert_eq!(config(TcpSystem::Windows7).delayed_ack_ms, 200);
    }

    #[test]
    fn an_option_of_the_flow_replaces_the_value_of_the_systems() {
        let options = TcpOptions {
            window_octets: Some(16_384),
            congestion_control: Some(CongestionControl::NewReno),
            delayed_ack_timeout_ms: Some(200.0),
            delayed_ack_segments: Some(1),
            timestamps: Some(true),
            ..TcpOptions::default()
        };
        let generic = [TcpSystem::Generic; 2];
        let config = TcpConfig::of_flow(&options, generic, 1_440);
        assert_eq!((config.mss, config.receive_window), (1_440, 16_384));
        assert_eq!(config.congestion, CongestionControl::NewReno);
        assert_eq!((config.delayed_ack_ms, config.ack_every), (200, 1));
        assert!(config.timestamps);
        let named = TcpOptions {
            mss_octets: Some(256),
            window_octets: Some(131_072),
            ..TcpOptions::default()
        };
        let config = TcpConfig::of_flow(&named, [TcpSystem::WindowsXp; 2], 1_460);
        assert_eq!(config.mss, 256);
        let long = TcpOptions {
            mss_octets: Some(1_460),
            ..TcpOptions::default()
        };
        assert_eq!(TcpConfig::of_flow(&long, generic, 1_440).mss, 1_440);
        assert!(config.window_scaling && config.validate().is_ok());
    }

    #[test]
    fn a_stated_window_is_that_of_both_sockets() {
        let of = |octets| {
            let options = TcpOptions {
                window_octets: octets,
                ..TcpOptions::default()
            };
            let config = TcpConfig::of_flow(&options, [TcpSystem::Ns3; 2], 1_460);
            (config.receive_window, config.send_buffer)
        };
        assert_eq!(of(None), (131_072, Some(131_072)));
        assert_eq!(of(Some(524_288)), (524_288, Some(524_288)));
        assert_eq!(of(Some(16_384)), (16_384, Some(131_072)));
    }

    #[test]
    fn each_end_decides_its_part() {
        let of = |systems| TcpConfig::of_flow(&TcpOptions::default(), systems, 1_460);
        let up = of([TcpSystem::Linux3, TcpSystem::WindowsXp]);
        assert_eq!(up.congestion, CongestionControl::Cubic);
        assert_eq!(up.initial_window_segments, 10);
        assert_eq!((up.receive_window, up.delayed_ack_ms), (17_520, 200));
        assert_eq!(up.quick_ack_segments, 0);
        // An extension needs both ends.
        assert!(!up.timestamps && !up.window_scaling && up.sack);
        let down = of([TcpSystem::WindowsXp, TcpSystem::Linux3]);
        assert_eq!(down.congestion, CongestionControl::NewReno);
        assert_eq!((down.receive_window, down.delayed_ack_ms), (1 << 20, 40));
        assert_eq!((down.quick_ack_segments, down.min_rto_ms), (16, 300));
        assert!(of([TcpSystem::Linux3; 2]).timestamps);
    }
}
