//! TCP segments of RADIUS over TLS: takes one under way, gives its IP packet. The records of a handshake are
//! those that its ends sent; of records with RADIUS packets the ciphertext is made up.

use airtoll_wire::ipv4::protocol;
use airtoll_wire::tcp::{TcpRepr, flag};

use super::View;
use super::ip::wrap;
use super::tcp_options::{ack_options, segment_options};
use crate::address;
use crate::id::{PieceId, StreamId};
use crate::join::stream::Piece;
use crate::packet::Packet;

/// RADIUS over TLS (RFC 6614 section 2.1).
const RADSEC: u16 = 2083;
/// Source port of a client.
const CLIENT: u16 = 49_152;

/// The IP packet of a segment; `fragile` says that it may be fragmented.
pub(super) fn packet(
    view: &View<'_>,
    (id, piece): (StreamId, PieceId),
    p: &Packet,
    fragile: bool,
) -> Vec<u8> {
    let stream = view.join.connection(id);
    let carried = stream.piece(piece);
    let from = carried.from();
    let ends = stream.ends().map(|node| address::ip(node, false));
    let ports = [CLIENT, RADSEC];
    // First number of the data of an end.
    let initial = |end: usize| (id.number() * 2 + end as u32 + 1).wrapping_mul(0x9e37_79b1);
    let number = |end: usize, offset: u64| initial(end).wrapping_add(1).wrapping_add(offset as u32);
    let (mut options, mut payload) = (Vec::new(), Vec::new());
    let (sequence, acknowledgement, flags, window) = match carried {
        Piece::Segment(end, segment, rides, known) => {
            let scale = stream.window_scale(end);
            segment_options(stream.config(), &segment, scale, &mut options);
            stream.copy(end, segment.sequence, segment.payload, &mut payload);
            let window = rides.map_or(u16::MAX >> scale.min(8), |ack| {
                u16::try_from(ack.window >> scale).unwrap_or(u16::MAX)
            });
            if segment.syn {
                (initial(end), 0, flag::SYN, u16::MAX)
            } else {
                let push = if segment.payload > 0 { flag::PSH } else { 0 };
                let sequence = number(end, segment.sequence);
                (sequence, number(1 - end, known), flag::ACK | push, window)
            }
        }
        Piece::Ack(end, ack, sent) => {
            let scale = stream.window_scale(end);
            let initial_of_end = initial(end);
            ack_options(
                stream.config(),
                &ack,
                p.created,
                initial_of_end,
                scale,
                &mut options,
            );
            let acknowledged = number(end, ack.acknowledged);
            let window = if ack.syn {
                ack.window
            } else {
                ack.window >> scale
            };
            let window = u16::try_from(window).unwrap_or(u16::MAX);
            if ack.syn {
                (
                    initial(1 - end),
                    acknowledged,
                    flag::SYN | flag::ACK,
                    window,
                )
            } else {
                (number(1 - end, sent), acknowledged, flag::ACK, window)
            }
        }
    };
    let mut segment = Vec::with_capacity(p.ip_octets as usize);
    TcpRepr {
        source: ports[from],
        destination: ports[1 - from],
        sequence,
        acknowledgement,
        flags,
        window,
        options: &options,
        payload: &payload,
    }
    .emit(ends[from], ends[1 - from], &mut segment);
    let mut out = Vec::with_capacity(segment.len() + 20);
    let identification = fragile.then_some(p.mark() as u16);
    wrap(
        ends[from],
        ends[1 - from],
        protocol::TCP,
        0,
        identification,
        &segment,
        &mut out,
    );
    out
}
