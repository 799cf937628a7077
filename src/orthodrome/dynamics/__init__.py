"""What steps are made of: letters, words, leapfrogs, U-turns, soft walls and Langevin moves."""
