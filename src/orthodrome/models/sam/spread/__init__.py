"""SAM over processes: the part of the documents that each has, what crosses, and what all know of the whole."""
