"""One trial on the hosts: association, tunnels, traffic, hand-overs, in their order."""
