"""Markov chains of rules on games: laws, transition matrices, stationary laws, times."""
