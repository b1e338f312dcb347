"""The machine that runs lanes: scheduling, barriers, clusters and asynchronous copies."""
