//! MU EDCA (IEEE 802.11ax-2021, 26.2.7): a station whose triggered data were acknowledged does not contend
//! until its timer is over. The parameters are those that hostapd announces by default, whose AIFSN is 0.
//!
//! A contender with a frame that its timer keeps back is [`Standing::Preparing`].

use airtoll_units::{Duration, Instant};

use super::super::Mac;
use super::super::contention::Standing;
use crate::context::Context;
use crate::event::Event;
use crate::id::ContenderId;
use crate::medium::Medium;

/// Contention of one access category of a station.
#[derive(Debug, Default)]
pub(super) struct Deferral {
    /// The contender of its access point, and its number there.
    access_point: Option<(ContenderId, usize)>,
    /// It does not contend before.
    until: Instant,
    /// The event of its timer is scheduled.
    runs: bool,
}

impl Deferral {
    pub(super) fn of(access_point: ContenderId, at: usize) -> Self {
        Self {
            access_point: Some((access_point, at)),
            ..Self::default()
        }
    }
}

impl Mac {
    fn deferral(&self, id: ContenderId) -> Option<&Deferral> {
        self.ofdma.as_ref()?.deferrals.get(id)
    }

    /// The contender of the access point that triggers a station, and the number of the station there.
    pub(super) fn access_point_of(&self, station: ContenderId) -> Option<(ContenderId, usize)> {
        self.deferral(station)?.access_point
    }

    /// Whether the MU EDCA timer of a contender runs.
    #[cold]
    pub(in super::super) fn is_deferred(&self, id: ContenderId, now: Instant) -> bool {
        self.deferral(id).is_some_and(|d| d.until > now)
    }

    /// Starts the MU EDCA timer of a contender, or starts it again.
    pub(super) fn defer(&mut self, cx: &mut Context, id: ContenderId, timer: Duration) {
        let Some(all) = &mut self.ofdma else { return };
        if timer.is_zero() {
            return;
        }
        let deferral = &mut all.deferrals[id];
        deferral.until = cx.now() + timer;
        if !std::mem::replace(&mut deferral.runs, true) {
            cx.schedule(deferral.until, Event::MuEdcaTimer { contender: id });
        }
    }

    /// The MU EDCA timer of a contender may be over: it contends again.
    pub fn mu_edca_due(&mut self, cx: &mut Context, medium: &Medium, id: ContenderId) {
        let Some(all) = &mut self.ofdma else { return };
        let deferral = &mut all.deferrals[id];
        if deferral.until > cx.now() {
            let at = deferral.until;
            cx.schedule(at, Event::MuEdcaTimer { contender: id });
            return;
        }
        deferral.runs = false;
        let contender = &mut self.contenders[id];
        if contender.standing == Standing::Preparing {
            contender.standing = Standing::Resting;
            self.request_access(cx, medium, id);
        }
    }
}
