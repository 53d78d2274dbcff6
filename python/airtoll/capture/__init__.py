"""Captures: timelines, decryption and the airtime ledger of pcap and pcapng files.

Takes files; gives reports and observations. Never needs root or a radio.
"""
