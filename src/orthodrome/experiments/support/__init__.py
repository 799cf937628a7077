"""What the experiments have in common: their contract, and the parts that more than one file needs."""
