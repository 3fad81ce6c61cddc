"""Temporal-difference learning: what is valued, how far a weight moves, and the two loops that do it."""
