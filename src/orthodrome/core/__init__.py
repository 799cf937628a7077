"""What everything stands on: configured objects as pytrees, tree arithmetic, and types."""
