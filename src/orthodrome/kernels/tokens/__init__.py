"""Loops over the tokens of documents: assignments of topics, the arrays around them, and what is counted."""
