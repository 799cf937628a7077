"""Is the run sound?"""
from __future__ import annotations
import numpy as np
def worst_ess(arrays):
    from arviz_stats.base import array_stats
    return min(float(np.min(array_stats.ess(v, chain_axis=0, draw_axis=1))) for v in arrays.values())
def worst_rhat(arrays):
    from arviz_stats.base import array_stats
    return max(float(np.max(array_stats.rhat(v, chain_axis=0, draw_axis=1))) for v in arrays.values())
