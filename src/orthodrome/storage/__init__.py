"""Draws, states and checkpoints, in memory and on disk: one format for every run."""
