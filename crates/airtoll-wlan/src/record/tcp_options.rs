//! Options of TCP segments: takes a segment or an acknowledgement, gives octets.

use airtoll_units::Instant;

use crate::transport::{Ack, Segment, TcpConfig};

/// Fields of the timestamps option (RFC 7323 section 3.2).
#[derive(Clone, Copy)]
struct Timestamps {
    value: Instant,
    echo: Instant,
}

/// RFC 9293 section 3.7.1, RFC 2018 section 2, RFC 7323 sections 2 and 3.
fn syn_options(config: &TcpConfig, scale: u32, times: Timestamps, out: &mut Vec<u8>) {
    out.extend_from_slice(&[2, 4]);
    out.extend_from_slice(&(config.mss.min(65_535) as u16).to_be_bytes());
    match (config.timestamps, config.sack) {
        (true, true) => {
            out.extend_from_slice(&[4, 2, 8, 10]);
            timestamps(times, out);
        }
        (true, false) => {
            out.extend_from_slice(&[1, 1, 8, 10]);
            timestamps(times, out);
        }
        (false, true) => out.extend_from_slice(&[1, 1, 4, 2]),
        (false, false) => {}
    }
    if config.window_scaling {
        out.extend_from_slice(&[1, 3, 3, scale as u8]);
    }
}

fn timestamps(times: Timestamps, out: &mut Vec<u8>) {
    let ms = |at: Instant| (at.as_nanos() / 1_000_000) as u32;
    out.extend_from_slice(&ms(times.value).to_be_bytes());
    out.extend_from_slice(&ms(times.echo).to_be_bytes());
}

pub(super) fn segment_options(
    config: &TcpConfig,
    segment: &Segment,
    scale: u32,
    out: &mut Vec<u8>,
) {
    if segment.syn {
        let times = Timestamps {
            value: segment.sent_at,
            echo: Instant::ZERO,
        };
        syn_options(config, scale, times, out);
    } else if config.timestamps {
        out.extend_from_slice(&[1, 1, 8, 10]);
        // The value that the sender would echo is not kept: its own time replaces that.
        let times = Timestamps {
            value: segment.sent_at,
            echo: segment.sent_at,
        };
        timestamps(times, out);
    }
}

pub(super) fn ack_options(
    config: &TcpConfig,
    ack: &Ack,
    sent_at: Instant,
    initial: u32,
    scale: u32,
    out: &mut Vec<u8>,
) {
    let times = Timestamps {
        value: sent_at,
        echo: ack.echo,
    };
    if ack.syn {
        syn_options(config, scale, times, out);
        return;
    }
    if config.timestamps {
        out.extend_from_slice(&[1, 1, 8, 10]);
        timestamps(times, out);
    }
    let blocks = ack.sack.as_slice();
    if blocks.is_empty() {
        return;
    }
    out.extend_from_slice(&[1, 1, 5, 2 + 8 * blocks.len() as u8]);
    for block in blocks {
        for edge in [block.start, block.end] {
            let edge = initial.wrapping_add(1).wrapping_add(edge as u32);
            out.extend_from_slice(&edge.to_be_bytes());
        }
    }
}
