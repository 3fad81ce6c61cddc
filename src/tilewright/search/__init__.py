"""Searchers: kernels that look ahead before they move."""
