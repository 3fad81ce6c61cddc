"""One thread for PyTorch: on small networks more threads wait for each other, most of all on a busy machine."""

import torch

torch.set_num_threads(1)
