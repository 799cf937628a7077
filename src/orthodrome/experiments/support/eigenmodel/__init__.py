"""Baselines and speeds of the network eigenmodel."""
