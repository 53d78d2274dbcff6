//! Modes of narrower PPDUs, where channels of neighbours overlap in part.

use super::Builder;
use crate::id::ModeId;
use crate::mac::Mode;

impl Builder<'_> {
    /// Adds the modes of all widths below that of each mode. All links are there.
    pub(super) fn add_widths(&mut self) {
        if !self.world.stack.lower.medium.has_widths() {
            return;
        }
        let modes: Vec<ModeId> = self.world.stack.lower.mac.modes().ids().collect();
        let narrower = modes.into_iter().map(|mode| self.narrower(mode)).collect();
        self.world.stack.lower.mac.vary_widths(narrower);
    }

    /// The modes of the widths below that of a mode, from 20 MHz on.
    fn narrower(&mut self, mode: ModeId) -> Vec<ModeId> {
        let mac = &mut self.world.stack.lower.mac;
        let (at, step, vector) = {
            let mode = mac.mode(mode);
            (mode.bss(), mode.step(), *mode.vector())
        };
        let (timing, basic) = (self.phys[at].timing, self.phys[at].basic);
        (0..step)
            .map(|step| {
                let vector = vector.narrowed(20 << step);
                let known = mac.modes().find(|m| m.is_of(at, &vector));
                let bss = (at, &self.scenario.bss[at]);
                known.unwrap_or_else(|| mac.add_mode(Mode::new(vector, bss, &timing, basic)))
            })
            .collect()
    }
}
