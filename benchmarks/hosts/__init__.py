"""What several processes on one machine gain over one, and what their exchanges cost."""
