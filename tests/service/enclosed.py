"""A command as a container or a unit runs it: another user, a root that is read-only, a few folders of its own.

Where this process may not make such a root, the places are replaced by folders in the command and its environment.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import perdure

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc")
SOURCE = Path(perdure.__file__).parents[1]
READ = (*SYSTEM, sys.base_prefix, sys.prefix, str(SOURCE))
"""What a command sees, and may not write."""
PERDURE = [sys.executable, "-m", "perdure"]
ENTER = """
set -e
IFS='
'
root=$1 user=$2 read=$3 written=$4
shift 4
mount --make-rprivate /
mount -t tmpfs -o mode=755 none "$root"
mkdir "$root/tmp"
mount -t tmpfs -o mode=1777 none "$root/tmp"
for place in $read; do
  if [ -L "$place" ]; then
    cp -P "$place" "$root$place"
  elif [ -d "$place" ]; then
    mkdir -p "$root$place"
    mount --rbind "$place" "$root$place"
    mount -o remount,bind,ro "$root$place"
  fi
done
for pair in $written; do
  mkdir -p "$root${pair#*=}"
  mount --bind "${pair%%=*}" "$root${pair#*=}"
done
mount -o remount,ro "$root"
exec chroot --userspec="$user:$user" "$root" "$@"
"""


@cache
def may_enclose():
    """Whether this process may make a root for a command."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "--mount", "true"], check=False, capture_output=True).returncode == 0


class Enclosure:
    """Runs commands as one user with the folders that this user may write.

    Args:
        folder: Of the test, for what is kept outside.
        user: The number of the user.
        environment: Of each command, and all of it besides what finds Perdure.
        written: Place -> the test's folder that is there.
    """

    def __init__(self, folder, user, environment, written):
        self.folder, self.user, self.written = folder, user, written
        self.environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE), **environment}
        for kept in self.written.values():
            kept.mkdir(exist_ok=True, mode=0o700)
            if may_enclose():
                os.chown(kept, user, user)

    def popen(self, words, **options):
        command, environment = [str(word) for word in words], self.environment
        if may_enclose():
            root = self.folder / "root"
            root.mkdir(exist_ok=True)
            pairs = "\n".join(f"{kept}={place}" for place, kept in self.written.items())
            enter = ["sh", "-c", ENTER, "sh", str(root), str(self.user), "\n".join(READ), pairs]
            command = ["unshare", "--mount", *enter, *command]
        else:
            command = [self._replaced(word) for word in command]
            environment = {name: self._replaced(value) for name, value in environment.items()}
        return subprocess.Popen(command, env=environment, cwd="/", text=True, **options)

    def run(self, words):
        """Return exit status, standard output and standard error of a command that ends by itself."""
        with self.popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                out, errors = process.communicate(timeout=120)
            finally:
                process.kill()
        return process.returncode, out, errors

    @contextmanager
    def running(self, words):
        """Run a command until the block ends; gives the process, and what reads its standard error so far."""
        told = self.folder / "stderr"
        with (
            told.open("w") as errors,
            self.popen(words, stdout=subprocess.DEVNULL, stderr=errors) as process,
        ):
            try:
                yield process, told.read_text
            finally:
                process.kill()

    def _replaced(self, text):
        for place, kept in self.written.items():
            if text == place or text.startswith(f"{place}/"):
                return f"{kept}{text[len(place) :]}"
        return text
