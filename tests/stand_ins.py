"""What the tool that runs the shown commands puts in for the reader: words, and small files instead of large ones."""

import re

__all__ = [
    "CODES",
    "FILLED_IN",
    "MEASURES",
    "NOT_RUN",
    "SERVER",
    "STAND_INS",
    "files_read",
    "fill_in",
    "reason_not_to_run",
]

SERVER = "http://127.0.0.1:2048"  # the address that the pages show
# Commands that are not run -> why.
NOT_RUN = {
    r"^(pip|pipx|uv|git) ": "installs or downloads; tests/test_packaging.py installs the wheel",
    r"^make ": "the targets are run while developing, and some install packages",
    r"^ray |--address auto": "needs a cluster, which listens on the network",
    r"^tilewright audit pgx": "needs a package that is not a dependency",
    r"run_shown_commands": "this is the tool",
    r"\bwrk ": "needs a program that is not a dependency",
}
# Commands that end by themselves with another exit code than 0, as the page says.
CODES = {r"examples/course/grade\.py": 1}
# Commands whose printed numbers are measurements, or depend on how a processor rounds.
MEASURES = r"^(taskset|python benchmarks/|python examples/train_)"

_BOARD = "2 2 4 0 / 0 0 0 0 / 0 0 0 0 / 0 0 0 2"
_MINUTE = "runs/minute/model.safetensors"
# What the page leaves to the reader -> what is put in; all that match, in this order.
FILLED_IN = {
    r"…(?=\" --agent)": "0 0 0 0 / 0 0 0 0 / 0 0 0 2",
    r"^tilewright move$": rf'tilewright move "{_BOARD}"',
    r"model=m\.safetensors|model=MODEL": f"model={_MINUTE}",
    r"afterstate:model=…": "afterstate:model=runs/deep-afterstate/model.safetensors",
    r"policy:model=…": "policy:model=runs/supervised/model.safetensors",
    r"prior=…": "prior=runs/supervised/model.safetensors",
    r"model=…": f"model={_MINUTE}",
    r"models (MODEL|PATH)|models(?= --pack)": f"models {_MINUTE}",
    r"--pack$": "--pack packed.safetensors",
    r"--fetch( SOURCE)?$": "--fetch shared",
    r"evaluate AGENT": "evaluate greedy",
    r"evaluate(?= --(exact|perfect))": "evaluate heuristic:depth=2",
    r"evaluate(?= --)": "evaluate greedy",
    r"--games N\b": "--games 10",
    r"--exact$": "--exact --game 2048:rows=2,columns=3",
    r"--perfect TABLE": "--exact --game 2048:rows=2,columns=3 --perfect 2x3.table",
    r"solve GAME": "solve 2048:rows=2,columns=2",
    r"solve(?= --)": "solve 2048:rows=2,columns=2",
    r"endgame:… --out …": "endgame:e000-512,rows=3 --out e000-512.table",
    r"tables FILE": "tables L3-256.table",
    r"table=FILE": "table=L3-256.table",
    r"--again FILE": "--again failing.json",
    r"--record( FILE)?$": "--record recorded.jsonl",
    r"--out FILE": "--out solved.table",
    r"sweep …|sweep(?= --)": "sweep minute lambda=0,0.5 --set games=5000",
    r"my_agents:MyAgent,": "ntuple:",
    r"--csv( FILE)?$": "--csv results.csv",
    r"^tilewright review(?! games)": "tilewright review games.jsonl",
    r"agents NAME": "agents expectimax",
    r"games NAME": "games threes",
    r"reproduce NAME (.*) docs/results": r"reproduce goenawan-2020 \1 reports",  # docs is that of the repository
    r"train(?= --engine)": "train minute",
    r"train CONFIG": "train my-config.toml",
    r"train PRESET": "train minute",
    r"--resume RUN": "--resume runs/minute",
    r"COMMAND": "move",
    r" gymnasium-2048 pgx jumanji$": "",  # after their installation
    r"gymnasium:package:Name-v0": "gymnasium:tilewright.envs:tilewright/2048-v1",
    r"audit$": "audit my_module:make_engine",
    r"--game$": "--game my_games:Fibonacci",
    r"--agent$": "--agent my_agents:Corner",
    r"serve(?!.*--port)": "serve --port 0",
    r"--port 8000": "--port 0",
    r"^tilewright evaluate corner:": r"PYTHONPATH=.:$PYTHONPATH tilewright evaluate corner:",
}
_SMALL = '--set network= --set \'tuples=["0145", "0123"]\' --games 200 --threads 1'
_SHORT = "--set total_steps=2000 --set minutes=0"
_PACKAGE = "my-1.dist-info"  # an installed package, as extending.md describes it
_ENTRY_POINTS = r"[tilewright.agents]\ncorner = my_agents:Corner\n[tilewright.games]\nfibonacci = my_games:Fibonacci\n"
_INPUT = f'{{"game": "2048", "board": "{_BOARD}", "dtype": ""}}'
_FAILING = f'{{"kind": "boards", "seed": 1, "number": 1, "input": {_INPUT}}}'
# Files that other commands of the pages make in minutes or hours -> a command that makes a small one.
STAND_INS = {
    **{
        f"runs/{name}": f"tilewright train {preset} {_SMALL} --out runs/{name}"
        for name, preset in {
            "minute": "minute",
            "mean": "minute",
            "3x4": "3x4",
            "threes-afternoon": "threes-afternoon",
            "szubert-large": "szubert-large",
        }.items()
    },
    **{
        f"runs/{name}": f"tilewright train {preset} {_SHORT} --out runs/{name}"
        for name, preset in {
            "dqn": "dqn",
            "cnn": "dqn --set architecture=cnn_5l_4",
            "deep-afterstate": "deep-afterstate",
            "supervised": "supervised",
        }.items()
    },
    "runs/reproduce": "tilewright reproduce goenawan-2020/table-2",
    "shared": f"mkdir shared; cp {_MINUTE} shared; cd shared; sha256sum *.safetensors > SHA256SUMS",
    "my-config.toml": "tilewright train minute --show > my-config.toml",
    "games.jsonl": "tilewright evaluate greedy --games 3 --seed 1 --record games.jsonl",
    "2x3.table": "tilewright solve 2048:rows=2,columns=3 --out 2x3.table",
    "3x3.table": "tilewright solve 2048:rows=3,columns=3 --goal 32 --out 3x3.table",
    "L3-256.table": "tilewright solve endgame:L3-32 --out L3-256.table",
    "L3-512.table": "tilewright solve endgame:L3-64 --out L3-512.table",
    "442-256.table": "tilewright solve endgame:442-32 --out 442-256.table",
    "442-512.table": "tilewright solve endgame:442-64 --out 442-512.table",
    "failing.json": f"echo '{_FAILING}' > failing.json",
    "my_module.py": "echo 'from tests.audit.engines import RightEngine as make_engine' > my_module.py",
    _PACKAGE: f"mkdir {_PACKAGE}; printf 'Name: my\\n' > {_PACKAGE}/METADATA; "
    f"printf '{_ENTRY_POINTS}' > {_PACKAGE}/entry_points.txt",
}
# What says that a command reads a file which it does not name; without the files that it writes.
_WORDS = {"my_module.py": "my_module:", _PACKAGE: "corner:", "runs/reproduce": "reproduce $"}
_WRITES = r"(?:--(?:out|record|pack|csv|distil)|>|mkdir) "


def fill_in(text: str) -> str:
    """Put something in for everything that the page leaves to the reader."""
    for pattern, words in FILLED_IN.items():
        text = re.sub(pattern, words, text)
    return text


def files_read(text: str) -> list[str]:
    """The stand-ins that a command reads."""
    unwritten = re.sub(rf"{_WRITES}\S+", "", text)
    words = {name: _WORDS.get(name, re.escape(name)) for name in STAND_INS}
    return [name for name, word in words.items() if re.search(rf"(?<![\w.-]){word}", unwritten)]


def reason_not_to_run(text: str) -> str:
    """Why a command is not run, or nothing."""
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, text)), "")
