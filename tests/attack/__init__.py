"""Attacks: what a stranger may send, by category. `tests/test_attack.py` tries a hundred fresh cases of each, and every
case that ever failed; `make attack` tries as many as its time allows (docs/reliability.md).
"""
