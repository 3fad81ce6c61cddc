"""The tables and figures of the papers again, their results beside those of this machine, and sweeps of your own.

papers/*.toml   what each paper did, as data: rows (a configuration, an agent), scales, and the paper's results
experiments     reads them
jobs            trainings and evaluations: what identifies one, and how it is run
store           the results of finished jobs, in one SQLite file
suite           the jobs that an experiment needs, and running those that are missing
results         the results of trials and rows, beside the paper's
figures, report plots and reports
runner          runs experiments to the end
sweep           the same for every combination of some keys
"""
