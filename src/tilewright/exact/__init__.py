"""Exact play: every state of a small game enumerated layer by layer, and its value computed by backward induction."""
