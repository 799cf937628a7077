"""Groups of comets by the planes of their orbits: a mixture of von Mises-Fisher laws whose number is learnt.

The normals of the planes are unit vectors. Simulated ones stand in for a catalogue: a flat disc that goes one way round
(short periods), a broad cloud in all directions (long periods), and a family of fragments of one comet.

Run: python examples/12_clusters.py
"""

from __future__ import annotations

import numpy as np

from orthodrome import DirichletProcessMixture
from orthodrome.models.mixture.components.sphere import draw_directions

rng = np.random.default_rng(0)
poles = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.6, -0.48, -0.64]])
groups = np.repeat([0, 1, 2], [150, 120, 60])
normals = draw_directions(rng, poles[groups], np.array([40.0, 0.3, 300.0])[groups])

model = DirichletProcessMixture("vmf", num_warmup=50, num_draws=100, num_chains=2, random_state=0).fit(normals)

counts = np.bincount(np.asarray(model.draws_["posterior"]["num_clusters"]).ravel())
print("clusters:", ", ".join(f"{k} ({share:.0%})" for k, share in enumerate(counts / counts.sum()) if share > 0.02))
for k in range(min(3, model.n_clusters_)):
    pole, kappa = model.cluster_parameters_["mean_direction"][k], np.exp(model.cluster_parameters_["log_kappa"][k])
    print(f"cluster {k}: weight {model.weights_[k]:.2f}, pole {np.round(pole, 2)}, concentration {kappa:.1f}")

together = model.co_clustering(normals[groups == 2][:10])
print(f"two fragments are in one cluster with probability {together[np.triu_indices(10, 1)].mean():.2f}")
new = np.array([[0.0, 0.0, 1.0], [0.0, 0.6, -0.8]])
for row, score in zip(new, model.score_samples(new), strict=True):
    print(f"log density of a comet with the pole {row}: {score:.2f} (uniform: {-np.log(4 * np.pi):.2f})")
