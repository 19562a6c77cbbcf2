"""Attention by kernels of "FlashAttention, kernel by kernel".

forward(), backward()   on arrays of NumPy, or of any framework that has DLPack
pytorch.attention()     on tensors of PyTorch, with gradients; `pytorch` is imported only by those who use it
"""

from .attention import BUILD, backward, defaults, forward
from .kernel_library import LibraryError

__all__ = ["BUILD", "LibraryError", "backward", "defaults", "forward"]
