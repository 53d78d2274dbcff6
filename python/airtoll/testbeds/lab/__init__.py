"""Campaigns in a physical laboratory: what a person sets and moves, checked from the air.

Takes a study and a ``lab.toml``; gives trials on real radios, with an access point of any make. The
trials themselves are those of ``testbeds.linux``; here is what surrounds them: settings in words,
their verification, the order with the fewest touches, the watch over channel and hosts.
"""
