"""Start several processes of one run on this machine, or say what to start on each of many."""
