"""The figures and tables of the papers by one command, and one page of all of them."""
