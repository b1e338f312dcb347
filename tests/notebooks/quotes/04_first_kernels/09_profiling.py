from tests.notebooks.quoting import about

QUOTES = {"about five hundred times faster": lambda: about(197 / 0.39, 0.05)}
FACTS = {"all of them below about 60 %": "Nsight Compute's own rule, section GPU Speed Of Light"}
GIVEN = (
    "a whole second shows 100 %. So 0 % means that the GPU idles, and 100 % says",
    "100 % busy",
    "Memory Throughput 18 %, Compute Throughput 15 %, achieved occupancy 90 %",
    "memory runs at 18 % of",
)
