"""The sections of a page, one kind of picture a file: each turns draws or results into numbers and their table."""
