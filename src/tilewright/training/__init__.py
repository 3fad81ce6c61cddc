"""Training sessions: configurations, run folders, callbacks and reports."""
