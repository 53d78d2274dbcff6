//! Rows of the energy that a node takes: in the trial, for a join, and in a day of its duty.

use super::{Table, Traffic};
use crate::device::{BusyTimes, Joined};
use crate::id::NodeId;
use crate::scenario::{Duty, Energy};

/// Seconds of a day.
const DAY_S: f64 = 86_400.0;

impl Traffic<'_> {
    /// Rows of a node whose powers are known; gives its energy in the trial, J.
    pub(super) fn energy_rows(
        &self,
        number: NodeId,
        span: f64,
        delivered: u64,
        table: &mut Table,
    ) -> Option<f64> {
        let lower = &self.stack.lower;
        let e = lower.device.energy(number)?;
        let BusyTimes { cpu, engines } = lower.device.busy(number);
        let times = self.observers().radio(number, lower.cx.end);
        let dozes = times.dozes.as_secs_f64();
        // Each radio of a multi-link device listens on its channel.
        let radios = lower.mac.radios_of_device(lower.medium.radio_of(number));
        let joule = e.idle_w * (span * radios.len() as f64 - dozes)
            + e.doze_w * dozes
            + e.transmit_w * times.transmits.as_secs_f64()
            + e.receive_w * times.receives.as_secs_f64()
            + e.cpu_w * cpu.as_secs_f64()
            + e.packet_j * lower.device.packets(number) as f64
            + e.engine_w * engines.as_secs_f64();
        let (battery_wh, dozing) = lower.device.supply(number);
        table.put("power_w", joule / span, "W");
        if dozing {
            table.put("doze_share", dozes / span, "1");
        }
        let join = lower.device.join(number);
        table.put_some("join_energy_j", join.map(|join| join_j(&e, &join)), "J");
        if let Some(duty) = lower.device.duty(number) {
            let used = Used {
                joule,
                span_s: span,
            };
            self.day_rows(number, (&e, &duty), used, table);
        } else if let Some(energy) = battery_wh.filter(|_| joule > 0.0) {
            table.put("battery_h", energy * span / joule, "h");
        }
        if delivered > 0 {
            let bits = delivered as f64 * 8.0;
            table.put("energy_j_per_bit", joule / bits, "J/bit");
        }
        Some(joule)
    }

    /// Rows of a day. A part that is not known leaves the day without a row.
    fn day_rows(&self, number: NodeId, (e, duty): (&Energy, &Duty), used: Used, table: &mut Table) {
        let Used { joule, span_s } = used;
        let device = &self.stack.lower.device;
        let dozing = self.observers().dozing_of(number);
        let dozing_w = dozing.map(|shares| {
            e.idle_w * shares.awake
                + e.doze_w * (1.0 - shares.awake)
                + e.receive_w * shares.receives
        });
        // Power in the trial between messages, and on a day between joins and messages.
        let silent_w = dozing_w.unwrap_or(e.idle_w);
        let Some(rest_w) = duty.sleep_w.or(dozing_w) else {
            return;
        };
        let wake_s = duty.wake_us / 1e6;
        let wake_j = duty.wake_w * wake_s;
        if duty.joins_per_day > 0.0 {
            table.put("wake_energy_j", wake_j, "J");
        }
        let messages = self.messages_of(number);
        let waits_j = duty.message_awake_us / 1e6 * (e.idle_w - rest_w);
        let message_j =
            (messages > 0).then(|| (joule - silent_w * span_s) / messages as f64 + waits_j);
        table.put_some("message_energy_j", message_j, "J");
        let joins = match (duty.joins_per_day, device.join(number)) {
            (0.0, _) => (0.0, 0.0),
            (count, Some(join)) => {
                let took = join.took.as_secs_f64() + wake_s;
                (count * (wake_j + join_j(e, &join)), count * took)
            }
            (_, None) => return,
        };
        let sent_j = match (duty.messages_per_day, message_j) {
            (0.0, _) => 0.0,
            (count, Some(each)) => count * each,
            (_, None) => return,
        };
        let rest_s = DAY_S - joins.1;
        if rest_s < 0.0 {
            return;
        }
        let day_j = joins.0 + sent_j + rest_w * rest_s;
        table.put("day_energy_j", day_j, "J");
        let (battery_wh, _) = device.supply(number);
        if let Some(energy) = battery_wh.filter(|_| day_j > 0.0) {
            table.put("battery_days", energy * 3_600.0 / day_j, "d");
        }
    }

    /// Packets of the flows of a station that arrived or were lost: one at the very end is neither.
    fn messages_of(&self, number: NodeId) -> u64 {
        let name = self.stack.net.name(number);
        let flows = self.stack.flow.all().pairs();
        flows
            .filter(|(_, flow)| flow.station() == Some(name))
            .map(|(id, _)| self.observers().flows().of(id))
            .map(|counts| counts.received + counts.lost)
            .sum()
    }
}

/// Energy that a node used in the measured time.
#[derive(Clone, Copy)]
struct Used {
    joule: f64,
    span_s: f64,
}

/// Energy of a join, J: the station is awake, and its radio and CPU work.
fn join_j(e: &Energy, join: &Joined) -> f64 {
    e.idle_w * join.took.as_secs_f64()
        + e.transmit_w * join.transmits.as_secs_f64()
        + e.receive_w * join.receives.as_secs_f64()
        + e.cpu_w * join.cpu.as_secs_f64()
}
