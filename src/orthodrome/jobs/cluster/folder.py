"""The folder of a clustering (see `jobs.fit_folder`).

folder/rows.npz                         the rows; `training` says which of them clusters are learnt from
folder/{columns,names,levels}.txt       names of columns and rows, and the texts of categories
"""

from __future__ import annotations

from orthodrome.jobs.cluster.job import ClusterJob
from orthodrome.jobs.fit_folder import FitFolder

FITS = FitFolder(
    ClusterJob,
    command="cluster",
    kind="clustering",
    inputs=("job.json", "rows.npz", "columns.txt", "names.txt", "levels.txt"),
    results=("result.npz", "summary.json"),
    ours=r"(job|summary)\.json|(rows|result)\.npz|(columns|names|levels)\.txt|"
    r"(clusters|profiles|labels|co-clustering)\.csv|figures/(profiles|co-clustering|trace)\.(png|svg)",
)
