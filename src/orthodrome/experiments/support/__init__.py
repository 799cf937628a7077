"""What the experiments share: their contract, and the pieces that more than one file needs."""
