"""The Bingham-von Mises-Fisher laws of Byrne & Girolami (2013), section 5.1."""
