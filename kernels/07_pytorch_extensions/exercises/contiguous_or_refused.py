import torch


def ready(x):
    """x as a kernel for contiguous float32 and float64 can have it: x itself where it is contiguous
    already, otherwise a contiguous copy.

    Raises TypeError for any other type of elements and ValueError for a tensor that is neither on
    a CPU nor on a CUDA device; the message names the type, or the device, that x has.
    """
    # TODO: refuse what the kernel cannot take; return the rest
    # SOLUTION
    if x.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"x is {x.dtype}, and must be float32 or float64")
    if x.device.type not in ("cpu", "cuda"):
        raise ValueError(f"x is on {x.device}, and must be on a CPU or a CUDA device")
    return x.contiguous()
    # END
