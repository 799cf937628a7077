"""Two ways of carrying chains forward, with one interface: a compiled loop, or Python calling `step`."""
