"""Campaigns that fork, with the commands whose kernels other tests compile, too."""

from torture.kinds.disks import FullDisk
from torture.kinds.kills import Kills
from torture.kinds.sharing import TwoProcesses


class SmallKills(Kills):
    """Kills of a training and of an evaluation."""

    parts = slice(2)


class SmallFullDisk(FullDisk):
    """The same on a full disk."""

    parts = slice(2)


class SmallTwoProcesses(TwoProcesses):
    """The same by two processes."""

    parts = slice(2)
