//! TCP parameters of operating systems, by name.
//!
//! Takes a name; gives a [`TcpConfig`] with the source of its values. A preset models
//! only the options that it states. Its note names further behaviour of the real stack, above all
//! window auto-tuning; the preset has the usual upper value on a LAN path or the fixed default.

use super::config::{CongestionControl, Nagle, RtoFloor, SlowStartGrowth, TcpConfig};

/// One operating system's defaults.
#[derive(Debug, Clone)]
pub struct Preset {
    /// Name in scenario files.
    pub name: &'static str,
    /// Where the values come from.
    pub source: &'static str,
    /// Behaviour of the real stack that this preset leaves out.
    pub note: &'static str,
    build: fn() -> TcpConfig,
}

impl Preset {
    /// The parameters.
    pub fn config(&self) -> TcpConfig {
        (self.build)()
    }
}

/// All presets, older systems first.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "windows-xp",
        source: "Microsoft registry reference (Windows 2000/XP/2003): TcpWindowSize 17,520 octets on links of 1 to \
                 100 Mb/s, TcpDelAckTicks 2 (200 ms), TcpMaxDupAcks 2, Tcp1323Opts off unless asked for, \
                 SackOpts on, initial RTT estimate 3 s; initial window of two segments: RFC 2581",
        note: "minimum RTO taken from Windows 7; on links above 100 Mb/s the window is 64 KB; the send buffer is 8 KB \
               unless the program sets one",
        build: windows_xp,
    },
    Preset {
        name: "windows-7",
        source: "netsh interface tcp show supplemental (KB2472264, Windows 7 and 2008 R2): minimum RTO 300 ms, initial \
                 window 2, delayed ACK 200 ms; initial RTO 3 s; timestamps off",
        note: "receive window auto-tuning from 64 KB; Compound TCP is off by default on clients",
        build: windows_7,
    },
    Preset {
        name: "windows-8",
        source: "Get-NetTCPSetting, Internet template of Windows 8 and Server 2012, from secondary reports: \
                 minimum RTO 300 ms, initial window 4, delayed ACK 50 ms, initial RTO 3 s; timestamps off",
        note: "not verified on a machine; receive window auto-tuning from 64 KB",
        build: windows_8,
    },
    Preset {
        name: "windows-10",
        source: "Get-NetTCPSetting, Internet template (Microsoft Networking Blog, 2018-10-03): CUBIC, initial \
                 window 10, minimum RTO 300 ms, delayed ACK 40 ms every 2; initial RTO 1 s; timestamps off",
        note: "RACK, tail loss probe and HyStart++ (on by default since 2004) beyond what the preset sets",
        build: windows_10,
    },
    Preset {
        name: "linux-2.4",
        source: "tcp(7) for 2.4: tcp_rmem default 87,380 octets, of which tcp_adv_win_scale 2 leaves a 64 KB window; \
                 SACK, D-SACK, timestamps and window scaling on; minimum RTO 200 ms, initial RTO 3 s; initial \
                 window by RFC 3390",
        note: "Reno with FACK, rate halving instead of PRR",
        build: linux_2_4,
    },
    Preset {
        name: "linux-2.6",
        source: "tcp(7); CUBIC default since 2.6.19; RFC 3390 initial window until 2.6.38; initial RTO 3 s until 3.0",
        note: "receive buffer auto-tuning up to 4 MB; HyStart since 2.6.29; rate halving instead of PRR",
        build: linux_2_6,
    },
    Preset {
        name: "linux-3",
        source: "tcp(7); TCP_INIT_CWND 10 since 2.6.39 (RFC 6928); initial RTO 1 s since 3.1 (RFC 6298); PRR since 3.2",
        note: "HyStart is on by default in the kernel and off here; tail loss probe since 3.10; auto-tuning up to 6 MB",
        build: linux_3,
    },
    Preset {
        name: "linux-6",
        source: "kernel Documentation/networking/ip-sysctl; the recorded traces under tests/validation/tcp (6.18)",
        note: "HyStart is on by default in the kernel and off here; RACK, tail loss probe and F-RTO are not modelled; \
               auto-tuning up to 6 MB",
        build: linux_6,
    },
    Preset {
        name: "ns-3",
        source: "ns-3.44 attributes: TcpCubic, initial window 10, MSS as set, delayed ACK of 2 within 200 ms, \
                 buffers 131,072 octets, minimum RTO 1 s, SACK and PRR on; timestamps off as in the comparison scenarios",
        note: "HyStart is on by default there and off here",
        build: ns_3,
    },
    Preset {
        name: "rfc",
        source: "RFC 5681, RFC 6582, RFC 6298 (minimum 1 s), RFC 6928, RFC 9293: every mandatory behaviour, no option",
        note: "",
        build: rfc,
    },
];

impl TcpConfig {
    /// The preset called `name`, or `None`; [`PRESETS`] lists them.
    pub fn preset(name: &str) -> Option<TcpConfig> {
        PRESETS
            .iter()
            .find(|preset| preset.name == name)
            .map(Preset::config)
    }
}

fn windows_xp() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Newreno,
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
        slow_start_growth: SlowStartGrowth::AllAcknowledged,
        initial_rto_ms: 1_000,
        delayed_ack_ms: 40,
        ..windows_7()
    }
}

fn linux_2_4() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Newreno,
        // min(4 MSS, max(2 MSS, 4380 octets)) / MSS at 1460.
        initial_window_segments: 3,
        receive_window: 65_535,
        timestamps: true,
        prr: false,
        slow_start_growth: SlowStartGrowth::OneSegment,
        initial_rto_ms: 3_000,
        quick_ack_segments: 16,
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
        ..linux_2_6()
    }
}

fn linux_6() -> TcpConfig {
    TcpConfig {
        receive_window: 4 << 20,
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
        ..TcpConfig::default()
    }
}

fn rfc() -> TcpConfig {
    TcpConfig {
        congestion: CongestionControl::Newreno,
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
        ..TcpConfig::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_preset_is_valid_named_once_and_has_a_source() {
        let mut names = BTreeSet::new();
        for preset in PRESETS {
            assert!(names.insert(preset.name), "{} twice", preset.name);
            assert!(preset.source.len() > 20, "{} has no source", preset.name);
            preset.config().validate().unwrap();
            assert_eq!(TcpConfig::preset(preset.name), Some(preset.config()));
        }
        assert_eq!(TcpConfig::preset("windows-95"), None);
    }

    #[test]
    fn generations_differ_as_their_sources_say() {
        let config = |name| TcpConfig::preset(name).unwrap();
        assert_eq!(config("windows-xp").receive_window, 12 * 1460);
        assert!(!config("windows-10").timestamps && config("linux-6").timestamps);
        assert_eq!(config("linux-2.6").initial_window_segments, 3);
        assert_eq!(config("linux-3").initial_window_segments, 10);
        assert_eq!(config("windows-7").delayed_ack_ms, 200);
    }
}
