"""Rehearsals of a campaign: a router and a person that exist in a program alone.

A rehearsal needs no radio. The router is set through the labels that a person reads, and shows on
the air what it was set to, right or wrong.
"""
