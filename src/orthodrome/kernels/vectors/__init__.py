"""Vectors of eight numbers in registers: what is read, written and turned in one instruction, and normal numbers."""
