"""Searchers: expectimax, minimax, flat Monte Carlo and UCT, and the evaluators at their leaves."""
