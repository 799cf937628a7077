"""The figures of Baker, Fearnhead, Fox & Nemeth (2018), one file each."""
