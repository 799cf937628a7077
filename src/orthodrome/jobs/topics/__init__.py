"""The topic model commands."""
