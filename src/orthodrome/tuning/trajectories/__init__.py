"""What the last quarter of a warm-up measures: how far a trajectory, or a tree of them, should go."""
