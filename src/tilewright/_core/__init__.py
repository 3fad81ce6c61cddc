"""Where work runs: threads of this process."""
