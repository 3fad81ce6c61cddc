"""N-tuple networks: their shapes, their weights as kernels read them, and model files."""
