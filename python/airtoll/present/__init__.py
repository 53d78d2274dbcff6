"""Claims in words, for the terminal, the page and text formats.

Takes typed claims; gives sentences. Never computes a number.
"""
