//! Links between an access point and its stations, and the modes that each may use.

use airtoll_phy::{self as phy, TxVector};
use airtoll_units::Duration;

use super::Builder;
use crate::id::{Ends, ModeId, NeighbourId, RadioId};
use crate::mac::{
    self, Aarf, Addresses, Agreement, DataLink, DataSubtype, Division, ForbiddenRate, HandUp,
    Minstrel, Mode, Numbering, Queueing, RateControl, TxLink, mac_octets,
};
use crate::scenario::{Discipline, Rate, Role, ScenarioError, WireDiscipline, rates_of};

/// Octets of a full-sized IP packet.
const FULL_PACKET: u32 = 1_500;

impl Builder<'_> {
    pub(super) fn add_links(&mut self, at: usize) -> Result<(), ScenarioError> {
        let members = self.phys[at].members.clone();
        let host = self.radios.node_of(members[0]);
        let device = &self.scenario.nodes[host.index()];
        if !device.multi_link.is_empty() {
            let first = device.bss.as_ref() == Some(&self.scenario.bss[at].name);
            return if first {
                self.add_multi_links(host)
            } else {
                // With those of its first link.
                Ok(())
            };
        }
        if self.scenario.bss[at].passes_by() {
            for &node in &members {
                self.add_contenders(at, node);
                self.world.stack.lower.mac.begin_links(node, 0);
            }
            return Ok(());
        }
        let (ap, stations) = (members[0], &members[1..]);
        // The modes of each station's link, the same in both directions.
        let mut modes = Vec::new();
        for &station in stations {
            modes.push(self.link_modes(at, station)?);
        }
        for &node in &members {
            self.add_contenders(at, node);
            let neighbours: Vec<RadioId> = if node == ap {
                stations.to_vec()
            } else {
                vec![ap]
            };
            let mac = &mut self.world.stack.lower.mac;
            mac.begin_links(node, neighbours.len() as u32);
            let categories = if self.phys[at].edca { 4 } else { 1 };
            for _ in 0..categories {
                for &peer in &neighbours {
                    let station = if node == ap { peer } else { node };
                    let slot = stations.iter().position(|s| *s == station).unwrap_or(0);
                    let ends = Ends {
                        from: node,
                        to: peer,
                    };
                    let made = self.link(at, ends, station, &modes[slot]);
                    self.world.stack.lower.mac.add_link(made);
                }
            }
        }
        let host = self.radios.node_of(ap);
        if self.scenario.nodes[host.index()].queue.airtime_fairness {
            self.share_airtime(at, ap, stations);
        }
        Ok(())
    }

    /// The access point of a BSS gives its stations equal airtime.
    fn share_airtime(&mut self, at: usize, ap: RadioId, stations: &[RadioId]) {
        let mac = &mut self.world.stack.lower.mac;
        let categories = if self.phys[at].edca { 4 } else { 1 };
        for category in 0..categories {
            for (slot, &station) in stations.iter().enumerate() {
                let there = mac.link_to(ap, NeighbourId::new(slot as u32), category);
                let back = mac.link_to(station, NeighbourId::new(0), category);
                mac.share_airtime(there, back);
            }
        }
    }

    /// The rate control of frames between two radios in a BSS, one of which is the station's.
    pub(super) fn rate_control(
        &self,
        at: usize,
        ends: Ends<RadioId>,
        station: RadioId,
        modes: &[ModeId],
    ) -> RateControl {
        let node = &self.scenario.nodes[self.radios.node_of(station).index()];
        match node.rate_in(&self.scenario.bss[at]) {
            Rate::Fixed { .. } | Rate::FixedMcs { .. } => RateControl::Fixed(modes[0]),
            Rate::Aarf { .. } => RateControl::Aarf(Aarf::new(modes.to_vec())),
            Rate::Minstrel { .. } => {
                let worth: Vec<_> = modes.iter().map(|m| (*m, self.worth(*m))).collect();
                let name = format!(
                    "minstrel/{}/{}/{}",
                    ends.from,
                    ends.to,
                    self.world.stack.lower.mac.links().len()
                );
                RateControl::Minstrel(Box::new(Minstrel::new(&worth, self.streams.named(&name))))
            }
        }
    }

    /// The link for data frames between two radios in a BSS, one of which is the station's.
    pub(super) fn link(
        &self,
        at: usize,
        ends: Ends<RadioId>,
        station: RadioId,
        modes: &[ModeId],
    ) -> TxLink {
        let bss = &self.scenario.bss[at];
        let node = &self.scenario.nodes[self.radios.node_of(station).index()];
        let Ends { from, to: peer } = ends;
        let rate = self.rate_control(at, ends, station, modes);
        // HT stations agree on block acks to aggregate; VHT and later ones always do, since all
        // their MPDUs are in A-MPDUs (10.12.8).
        let agrees = modes.iter().any(|m| {
            let mode = self.world.stack.lower.mac.mode(*m);
            mode.aggregates() || mode.always_delimits()
        });
        let sender = &self.scenario.nodes[self.radios.node_of(from).index()];
        let receiver = &self.scenario.nodes[self.radios.node_of(peer).index()];
        let subtype = DataSubtype::with_edca(self.phys[at].edca);
        let addresses = Addresses::of(node.four_address);
        let hand_up = if sender.role == Role::Station && self.overfills_wires(at, modes) {
            HandUp::AtMpduEnd
        } else {
            HandUp::AtPpduEnd
        };
        TxLink::data(
            from,
            peer,
            modes[0],
            DataLink {
                cipher: node.cipher,
                subtype,
                addresses,
                rate,
                amsdu_octets: bss.aggregation.amsdu_max_octets,
                start_spacing: Duration::from_nanos((receiver.mpdu_start_spacing_us * 1e3) as u64),
                cipher_delimiters: sender.cipher_delimiters.clone(),
                max_attempts: bss.max_attempts,
                division: Division::new(
                    bss.fragmentation_threshold_octets,
                    mac_octets(subtype, addresses),
                    node.cipher.mpdu_octets() as u32,
                ),
                rts_octets: bss.rts_threshold_octets.unwrap_or(u32::MAX),
                agreement: if agrees {
                    Agreement::Agreed
                } else {
                    Agreement::None
                },
                queueing: match sender.queue.discipline {
                    Discipline::FqCodel => Queueing::ByFlow,
                    _ => Queueing::InOrder,
                },
                numbering: if sender.queue.packet_numbers_first {
                    Numbering::AtArrival
                } else {
                    Numbering::AtSending
                },
                hand_up,
            },
        )
    }

    /// Whether the A-MPDUs of full-sized packets that arrive together are longer than the queue of some wire, or
    /// make the packets of a flow queue wait.
    fn overfills_wires(&self, at: usize, modes: &[ModeId]) -> bool {
        let bss = &self.scenario.bss[at];
        let users = match bss.ofdma {
            Some(ofdma) if ofdma.uplink => self.phys[at].members.len() as u32 - 1,
            _ => 1,
        };
        let mac = &self.world.stack.lower.mac;
        let mpdus = modes.iter().map(|mode| mac.mode(*mode).most_mpdus()).max();
        let msdus = bss.aggregation.amsdu_max_octets / FULL_PACKET + 1;
        let packets = users * mpdus.unwrap_or(1) * msdus;
        let mut wires = self.scenario.links.iter();
        wires.any(|wire| wire.queue_packets < packets || wire.discipline == WireDiscipline::FqCodel)
    }

    /// How much a success at a mode is worth to Minstrel: frames of 1500 octets per second.
    fn worth(&self, mode: ModeId) -> f64 {
        let mode = self.world.stack.lower.mac.mode(mode);
        let exchange = mode.airtime(1_500) + mode.timeout() + mode.answer(false);
        1e9 / exchange.as_nanos() as f64
    }

    /// Modes that a station's link may use, by rising rate.
    pub(super) fn link_modes(
        &mut self,
        at: usize,
        radio: RadioId,
    ) -> Result<Vec<ModeId>, ScenarioError> {
        let bss = &self.scenario.bss[at];
        let station = self.radios.node_of(radio);
        let node = &self.scenario.nodes[station.index()];
        let standard = node.standard.unwrap_or(bss.standard);
        let rate = node.rate_in(bss);
        let permitted = node.cipher.permits_high_throughput();
        let place = match node.rate {
            Some(_) => format!("nodes[{}].rate", station.index()),
            None => format!("bss[{at}].rate"),
        };
        let refuse = |field: &str, value: String, allowed: String| ScenarioError::Invalid {
            field: format!("{place}.{field}"),
            value,
            allowed,
        };
        let mut vectors = match rate {
            Rate::Fixed { mbps } => {
                let vector = mac::legacy(bss, mbps);
                let allowed = || {
                    let rates = standard.descriptor().announced_rates_at(mac::band(bss));
                    format!("one of {} (in this band)", rates_of(rates))
                };
                vec![vector.ok_or_else(|| refuse("mbps", mbps.to_string(), allowed()))?]
            }
            Rate::FixedMcs { mcs, streams } => {
                let wanted = mac::mcs(bss, standard, mcs, streams)
                    .map_err(|problem| refuse("mcs", mcs.to_string(), problem.to_string()))?;
                if permitted {
                    vec![wanted]
                } else {
                    // IEEE 802.11-2020, 12.6.1.1: no HT and later rates with WEP and TKIP.
                    let legacy =
                        TxVector::ofdm(phy::non_ht_reference_rate(&wanted), mac::band(bss));
                    let rate = ForbiddenRate {
                        forbidden: wanted.bit_rate().0,
                        used: legacy.bit_rate().0,
                    };
                    self.world.stack.lower.mac.forbid_rate(radio, rate);
                    vec![legacy]
                }
            }
            Rate::Aarf { streams } | Rate::Minstrel { streams } => {
                mac::choices(bss, standard, permitted, streams)
            }
        };
        vectors.sort_by_key(|v| (v.bit_rate().0, v.nss()));
        vectors.dedup_by_key(|v| v.bit_rate().0);
        let (timing, basic) = (self.phys[at].timing, self.phys[at].basic);
        Ok(vectors
            .into_iter()
            .map(|vector| {
                let mac = &mut self.world.stack.lower.mac;
                let modes = mac.modes();
                let known = modes.find(|m| m.is_of(at, &vector));
                known.unwrap_or_else(|| mac.add_mode(Mode::new(vector, (at, bss), &timing, basic)))
            })
            .collect())
    }
}
