"""Where networks are computed: on the processor, or on an accelerator.

Boards stay bytes until they are on the device: a grid of 4x4 cells is 16 bytes to send, and the network encodes it
there.
PyTorch is imported when a device is looked for.
"""

import re
from typing import TYPE_CHECKING

from tilewright.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

__all__ = ["DEVICE_FORMS", "autocast_type", "find_device", "is_device_name", "receive", "send"]

DEVICE_FORMS = "auto, cpu, cuda, cuda:N or mps"
_NAME = re.compile(r"auto|cpu|mps|cuda(:(0|[1-9]\d{0,2}))?", re.ASCII)


def is_device_name(name: object) -> bool:
    """Whether a text has the form of a device; the device need not be there.

    >>> is_device_name("cuda:1"), is_device_name("gpu")
    (True, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def find_device(name: str) -> "torch.device":
    """Return a device of this machine.

    Args:
        name: cpu, cuda, cuda:N, mps, or auto for an accelerator if there is one and the processor otherwise.

    Raises:
        UsageError: There is no such device, or none on this machine.
    """
    import torch

    if not is_device_name(name):
        raise UsageError(f"device={name!r}: must be {DEVICE_FORMS}")
    cuda_devices = torch.cuda.device_count() if torch.cuda.is_available() else 0
    has_mps = torch.backends.mps.is_available()
    if name == "auto":
        name = "cuda" if cuda_devices else "mps" if has_mps else "cpu"
    device = torch.device(name)
    there = {"cpu": True, "cuda": (device.index or 0) < cuda_devices, "mps": has_mps}[device.type]
    if not there:
        known = ["cpu", *(f"cuda:{index}" for index in range(cuda_devices)), *(["mps"] if has_mps else [])]
        raise UsageError(f"device={name!r}: PyTorch finds no such device here; there is: {', '.join(known)}")
    return device


def send(array: "NDArray[np.generic]", device: "torch.device") -> "torch.Tensor":
    """Return an array as a tensor on a device; on the processor it shares the memory of the array."""
    import torch

    tensor = torch.from_numpy(array)
    if device.type == "cpu":
        return tensor
    if device.type == "cuda":  # from pinned memory a copy goes on while the processor does something else
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def receive(tensor: "torch.Tensor") -> "NDArray[np.float32]":
    """Return a tensor as an array; one on the processor shares its memory."""
    array: NDArray[np.float32] = tensor.detach().cpu().numpy()
    return array


def autocast_type(device: "torch.device") -> "torch.dtype":
    """The type of 16 bits that convolutions use on a device."""
    import torch

    return torch.float16 if device.type == "mps" else torch.bfloat16
