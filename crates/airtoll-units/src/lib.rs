//! airtime-free value types: instants, durations, octets, rates, powers.
