//! Operating channel information of a session's handshakes: takes the channel that each end names in its
//! message, gives both side by side, and the difference between them or to the channel of the capture.
//!
//! Source: IEEE 802.11-2020 clauses 12.2.9 (validation), 12.7.6 (4-way handshake, messages 2 and 3),
//! 12.7.7 (group key handshake) and 13.7.1 (reassociation of fast transition). A handshake whose other
//! message was not captured, or not decrypted, has one end only.

use airtoll_wire::ieee80211::OciRepr;
use schemars::JsonSchema;
use serde::Serialize;

use super::Event;
use super::steps::{FrameNumber, Protocol, since};

/// Most handshakes of a session that are kept.
const MAX_HANDSHAKES: usize = 64;

/// The channels of both ends in one handshake.
#[derive(Debug, Clone, Copy)]
struct Named {
    protocol: Protocol,
    time_ns: u64,
    frame: FrameNumber,
    station: Option<OciRepr>,
    access_point: Option<OciRepr>,
    /// A message was captured outside the channel that it names.
    elsewhere: Option<(&'static str, OciRepr, u16)>,
}

/// The channels of all handshakes of a session.
#[derive(Debug, Default)]
pub(super) struct Channels(Vec<Named>);

impl Channels {
    /// Enters a frame that names a channel. The station's message is the first of the two, but for that of
    /// a group key handshake.
    pub(super) fn enter(&mut self, event: &Event, protocol: Protocol) {
        let Some(channel) = event.channel else {
            return;
        };
        let begins = event.from_station != (protocol == Protocol::Group);
        let last = self.0.last().filter(|last| last.protocol == protocol);
        let goes_on = last.is_some_and(|last| {
            let (own, other) = if event.from_station {
                (last.station, last.access_point)
            } else {
                (last.access_point, last.station)
            };
            // A message that is sent again replaces the one before, while it is not answered.
            if begins {
                own.is_some() && other.is_none()
            } else {
                own.is_none() || own == Some(channel)
            }
        });
        if !goes_on {
            if self.0.len() >= MAX_HANDSHAKES {
                return;
            }
            self.0.push(Named {
                protocol,
                time_ns: event.time_ns,
                frame: event.frame,
                station: None,
                access_point: None,
                elsewhere: None,
            });
        }
        let Some(named) = self.0.last_mut() else {
            return;
        };
        let end = if event.from_station {
            named.station = Some(channel);
            "the station"
        } else {
            named.access_point = Some(channel);
            "the AP"
        };
        if let Some(heard) = event.heard_mhz.filter(|heard| !holds(channel, *heard)) {
            named.elsewhere.get_or_insert((end, channel, heard));
        }
    }

    /// The channels as they are printed; times count from `first_ns`.
    pub(super) fn report(&self, first_ns: u64) -> Vec<OperatingChannelsReport> {
        let reports = self.0.iter().map(|named| OperatingChannelsReport {
            protocol: if named.protocol == Protocol::Association {
                Protocol::Ft.name()
            } else {
                named.protocol.name()
            },
            at_s: since(named.time_ns, first_ns),
            frame: named.frame.number,
            station: named.station.map(ChannelReport::of),
            access_point: named.access_point.map(ChannelReport::of),
            mismatch: named
                .station
                .zip(named.access_point)
                .and_then(|(station, access_point)| mismatch(station, access_point))
                .or_else(|| {
                    let (end, channel, heard) = named.elsewhere?;
                    Some(format!(
                        "{end} names {}, and is heard at {heard} MHz",
                        words(channel)
                    ))
                }),
        });
        reports.collect()
    }
}

/// Whether a frame of a channel may be captured at a frequency: that of its primary channel, or of
/// another part of its width, since some drivers write the centre of the whole channel.
fn holds(channel: OciRepr, heard_mhz: u16) -> bool {
    let known = channel.primary_mhz().zip(channel.width_mhz());
    known.is_none_or(|(primary, width)| primary.abs_diff(heard_mhz) <= width - 20)
}

fn words(channel: OciRepr) -> String {
    let segment = match channel.segment_1 {
        0 => String::new(),
        number => format!(", segment 1 at {number}"),
    };
    format!(
        "channel {} of class {}{segment}",
        channel.channel, channel.operating_class
    )
}

/// How the channels of both ends differ: each has to admit the other's in the width that both have.
fn mismatch(station: OciRepr, access_point: OciRepr) -> Option<String> {
    let widths = station.width_mhz().zip(access_point.width_mhz());
    let fits = widths.is_some_and(|(one, other)| {
        let width = one.min(other);
        station.admits(&access_point, width) && access_point.admits(&station, width)
    });
    (!fits).then(|| {
        format!(
            "the station names {}, the AP {}",
            words(station),
            words(access_point)
        )
    })
}

/// The operating channels that both ends of a handshake name.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OperatingChannelsReport {
    /// 4-way, group or ft.
    pub protocol: &'static str,
    /// The first message that names one, in seconds after the session's first frame.
    pub at_s: f64,
    /// Number of that frame.
    pub frame: u32,
    /// The station's; null if its message was not captured or has none.
    pub station: Option<ChannelReport>,
    /// The AP's; null if its message was not captured, not decrypted or has none.
    pub access_point: Option<ChannelReport>,
    /// How they differ, or which end was captured on another channel than it names; null if all agree.
    pub mismatch: Option<String>,
}

