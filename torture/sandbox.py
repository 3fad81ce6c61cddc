"""Where a run may write, and as whom: its own folder below the temporary folder, as a user without rights.

Started as root, the run goes on as `nobody`. Where nobody cannot read the interpreter, it keeps one right of root: to
read all files (CAP_DAC_READ_SEARCH). It can never write outside its folder.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

__all__ = [
    "SandboxError",
    "check_inside",
    "drop_privileges",
    "environment",
    "memory_folder",
    "new_folder",
    "root",
    "small_disk",
]

HOME = "tilewright-torture"
_DISK = "disk"  # a small file system of its own, where mounting is allowed
_DISK_KILOBYTES = 3_072
_REPOSITORY = Path(__file__).parents[1]


class SandboxError(Exception):
    """Nothing was run, because it would not be safe."""


def _home(user: int) -> Path:
    """Return the folder that the runs of a user share: it keeps their kernels."""
    return Path(tempfile.gettempdir()).resolve() / f"{HOME}-{user}"


def new_folder() -> Path:
    """Make the folder of a run of this user.

    Raises:
        SandboxError: The folder of the user's runs belongs to somebody else, or others can write to it.
    """
    home = _home(os.getuid())
    home.mkdir(mode=0o700, exist_ok=True)
    found = home.lstat()
    if home.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise SandboxError(f"{home}: must be a folder of this user alone")
    return Path(tempfile.mkdtemp(prefix="run-", dir=home))


def root() -> Path:
    """Return the folder outside which nothing is written: that of the run, or the temporary folder in a test."""
    return Path(os.environ.get("TORTURE_ROOT") or tempfile.gettempdir())


def memory_folder(folder: Path) -> Path:
    """Return a folder for small files that are written again and again: on the small disk, which is memory, if any."""
    if not os.environ.get("TORTURE_DISK"):
        return folder
    return Path(tempfile.mkdtemp(dir=os.environ["TORTURE_DISK"]))


def check_inside(path: Path | str, folder: Path) -> Path:
    """Return a path that a command will write to.

    Raises:
        SandboxError: The path is outside the folder, also if it gets there by a link.
    """
    found = Path(path).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise SandboxError(f"{path}: is outside {folder}; nothing is written there")
    return found


def environment(folder: Path) -> dict[str, str]:
    """Return the variables of the worker processes: nothing points outside the folder of the runs."""
    home = folder.parent
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LC_ALL", "TZ")}
    paths = [str(_REPOSITORY / "src"), str(_REPOSITORY), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    return kept | {
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "PYTHONUTF8": "1",
        "TORTURE_ROOT": str(folder),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "MPLCONFIGDIR": str(home / "matplotlib"),
        "MPLBACKEND": "agg",
        "TILEWRIGHT_CACHE": str(home / "kernels"),
        "TORTURE_CHECKED_CACHE": str(home / "kernels-checked"),
        "TORTURE_DISK": str(folder / _DISK) if os.path.ismount(folder / _DISK) else "",
        "OMP_NUM_THREADS": "1",
    }


def drop_privileges(arguments: list[str]) -> int | None:
    """As root, run the same command as `nobody`, and return its exit code; None for any other user.

    Raises:
        SandboxError: There is no way to drop the rights of root here.
    """
    if not hasattr(os, "getuid") or os.getuid() != 0:
        return None
    import pwd

    nobody = pwd.getpwnam("nobody")
    setpriv = shutil.which("setpriv")
    if setpriv is None:
        raise SandboxError("started as root, and there is no setpriv to go on as nobody: start it as another user")
    command = [setpriv, f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", "--no-new-privs"]
    able = [*command, "--inh-caps=-all"]
    if not _can_read(able):
        able = [*command, "--inh-caps=-all,+dac_read_search", "--ambient-caps=+dac_read_search"]
        if not _can_read(able):
            raise SandboxError(f"nobody cannot read {sys.base_prefix}: start it as a user who can")
    home = _home(nobody.pw_uid)
    home.mkdir(mode=0o700, exist_ok=True)
    if home.is_symlink() or home.lstat().st_uid not in (0, nobody.pw_uid):
        raise SandboxError(f"{home}: belongs to somebody else")
    os.chown(home, nobody.pw_uid, nobody.pw_gid)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=home))
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    with _kept_if_failed(folder), small_disk(folder, nobody.pw_uid):
        process = subprocess.Popen(
            [*able, sys.executable, "-m", "torture", *arguments],
            cwd=folder,
            env=environment(folder) | {"TORTURE_FOLDER": str(folder)},
        )
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the child got it, too, and ends with its table


@contextlib.contextmanager
def _kept_if_failed(folder: Path) -> Iterator[None]:
    """Remove the folder of a run after a block, unless it has failing inputs."""
    try:
        yield
    finally:
        if not (folder / "failures").exists():
            shutil.rmtree(folder, ignore_errors=True)


def _can_read(command: list[str]) -> bool:
    """Tell whether a user without rights can run this interpreter and import the package."""
    inner = "import numba, tilewright.games, torture.campaign"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    paths = os.pathsep.join([str(_REPOSITORY / "src"), str(_REPOSITORY), sysconfig.get_path("purelib")])
    with tempfile.TemporaryDirectory() as cache:
        run = [*command, sys.executable, "-c", code]
        variables = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": paths, "TILEWRIGHT_CACHE": cache, "HOME": cache}
        return subprocess.run(run, env=variables, capture_output=True, check=False, cwd="/").returncode == 0


@contextlib.contextmanager
def small_disk(folder: Path, owner: int) -> Iterator[None]:
    """Mount a small file system in a folder for the time of a block; where that is not allowed, do without."""
    disk, mount = folder / _DISK, shutil.which("mount")
    disk.mkdir()
    options = f"size={_DISK_KILOBYTES}k,uid={owner},mode=0700,nosuid,nodev"
    command = [mount or "mount", "-t", "tmpfs", "-o", options, "tilewright-torture", str(disk)]
    mounted = mount is not None and not subprocess.run(command, capture_output=True, check=False).returncode
    try:
        yield
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(disk)], check=False)  # noqa: S607
        with contextlib.suppress(OSError):
            disk.rmdir()
