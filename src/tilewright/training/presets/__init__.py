"""Training recipes that ship with the package, one small TOML file each; copy one and change it."""
