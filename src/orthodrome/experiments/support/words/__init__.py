"""Words of splittings whose stationary law is known exactly."""
