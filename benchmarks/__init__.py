"""Benchmarks of the parts; each file is a command, except machine.py and the reference implementations."""
