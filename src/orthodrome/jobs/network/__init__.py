"""Networks by few directions."""
