"""Testbeds carry out trials: the simulator, closed forms, a real Linux stack.

Takes a cell; gives observations, or a reason why it cannot. One contract for all.
"""
