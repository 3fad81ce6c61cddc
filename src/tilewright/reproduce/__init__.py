"""The papers' tables and figures, theirs beside what this machine measures.

papers/*.toml   what each paper did, as data: rows (a recipe, an agent), scales, and the paper's own figures
experiments     reads them
jobs            a training or a test: what it is, its key, and how it is run
store           finished jobs, in one SQLite file
suite           which jobs an experiment needs, and running those that are missing
findings        what the finished jobs say of each row, beside the paper
figures, page   pictures and the report
"""
