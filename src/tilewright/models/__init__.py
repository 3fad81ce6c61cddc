"""The networks that come with the package, one a game; how they were trained is in docs/models.md."""
