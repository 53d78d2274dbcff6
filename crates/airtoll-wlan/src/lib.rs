//! the simulated WLAN: access, hosts, transports, mobility, ledger.
