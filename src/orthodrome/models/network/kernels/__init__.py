"""The eigenmodel of a network in compiled loops: links, sums over all pairs, motion of frames, and trajectories."""
