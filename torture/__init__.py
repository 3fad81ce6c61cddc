"""Campaigns that try to break tilewright: `python -m torture --minutes 5 --seed 1`.

A campaign makes inputs by numbers, runs them in worker processes, and judges what happens: an input is accepted, or
refused with one line. A traceback, a crash, a hang, memory without bound, a lost or half-written file are failures.
docs/how-to/robustness.md tells how to run it.
"""
