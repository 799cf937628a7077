"""Laws of directions, axes and angles."""
