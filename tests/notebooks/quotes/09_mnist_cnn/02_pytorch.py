from course_utils import measurements
from course_utils.records.measured_files import REFERENCE


def search_seconds() -> float:
    """How long torch.compile searched for the fp32 step of 64 images."""
    runs = measurements("mnist_step", REFERENCE)["runs"]
    wanted = "max-autotune step in a graph", "fp32", 64
    return next(r["ready_s"] for r in runs if (r["way"], r["precision"], r["batch"]) == wanted)


QUOTES = {"the search for that one step took 99 seconds": search_seconds}
