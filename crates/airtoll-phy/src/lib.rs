//! WLAN PHY arithmetic: rates, airtimes, interframe spaces, error rates.
