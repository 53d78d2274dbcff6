//! Group-addressed traffic of nodes, and the ways in which access points pass it on.

use super::Builder;
use crate::net::{GroupContent, GroupMessage, GroupSource};
use crate::scenario::{self, IpVersion, Role};

impl Builder<'_> {
    pub(super) fn add_groups(&mut self) {
        for node in &self.scenario.nodes {
            let own = self
                .scenario
                .bss
                .iter()
                .find(|b| Some(&b.name) == node.bss.as_ref());
            let own = own.filter(|_| node.role == Role::AccessPoint);
            let delivery = own.map(|bss| bss.group).unwrap_or_default();
            self.world.stack.net.add_delivery(delivery);
        }
        for source in &self.scenario.group_traffic {
            let (content, ip) = match &source.message {
                scenario::GroupMessage::Mdns { payload_octets, ip } => {
                    let octets = *payload_octets;
                    (GroupContent::Mdns { octets }, *ip)
                }
                scenario::GroupMessage::AddressRequest { target, ip } => {
                    let target = self.index[target.as_str()];
                    (GroupContent::Request { target }, *ip)
                }
                scenario::GroupMessage::RouterAdvertisement {} => {
                    (GroupContent::RouterAdvertisement, IpVersion::Ipv6)
                }
            };
            let message = GroupMessage {
                node: self.index[source.node.as_str()],
                content,
                six: ip == IpVersion::Ipv6,
            };
            let stream = self.streams.named(&format!("group/{}", source.name));
            let source = GroupSource::new(message, source.mean_interval_s, stream);
            self.world.stack.net.add_group_source(source);
        }
    }
}
