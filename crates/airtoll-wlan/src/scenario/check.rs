//! Checks of a scenario that its types cannot express.

use std::collections::HashSet;
use std::fmt::Display;

use airtoll_phy::{Band, Coding, Legacy, TxVectorError, WidthRules};
use airtoll_security::CipherSuite;
use airtoll_wire::ieee80211::target_wake_time::MOST_SCHEDULES;

use super::schedule::{self, Schedule};
use super::{
    Bss, Cost, Discipline, EdcaParameters, Flow, Interferer, LinkBudget, Node, PowerSave, Rate,
    Retrieval, Role, SaeFlood, Scenario, ScenarioError, Standard, Transport,
};

/// Encodings of the Minimum MPDU Start Spacing, us (IEEE 802.11-2020, table 9-184); 0: no restriction.
const MPDU_START_SPACINGS_US: [f64; 8] = [0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// Delimiters that a descriptor of ath9k holds (8 bits).
const MOST_DELIMITERS: u16 = 255;

/// 20 MHz channels of a radio channel, and as many beside it.
const PRIMARY_CHANNELS: u8 = 32;

pub(super) type Checked = Result<(), ScenarioError>;

impl Scenario {
    /// Checks what the types cannot express: references, ranges, combinations.
    ///
    /// # Errors
    /// [`ScenarioError::Invalid`] for the first invalid value.
    pub fn check(&self) -> Checked {
        positive("duration_s", self.duration_s)?;
        not_negative("warm_up_s", self.warm_up_s)?;
        if self.warm_up_s >= self.duration_s {
            return invalid("warm_up_s", self.warm_up_s, "shorter than duration_s");
        }
        if self.duration_s > 1e6 {
            return invalid("duration_s", self.duration_s, "at most 1e6 seconds");
        }
        self.check_names()?;
        for (i, bss) in self.bss.iter().enumerate() {
            bss.check(&format!("bss[{i}]"))?;
            self.check_members(&format!("bss[{i}]"), bss)?;
        }
        for (i, node) in self.nodes.iter().enumerate() {
            self.check_node(&format!("nodes[{i}]"), node)?;
            self.check_multi_link(&format!("nodes[{i}]"), node)?;
            self.check_single_radio(&format!("nodes[{i}]"), node)?;
        }
        self.check_neighbours()?;
        self.check_passers_by()?;
        for (i, link) in self.links.iter().enumerate() {
            let at = format!("links[{i}]");
            for name in &link.nodes {
                let end = self.node(&format!("{at}.nodes"), name)?;
                if end.role == Role::Station && !end.four_address {
                    return invalid(
                        &format!("{at}.nodes"),
                        name,
                        "an access point, a wired host or a station with four_address",
                    );
                }
            }
            positive(&format!("{at}.rate_bps"), link.rate_bps)?;
            not_negative(&format!("{at}.delay_s"), link.delay_s)?;
            if !(0.0..1.0).contains(&link.loss_ratio) {
                let allowed = "at least 0 and below 1";
                return invalid(&format!("{at}.loss_ratio"), link.loss_ratio, allowed);
            }
        }
        for (i, budget) in self.radio.budgets.iter().enumerate() {
            self.check_budget(&format!("radio.budgets[{i}]"), budget)?;
        }
        for (i, pair) in self.radio.hidden.iter().enumerate() {
            for name in pair {
                self.node(&format!("radio.hidden[{i}]"), name)?;
            }
        }
        if let Some(fading) = self.radio.fading {
            let most = airtoll_phy::MOST_DELAY_SPREAD_NS;
            if !(0.0..=most).contains(&fading.delay_spread_ns) {
                let field = "radio.fading.delay_spread_ns";
                return invalid(field, fading.delay_spread_ns, format!("0 to {most}"));
            }
        }
        for (i, interferer) in self.radio.interferers.iter().enumerate() {
            self.check_interferer(&format!("radio.interferers[{i}]"), interferer)?;
        }
        positive("association_limit_s", self.association_limit_s)?;
        for (i, association) in self.associations.iter().enumerate() {
            let at = format!("associations[{i}].station");
            let station = self.node(&at, &association.station)?;
            if station.role != Role::Station {
                return invalid(&at, &association.station, "a station");
            }
            self.check_links(&format!("associations[{i}]"), association, station)?;
            if let Some(name) = &association.host {
                let at = format!("associations[{i}].host");
                let host = self.node(&at, name)?;
                if !station.four_address || host.role != Role::Wired {
                    let allowed = "a wired host behind a station with four_address";
                    return invalid(&at, name, allowed);
                }
            }
        }
        self.check_joins_during_traffic()?;
        unique(
            "associations",
            self.associations.iter().map(|a| a.station.as_str()),
        )?;
        for (i, bss) in self.bss.iter().enumerate() {
            self.check_ofdma(&format!("bss[{i}]"), bss)?;
            self.check_group_keys(&format!("bss[{i}]"), bss)?;
        }
        for (i, handover) in self.handovers.iter().enumerate() {
            self.check_handover(&format!("handovers[{i}]"), handover)?;
        }
        for (i, agent) in self.mobility_agents.iter().enumerate() {
            self.check_agent(&format!("mobility_agents[{i}]"), agent)?;
        }
        self.check_groups()?;
        if self.flows.is_empty() {
            return invalid("flows", "empty", "at least one flow");
        }
        for (i, flow) in self.flows.iter().enumerate() {
            self.check_flow(&format!("flows[{i}]"), flow)?;
        }
        Ok(())
    }

    /// Nodes of neighbours join nowhere and move nowhere, and their traffic stays in their BSS.
    fn check_neighbours(&self) -> Checked {
        if self.bss.iter().all(|bss| bss.neighbour.is_none()) {
            return Ok(());
        }
        if self.bss.iter().all(|bss| bss.neighbour.is_some()) {
            return invalid("bss[0].neighbour", "set", "null for at least one BSS");
        }
        for (i, bss) in self.bss.iter().enumerate() {
            let Some(neighbour) = bss.neighbour else {
                continue;
            };
            let at = format!("bss[{i}]");
            if let Some(level) = neighbour.level_dbm
                && !(-150.0..=30.0).contains(&level)
            {
                return invalid(&format!("{at}.neighbour.level_dbm"), level, "-150 to 30");
            }
            let alone = |b: &Bss| b.neighbour.is_some() || b.channel != bss.channel;
            if self.bss.iter().all(alone) {
                let allowed = "the channel of a BSS that is no neighbour's";
                return invalid(&format!("{at}.channel"), bss.channel, allowed);
            }
            if self.handovers.iter().any(|h| h.bss == bss.name) {
                return invalid(
                    &format!("{at}.neighbour"),
                    "set",
                    "null for the aim of a handover",
                );
            }
        }
        if self.overlaps_in_part() {
            self.check_widths()?;
        }
        let theirs = |name: &str| {
            let node = self.nodes.iter().find(|n| n.name == name);
            node.filter(|n| self.is_neighbours(n))
        };
        for (i, association) in self.associations.iter().enumerate() {
            if theirs(&association.station).is_some() {
                let field = format!("associations[{i}].station");
                return invalid(&field, &association.station, "no station of a neighbour");
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            if !node.multi_link.is_empty() && self.is_neighbours(node) {
                let field = format!("nodes[{i}].multi_link");
                return invalid(
                    &field,
                    node.multi_link.join(", "),
                    "empty in a neighbour's BSS",
                );
            }
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let ends = [theirs(&flow.source), theirs(&flow.destination)];
            let bsss = ends.map(|end| end.and_then(|node| node.bss.as_deref()));
            if bsss[0] != bsss[1] {
                let allowed = "in the same neighbour's BSS as source, or in none";
                return invalid(
                    &format!("flows[{i}].destination"),
                    &flow.destination,
                    allowed,
                );
            }
        }
        Ok(())
    }

    /// Checks a scenario whose channels overlap in part.
    fn check_widths(&self) -> Checked {
        let reason = "only where all BSSs on a channel have the same width and primary channel";
        for (i, bss) in self.bss.iter().enumerate() {
            let field = |name: &str| format!("bss[{i}].{name}");
            if bss.primary >= PRIMARY_CHANNELS {
                let allowed = format!("below {PRIMARY_CHANNELS}");
                return invalid(&field("primary"), bss.primary, &allowed);
            }
            if bss.obss_pd_dbm.is_some() {
                return invalid(&field("obss_pd_dbm"), "set", reason);
            }
            if bss.ofdma.is_some() {
                return invalid(&field("ofdma"), "set", reason);
            }
        }
        let several = self.nodes.iter().position(|n| !n.multi_link.is_empty());
        if let Some(i) = several {
            return invalid(&format!("nodes[{i}].multi_link"), "set", reason);
        }
        if !self.handovers.is_empty() {
            return invalid("handovers", "set", reason);
        }
        Ok(())
    }

    fn check_joins_during_traffic(&self) -> Checked {
        for (i, association) in self.associations.iter().enumerate() {
            if !association.during_traffic {
                continue;
            }
            let at = format!("associations[{i}]");
            let latest_s = association.start_us.saturating_add(association.spread_us) as f64 / 1e6;
            if latest_s >= self.duration_s {
                let allowed = "earlier, with spread_us, than duration_s";
                return invalid(&format!("{at}.start_us"), association.start_us, allowed);
            }
            let field = format!("{at}.during_traffic");
            if self
                .handovers
                .iter()
                .any(|h| h.station == association.station)
            {
                let allowed = "false for a station that hands over";
                return invalid(&field, true, allowed);
            }
            if !self.group_traffic.is_empty() {
                return invalid(&field, true, "false with group_traffic");
            }
        }
        Ok(())
    }

    fn check_interferer(&self, at: &str, interferer: &Interferer) -> Checked {
        if !self.radio.frame_errors {
            return invalid(at, "set", "absent where frame_errors is false");
        }
        positive(&format!("{at}.burst_us"), interferer.burst_us)?;
        positive(&format!("{at}.pause_us"), interferer.pause_us)?;
        for (key, level) in [
            ("level_dbm", interferer.level_dbm),
            ("busy_from_dbm", interferer.busy_from_dbm),
        ] {
            if !(-150.0..=30.0).contains(&level) {
                return invalid(&format!("{at}.{key}"), level, "-150 to 30");
            }
        }
        if let Some(number) = interferer.channel
            && !self.bss.iter().any(|bss| bss.channel == number)
        {
            return invalid(&format!("{at}.channel"), number, "the channel of a BSS");
        }
        if let Some(presence) = interferer.presence {
            positive(&format!("{at}.presence.present_s"), presence.present_s)?;
            positive(&format!("{at}.presence.absent_s"), presence.absent_s)?;
        }
        Ok(())
    }

    fn check_names(&self) -> Checked {
        unique("bss", self.bss.iter().map(|b| b.name.as_str()))?;
        unique("nodes", self.nodes.iter().map(|n| n.name.as_str()))?;
        unique("flows", self.flows.iter().map(|f| f.name.as_str()))
    }

    pub(super) fn node(&self, field: &str, name: &str) -> Result<&Node, ScenarioError> {
        self.nodes
            .iter()
            .find(|n| n.name == name)
            .ok_or_else(|| ScenarioError::Invalid {
                field: field.to_owned(),
                value: name.to_owned(),
                allowed: "the name of a node".to_owned(),
            })
    }

    /// The frames of power save are those of a station that listens to the TIM of its access point.
    fn check_retrieval(&self, field: &str, node: &Node, save: &PowerSave) -> Checked {
        let Some(retrieval) = save.retrieval else {
            return Ok(());
        };
        let bss = self.bss.iter().find(|b| Some(&b.name) == node.bss.as_ref());
        let edca = bss.is_some_and(|b| b.edca.unwrap_or(b.standard.descriptor().edca));
        let reason = if save.twt.is_some() {
            "null with twt: data come in service periods at known instants"
        } else if node.four_address {
            "null for a station that bridges"
        } else if bss.is_none_or(|b| b.beacons.is_none()) {
            "null without beacons: a TIM says that data wait"
        } else if retrieval == Retrieval::UApsd && !edca {
            "active or ps-poll without EDCA: U-APSD is for QoS stations"
        } else {
            return Ok(());
        };
        invalid(field, "set", reason)
    }

    /// Beacons can announce a schedule that is broadcast.
    fn check_schedule(&self, at: &str, node: &Node, save: &PowerSave) -> Checked {
        let Some(twt) = save.twt.filter(|twt| twt.broadcast) else {
            return Ok(());
        };
        let field = format!("{at}.broadcast");
        let bss = self.bss.iter().find(|b| Some(&b.name) == node.bss.as_ref());
        let Some(bss) = bss.filter(|b| b.beacons.is_some() && b.standard >= Standard::Ax) else {
            return invalid(&field, true, "false without beacons of 802.11ax or later");
        };
        if !schedule::can_be_announced(&twt) {
            let field = format!("{at}.interval_us");
            let allowed = "with broadcast, whole TUs (1,024 us) up to 65,535 times a power of two";
            return invalid(&field, twt.interval_us, allowed);
        }
        if Schedule::of(self, bss).len() > MOST_SCHEDULES {
            let allowed = format!("at most {MOST_SCHEDULES} intervals and durations in a BSS");
            return invalid(&field, true, allowed);
        }
        Ok(())
    }

    fn check_node(&self, at: &str, node: &Node) -> Checked {
        if node.power_save.is_some() && self.handovers.iter().any(|h| h.station == node.name) {
            let allowed = "null for a station that hands over";
            return invalid(&format!("{at}.power_save"), "set", allowed);
        }
        if let Some(save) = &node.power_save {
            check_power_save(&format!("{at}.power_save"), save)?;
            self.check_retrieval(&format!("{at}.power_save.retrieval"), node, save)?;
            self.check_schedule(&format!("{at}.power_save.twt"), node, save)?;
        }
        match (node.role, node.bss.as_deref()) {
            (Role::Wired, Some(name)) => {
                return invalid(&format!("{at}.bss"), name, "absent for a wired host");
            }
            (Role::Wired, None) => {}
            (_, None) => return invalid(&format!("{at}.bss"), "null", "the name of a BSS"),
            (_, Some(name)) => {
                let Some(bss) = self.bss.iter().find(|b| b.name == name) else {
                    return invalid(&format!("{at}.bss"), name, "the name of a BSS");
                };
                if let Some(rate) = &node.rate {
                    let standard = node.standard.unwrap_or(bss.standard);
                    check_rate(&format!("{at}.rate"), rate, standard)?;
                }
                for (i, rate) in node.link_rates.iter().enumerate() {
                    check_rate(&format!("{at}.link_rates[{i}]"), rate, bss.standard)?;
                }
            }
        }
        self.check_mpdu_spacing(at, node)?;
        if node.four_address {
            let field = format!("{at}.four_address");
            if node.role != Role::Station {
                return invalid(&field, true, "false but for a station");
            }
        }
        for (label, cost) in [
            ("transmit", &node.host.transmit),
            ("receive", &node.host.receive),
            ("forward", &node.host.forward),
        ] {
            check_cost(&format!("{at}.host.{label}"), cost)?;
        }
        for (i, cipher) in node.host.ciphers.iter().enumerate() {
            check_cost(&format!("{at}.host.ciphers[{i}].encrypt"), &cipher.encrypt)?;
            check_cost(&format!("{at}.host.ciphers[{i}].decrypt"), &cipher.decrypt)?;
        }
        if let Some(nic) = &node.host.nic {
            let at = format!("{at}.host.nic");
            if node.role == Role::Wired {
                return invalid(&at, "a network card", "null for a wired host");
            }
            for (i, stage) in nic.stages.iter().enumerate() {
                check_cost(&format!("{at}.stages[{i}].cost"), &stage.cost)?;
                not_negative(&format!("{at}.stages[{i}].random_ns"), stage.random_ns)?;
            }
        }
        if node.cipher.is_group_management() {
            let allowed = "a cipher of data frames";
            return invalid(&format!("{at}.cipher"), node.cipher.name(), allowed);
        }
        for (i, tunnel) in node.tunnels.iter().enumerate() {
            self.node(&format!("{at}.tunnels[{i}].peer"), &tunnel.peer)?;
            for (j, name) in tunnel.destinations.iter().flatten().enumerate() {
                self.node(&format!("{at}.tunnels[{i}].destinations[{j}]"), name)?;
            }
            if tunnel.peer == node.name {
                return invalid(
                    &format!("{at}.tunnels[{i}].peer"),
                    &tunnel.peer,
                    "another node",
                );
            }
            for (label, cost) in [
                ("encrypt", Some(&tunnel.encrypt)),
                ("decrypt", Some(&tunnel.decrypt)),
                ("peer_encrypt", tunnel.peer_encrypt.as_ref()),
                ("peer_decrypt", tunnel.peer_decrypt.as_ref()),
            ] {
                if let Some(cost) = cost {
                    check_cost(&format!("{at}.tunnels[{i}].{label}"), cost)?;
                }
            }
        }
        if let Some(own) = &node.edca_parameters {
            check_edca(&format!("{at}.edca_parameters"), own)?;
        }
        if let Some(us) = node.frame_burst_us {
            not_negative(&format!("{at}.frame_burst_us"), us)?;
        }
        if node.queue.packets == 0 {
            return invalid(&format!("{at}.queue.packets"), 0, "at least 1");
        }
        if node.queue.airtime_fairness
            && (node.role != Role::AccessPoint || node.queue.discipline != Discipline::FqCodel)
        {
            let allowed = "true only at an access point whose queue.discipline is fq_codel";
            return invalid(&format!("{at}.queue.airtime_fairness"), true, allowed);
        }
        if node.queue.packet_numbers_first
            && (node.role == Role::Wired || node.queue.discipline != Discipline::FqCodel)
        {
            let allowed = "true only at a wireless node whose queue.discipline is fq_codel";
            return invalid(&format!("{at}.queue.packet_numbers_first"), true, allowed);
        }
        if let Some(ms) = node.queue.max_delay_ms {
            positive(&format!("{at}.queue.max_delay_ms"), ms)?;
        }
        for (i, tunnel) in node.tunnels.iter().enumerate() {
            if let Some(mtu) = tunnel.mtu_octets
                && !(256..=65_535).contains(&mtu)
            {
                let field = format!("{at}.tunnels[{i}].mtu_octets");
                return invalid(&field, mtu, "256 to 65535, or null");
            }
        }
        if !(256..=65_535).contains(&node.mtu_octets) {
            return invalid(
                &format!("{at}.mtu_octets"),
                node.mtu_octets,
                "256 to 65,535",
            );
        }
        Ok(())
    }

    /// A node spaces MPDUs where its PHY has A-MPDUs.
    fn check_mpdu_spacing(&self, at: &str, node: &Node) -> Checked {
        let field = format!("{at}.mpdu_start_spacing_us");
        let spacing = node.mpdu_start_spacing_us;
        if !MPDU_START_SPACINGS_US.contains(&spacing) {
            return invalid(&field, spacing, "0, 0.25, 0.5, 1, 2, 4, 8 or 16");
        }
        for (i, own) in node.cipher_delimiters.iter().enumerate() {
            let at = format!("{at}.cipher_delimiters[{i}]");
            let mut before = node.cipher_delimiters[..i].iter();
            let twice = before.any(|other| other.cipher == own.cipher);
            if twice || !own.cipher.permits_high_throughput() || own.cipher == CipherSuite::Open {
                let allowed = "once a cipher that A-MPDUs may have";
                return invalid(&format!("{at}.cipher"), own.cipher.name(), allowed);
            }
            if !(1..=MOST_DELIMITERS).contains(&own.count) {
                let allowed = format!("1 to {MOST_DELIMITERS}");
                return invalid(&format!("{at}.count"), own.count, allowed);
            }
        }
        let aggregates = || {
            let mut own = self.bss.iter().filter(|bss| node.is_in(&bss.name));
            own.any(|bss| {
                let standard = node.standard.unwrap_or(bss.standard);
                standard.descriptor().ampdu.is_some() && bss.aggregation.ampdu_max_octets != Some(0)
            })
        };
        if (spacing > 0.0 || !node.cipher_delimiters.is_empty()) && !aggregates() {
            if spacing > 0.0 {
                return invalid(&field, spacing, "0 for a node that has no A-MPDUs");
            }
            let field = format!("{at}.cipher_delimiters");
            return invalid(&field, "set", "empty for a node that has no A-MPDUs");
        }
        Ok(())
    }

    fn check_flood(&self, at: &str, bss: &Bss, flood: &SaeFlood) -> Checked {
        positive(&format!("{at}.commits_per_s"), flood.commits_per_s)?;
        let field = format!("{at}.station");
        let station = self.node(&field, &flood.station)?;
        let own = |a: &&super::Association| a.station == flood.station;
        let joins = self.associations.iter().any(|a| own(&a));
        let in_it = station.role == Role::Station && station.bss.as_ref() == Some(&bss.name);
        if !in_it || joins {
            let allowed = "a station of the BSS without an association";
            return invalid(&field, &flood.station, allowed);
        }
        if bss.sae_anti_clogging_threshold.is_none() {
            let field = format!("{at}.commits_per_s");
            let allowed = "null without sae_anti_clogging_threshold";
            return invalid(&field, flood.commits_per_s, allowed);
        }
        Ok(())
    }

    fn check_group_keys(&self, at: &str, bss: &Bss) -> Checked {
        if let Some(after) = bss.deauthenticate_at_s {
            positive(&format!("{at}.deauthenticate_at_s"), after)?;
        }
        if let Some(after) = bss.restart_at_s {
            positive(&format!("{at}.restart_at_s"), after)?;
        }
        if let Some(flood) = &bss.sae_flood {
            self.check_flood(&format!("{at}.sae_flood"), bss, flood)?;
        }
        let field = if let Some(period) = bss.group_rekey_s {
            positive(&format!("{at}.group_rekey_s"), period)?;
            format!("{at}.group_rekey_s")
        } else if bss.group_rekey_on_leave {
            format!("{at}.group_rekey_on_leave")
        } else {
            return Ok(());
        };
        let in_it = |n: &&Node| n.role == Role::Station && n.bss.as_deref() == Some(&bss.name);
        let floods = |n: &&Node| {
            let flood = bss.sae_flood.as_ref();
            flood.is_some_and(|flood| flood.station == n.name)
        };
        for station in self.nodes.iter().filter(in_it).filter(|n| !floods(n)) {
            let mut joins = self.associations.iter();
            if joins.all(|a| a.station != station.name) {
                let allowed = format!("null: {} joins nowhere in simulated time", station.name);
                return invalid(&field, "set", allowed);
            }
        }
        let here = |name: &str| self.nodes.iter().filter(in_it).any(|n| n.name == name);
        let joins = self.associations.iter().filter(|a| here(&a.station));
        let moves = self.handovers.iter().filter(|h| h.bss == bss.name);
        let policies = joins
            .map(|a| &a.policy)
            .chain(moves.map(|h| &h.association.policy));
        for policy in policies {
            if policy.link.akm.is_none() {
                let allowed = format!("null: {} has no group key handshake", policy.name);
                return invalid(&field, "set", allowed);
            }
        }
        Ok(())
    }

    fn check_budget(&self, at: &str, budget: &LinkBudget) -> Checked {
        for name in &budget.nodes {
            self.node(&format!("{at}.nodes"), name)?;
        }
        if let Some(bss) = &budget.bss
            && !self.bss.iter().any(|b| b.name == *bss)
        {
            return invalid(&format!("{at}.bss"), bss, "the name of a BSS, or null");
        }
        if budget.rssi_dbm.is_some() == budget.loss_db.is_some() {
            return invalid(at, "rssi_dbm and loss_db", "exactly one of the two");
        }
        Ok(())
    }

    fn check_flow(&self, at: &str, flow: &Flow) -> Checked {
        self.node(&format!("{at}.source"), &flow.source)?;
        self.node(&format!("{at}.destination"), &flow.destination)?;
        if flow.source == flow.destination {
            return invalid(
                &format!("{at}.destination"),
                &flow.destination,
                "not the source",
            );
        }
        not_negative(&format!("{at}.start_s"), flow.start_s)?;
        if let Err(problem) = flow.pattern.check(flow.transport.socket_kind()) {
            let field = format!("{at}.pattern.{}", problem.field);
            return invalid(&field, problem.value, problem.allowed);
        }
        if let Transport::Tcp(options) = flow.transport {
            if options.window_octets == Some(0) {
                return invalid(&format!("{at}.transport.window_octets"), 0, "at least 1");
            }
            if options.delayed_ack_segments == Some(0) {
                return invalid(
                    &format!("{at}.transport.delayed_ack_segments"),
                    0,
                    "at least 1",
                );
            }
            if let Some(delay) = options.delayed_ack_timeout_ms {
                not_negative(&format!("{at}.transport.delayed_ack_timeout_ms"), delay)?;
            }
            if let Some(least) = options.min_rto_ms {
                positive(&format!("{at}.transport.min_rto_ms"), least)?;
            }
        }
        Ok(())
    }
}

impl Bss {
    fn check(&self, at: &str) -> Checked {
        let phy = self.standard.descriptor();
        let width = phy.widths.iter().find(|row| mhz(row) == self.width_mhz);
        let Some(width) = width else {
            let widths: Vec<_> = phy.widths.iter().map(mhz).collect();
            let allowed = format!("one of {widths:?}");
            return invalid(&format!("{at}.width_mhz"), self.width_mhz, allowed);
        };
        if let Some(band) = self.band
            && !width.bands.contains(&band)
        {
            let allowed = format!(
                "a band of {} MHz channels of {}",
                self.width_mhz, self.standard
            );
            return invalid(&format!("{at}.band"), format!("{band:?}"), allowed);
        }
        let intervals = phy.guard_intervals.iter().map(|row| row.interval.nanos());
        if !intervals
            .clone()
            .any(|ns| ns == u32::from(self.guard_interval_ns))
        {
            return invalid(
                &format!("{at}.guard_interval_ns"),
                self.guard_interval_ns,
                format!("one of {:?}", intervals.collect::<Vec<_>>()),
            );
        }
        if self.coding == Coding::Ldpc && phy.mcs.is_none() {
            let allowed = format!("bcc: {} has no LDPC codes", self.standard);
            return invalid(&format!("{at}.coding"), "ldpc", allowed);
        }
        if let Some(limits) = phy.ampdu
            && self.aggregation.amsdu_max_octets > limits.amsdu_octets
        {
            return invalid(
                &format!("{at}.aggregation.amsdu_max_octets"),
                self.aggregation.amsdu_max_octets,
                format!("0 to {}", limits.amsdu_octets),
            );
        }
        check_rate(&format!("{at}.rate"), &self.rate, self.standard)?;
        if self.max_attempts == 0 {
            return invalid(&format!("{at}.max_attempts"), 0, "at least 1");
        }
        if let Some(own) = &self.edca_parameters {
            check_edca(&format!("{at}.edca_parameters"), own)?;
        }
        if self.aggregation.window == Some(0) {
            return invalid(&format!("{at}.aggregation.window"), 0, "at least 1");
        }
        if let Some(rates) = &self.basic_rates_mbps {
            let band = self.band.unwrap_or_else(|| phy.default_band(width.width));
            for (i, mbps) in rates.iter().enumerate() {
                let known = phy.announced_rates_at(band);
                if !known.map(Legacy::mbps).any(|own| own == *mbps) {
                    let place = match band {
                        Band::Ghz2_4 => "2.4",
                        Band::Ghz5 => "5",
                        Band::Ghz6 => "6",
                    };
                    let rates = rates_of(phy.announced_rates_at(band));
                    let allowed = format!("of {rates} ({} at {place} GHz)", self.standard);
                    return invalid(&format!("{at}.basic_rates_mbps[{i}]"), mbps, allowed);
                }
            }
            if rates.is_empty() {
                return invalid(&format!("{at}.basic_rates_mbps"), "empty", "null or a rate");
            }
        }
        not_negative(&format!("{at}.frame_burst_us"), self.frame_burst_us)?;
        not_negative(&format!("{at}.cca_time_us"), self.cca_time_us)?;
        self.check_spatial_reuse(at)?;
        if let Some(octets) = self.fragmentation_threshold_octets
            && octets < 256
        {
            let field = format!("{at}.fragmentation_threshold_octets");
            return invalid(&field, octets, "at least 256, or null for never");
        }
        if let Some(beacons) = &self.beacons {
            positive(&format!("{at}.beacons.interval_us"), beacons.interval_us)?;
            not_negative(&format!("{at}.beacons.offset_us"), beacons.offset_us)?;
        }
        Ok(())
    }
}

impl Bss {
    fn check_spatial_reuse(&self, at: &str) -> Checked {
        let has_color = matches!(self.standard, Standard::Ax | Standard::Be);
        if self.color > 63 || (self.color > 0 && !has_color) {
            let allowed = if has_color {
                "0 to 63"
            } else {
                "0 before 802.11ax"
            };
            return invalid(&format!("{at}.color"), self.color, allowed);
        }
        let Some(level) = self.obss_pd_dbm else {
            return Ok(());
        };
        let field = format!("{at}.obss_pd_dbm");
        if !(-82.0..=-62.0).contains(&level) {
            return invalid(&field, level, "-82 to -62, or null");
        }
        if self.color == 0 {
            return invalid(&field, level, "null without a BSS color");
        }
        Ok(())
    }
}

/// Rates in words: `6, 9 or 12 Mb/s`.
pub(crate) fn rates_of(rates: impl Iterator<Item = Legacy>) -> String {
    let mut rates: Vec<f64> = rates.map(Legacy::mbps).collect();
    rates.sort_by(f64::total_cmp);
    rates.dedup();
    let words: Vec<String> = rates.iter().map(f64::to_string).collect();
    match words.split_last() {
        Some((last, [])) => format!("{last} Mb/s"),
        Some((last, first)) => format!("{} or {last} Mb/s", first.join(", ")),
        None => "no rate".to_owned(),
    }
}

fn mhz(row: &WidthRules) -> u16 {
    row.width.mhz() as u16
}

pub(super) fn check_rate(at: &str, rate: &Rate, standard: Standard) -> Checked {
    let phy = standard.descriptor();
    match *rate {
        Rate::Fixed { mbps } => {
            let known = phy.announced_rates();
            if known.map(Legacy::mbps).any(|own| own == mbps) {
                return Ok(());
            }
            let allowed = format!("one of {} ({standard})", rates_of(phy.announced_rates()));
            invalid(&format!("{at}.mbps"), mbps, allowed)
        }
        Rate::FixedMcs { mcs, streams } => {
            let Err(problem) = phy.check_mcs(mcs, streams) else {
                return Ok(());
            };
            let (key, value) = match problem {
                TxVectorError::NoMcs { .. } => ("control", "fixed_mcs".to_owned()),
                TxVectorError::NoSuchMcs { .. } => ("mcs", mcs.to_string()),
                _ => ("streams", streams.to_string()),
            };
            invalid(&format!("{at}.{key}"), value, problem)
        }
        Rate::Aarf { streams } | Rate::Minstrel { streams } => {
            let most = phy.mcs.map_or(8, |rules| rules.streams);
            if (1..=most).contains(&streams) {
                return Ok(());
            }
            invalid(&format!("{at}.streams"), streams, format!("1 to {most}"))
        }
    }
}

fn check_edca(at: &str, categories: &[EdcaParameters; 4]) -> Checked {
    for (i, own) in categories.iter().enumerate() {
        if let Some(aifsn) = own.aifsn
            && !(1..=15).contains(&aifsn)
        {
            return invalid(&format!("{at}[{i}].aifsn"), aifsn, "1 to 15");
        }
        for (key, window) in [("cw_min", own.cw_min), ("cw_max", own.cw_max)] {
            if let Some(slots) = window
                && slots > 32_767
            {
                return invalid(&format!("{at}[{i}].{key}"), slots, "0 to 32,767");
            }
        }
        if let (Some(least), Some(most)) = (own.cw_min, own.cw_max)
            && most < least
        {
            return invalid(&format!("{at}[{i}].cw_max"), most, "at least cw_min");
        }
        if let Some(us) = own.txop_us {
            not_negative(&format!("{at}[{i}].txop_us"), us)?;
        }
    }
    Ok(())
}

fn check_cost(at: &str, cost: &Cost) -> Checked {
    not_negative(&format!("{at}.fixed_ns"), cost.fixed_ns)?;
    not_negative(&format!("{at}.per_octet_ns"), cost.per_octet_ns)
}

pub(super) fn unique<'a>(field: &str, names: impl Iterator<Item = &'a str>) -> Checked {
    let mut seen = HashSet::new();
    for (i, name) in names.enumerate() {
        if name.is_empty() {
            return invalid(&format!("{field}[{i}].name"), "empty", "a name");
        }
        if !seen.insert(name) {
            return invalid(&format!("{field}[{i}].name"), name, "a name used once");
        }
    }
    Ok(())
}

pub(super) fn positive(field: &str, value: f64) -> Checked {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    invalid(field, value, "above zero")
}

pub(super) fn not_negative(field: &str, value: f64) -> Checked {
    if value >= 0.0 && value.is_finite() {
        return Ok(());
    }
    invalid(field, value, "zero or more")
}

pub(super) fn invalid(field: &str, value: impl Display, allowed: impl Display) -> Checked {
    Err(ScenarioError::Invalid {
        field: field.to_owned(),
        value: value.to_string(),
        allowed: allowed.to_string(),
    })
}

/// A station that dozes wakes at some time, and its service periods do not overlap.
fn check_power_save(at: &str, save: &PowerSave) -> Checked {
    let Some(twt) = &save.twt else {
        return match save.listen_interval {
            Some(1..) => Ok(()),
            _ => invalid(
                &format!("{at}.listen_interval"),
                "none",
                "1 or more without twt",
            ),
        };
    };
    positive(&format!("{at}.twt.interval_us"), twt.interval_us)?;
    positive(&format!("{at}.twt.duration_us"), twt.duration_us)?;
    if twt.duration_us >= twt.interval_us {
        let field = format!("{at}.twt.duration_us");
        return invalid(&field, twt.duration_us.to_string(), "less than interval_us");
    }
    Ok(())
}
