"""Playing whole games: evaluation, statistics, recordings and reviews."""
