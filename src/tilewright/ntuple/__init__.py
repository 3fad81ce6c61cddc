"""N-tuple networks: architectures, weights, stages, tile-downgrading, value functions and model files."""
