"""Daemons of the real stack: their configurations, starts and answers."""
