"""The real stack: hostapd, wpa_supplicant, FreeRADIUS, strongSwan, iperf3 on Linux radios.

Takes a trial; gives observations and captures. Never touches what it did not start.
"""