/// Operating channel information (IEEE 802.11-2020, 9.4.2.237).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChannelReport {
    /// Global operating class (table E-4).
    pub operating_class: u8,
    /// Number of the primary channel.
    pub primary_channel: u8,
    /// Number of the centre of segment 1 of an 80+80 MHz channel, else 0.
    pub segment_1: u8,
    /// Width of the class, MHz; null for an unknown class.
    pub width_mhz: Option<u16>,
}

impl ChannelReport {
    fn of(channel: OciRepr) -> Self {
        Self {
            operating_class: channel.operating_class,
            primary_channel: channel.channel,
            segment_1: channel.segment_1,
            width_mhz: channel.width_mhz(),
        }
    }
}

#[cfg(test)]
mod tests {
    use airtoll_wire::MacAddress;

    use super::super::{KeyMessage, Step};
    use super::*;

    fn oci(operating_class: u8, channel: u8) -> OciRepr {
        OciRepr {
            operating_class,
            channel,
            segment_1: 0,
        }
    }

    fn event(from_station: bool, channel: OciRepr) -> Event {
        Event {
            time_ns: 0,
            frame: FrameNumber::default(),
            airtime_ns: 0,
            octets: 0,
            station: MacAddress::default(),
            bssid: MacAddress::default(),
            from_station,
            sequence: None,
            protected: false,
            wired: false,
            channel: Some(channel),
            heard_mhz: None,
            step: Step::FourWay(KeyMessage {
                number: 2,
                replay_counter: 1,
                wpa: false,
                choice: None,
            }),
        }
    }

    #[test]
    fn both_ends_of_each_handshake_stand_side_by_side() {
        let mut channels = Channels::default();
        let (one, six) = (oci(81, 1), oci(81, 6));
        // Message 2 is sent again, then answered; a group key handshake; a rekey by the 4-way handshake.
        channels.enter(&event(true, six), Protocol::FourWay);
        channels.enter(&event(true, one), Protocol::FourWay);
        channels.enter(&event(false, one), Protocol::FourWay);
        channels.enter(&event(false, one), Protocol::Group);
        channels.enter(&event(true, six), Protocol::Group);
        channels.enter(&event(true, one), Protocol::FourWay);
        channels.enter(&event(true, one), Protocol::Association);
        channels.enter(&event(false, one), Protocol::Association);
        let report = channels.report(0);
        let seen: Vec<_> = report
            .iter()
            .map(|one| {
                let number =
                    |end: &Option<ChannelReport>| end.as_ref().map(|end| end.primary_channel);
                (
                    one.protocol,
                    number(&one.station),
                    number(&one.access_point),
                    one.mismatch.is_some(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            [
                ("4-way", Some(1), Some(1), false),
                ("group", Some(6), Some(1), true),
                ("4-way", Some(1), None, false),
                ("ft", Some(1), Some(1), false),
            ]
        );
        assert_eq!(
            report[1].mismatch.as_deref(),
            Some("the station names channel 6 of class 81, the AP channel 1 of class 81")
        );
    }

    #[test]
    fn a_narrower_station_agrees_and_an_unknown_class_does_not() {
        assert_eq!(mismatch(oci(115, 36), oci(128, 36)), None);
        assert!(mismatch(oci(115, 40), oci(128, 36)).is_some());
        assert!(mismatch(oci(131, 37), oci(115, 36)).is_some());
        assert!(mismatch(oci(200, 36), oci(200, 36)).is_some());
        assert!(mismatch(oci(83, 6), oci(84, 6)).is_some());
    }

    #[test]
    fn a_message_that_is_heard_elsewhere_is_named_without_an_answer() {
        let mismatches = |oci: OciRepr, heard_mhz| {
            let mut channels = Channels::default();
            let event = Event {
                heard_mhz,
                ..event(true, oci)
            };
            channels.enter(&event, Protocol::FourWay);
            channels.report(0).remove(0).mismatch
        };
        assert_eq!(mismatches(oci(81, 6), None), None);
        assert_eq!(mismatches(oci(81, 6), Some(2_437)), None);
        assert_eq!(
            mismatches(oci(81, 6), Some(2_412)).as_deref(),
            Some("the station names channel 6 of class 81, and is heard at 2412 MHz")
        );
        // The centre of 80 MHz.
        assert_eq!(mismatches(oci(128, 36), Some(5_210)), None);
        assert!(mismatches(oci(128, 36), Some(5_260)).is_some());
        assert_eq!(mismatches(oci(200, 36), Some(5_260)), None);
    }

    #[test]
    fn no_more_handshakes_are_kept_than_fit() {
        let mut channels = Channels::default();
        for _ in 0..2 * MAX_HANDSHAKES {
            channels.enter(&event(true, oci(81, 1)), Protocol::FourWay);
            channels.enter(&event(false, oci(81, 1)), Protocol::FourWay);
        }
        assert_eq!(channels.report(0).len(), MAX_HANDSHAKES);
    }
}
