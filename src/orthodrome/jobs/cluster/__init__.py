"""The clustering commands."""
