"""The main job, `orthodrome topics`: from a corpus to topics, tables and figures, through any kill."""
