"""Posteriors on the spaces of which there are pictures, one file each; `posterior` chooses among them."""
