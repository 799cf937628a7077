"""What a command does: options, inputs, outputs and resuming."""
