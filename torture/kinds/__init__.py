"""The campaigns, one subject a module."""
