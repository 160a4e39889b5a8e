"""Constituency trees: read, linearise, parse."""
