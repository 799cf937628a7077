"""Figures from draws. Nothing here touches pyplot, so importing it changes no global state and needs no display."""
