"""What the machine has: programs, packages, rights."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FAKETIME = "/usr/lib/*/faketime/libfaketimeMT.so.1"


class Missing(Exception):
    """A sentence for a person about a program or a right that the machine lacks."""


def find_program(given):
    """The program under test: the given one, or the newest build."""
    if given:
        path = Path(given).resolve()
        if not os.access(path, os.X_OK):
            raise Missing(f"{path} is not an executable program: give --program FILE")
        return path
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [target / kind / "pombo" for kind in ("release", "debug")]
    built = [path for path in built if os.access(path, os.X_OK)]
    if not built:
        raise Missing("there is no build: run `cargo build --release`, or give --program FILE")
    return max(built, key=lambda path: path.stat().st_mtime)


def postgres_tools():
    """The directory of the newest PostgreSQL server."""
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    found = sorted(found, key=lambda path: float(path.parts[-3]))
    return found[-1].parent if found else None


def nats_server():
    """The NATS server, also where scripts/test unpacks it."""
    places = [os.environ.get("PATH", ""), "/usr/sbin", str(ROOT / "target/tools/nats/usr/sbin")]
    return shutil.which("nats-server", path=":".join(places))


def faketime():
    """The library that gives one process another wall clock."""
    found = sorted(Path("/").glob(FAKETIME.lstrip("/")))
    return str(found[0]) if found else None


def needed_packages(wants_faketime):
    """Debian's packages that are missing."""
    missing = []
    if postgres_tools() is None:
        missing.append("postgresql")
    if shutil.which("psql") is None:
        missing.append("postgresql-client")
    if nats_server() is None:
        missing.append("nats-server")
    if is_root() and shutil.which("ip", path=search_path()) is None:
        missing.append("iproute2")
    if wants_faketime and faketime() is None:
        missing.append("libfaketime")
    return missing


def install(packages):
    """Installs packages, without starting their services if the system allows that."""
    if not packages:
        return
    print(f"installing {' '.join(packages)}", flush=True)
    prefix = [] if is_root() else ["sudo"]
    env = prefix + ["env", "DEBIAN_FRONTEND=noninteractive"]
    subprocess.run(env + ["apt-get", "update", "-q"], check=False, stdout=subprocess.DEVNULL)
    command = ["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages]
    done = subprocess.run(env + command, check=False, stdout=subprocess.DEVNULL)
    if done.returncode:
        raise Missing(f"apt-get cannot install {' '.join(packages)}")


def search_path():
    return os.environ.get("PATH", "") + ":/usr/sbin:/sbin"


def is_root():
    return os.geteuid() == 0


def has_namespaces():
    """Whether network namespaces can be made here."""
    if not is_root() or shutil.which("ip", path=search_path()) is None:
        return False
    name = f"pombo-try-{os.getpid()}"
    env = dict(os.environ, PATH=search_path())
    made = subprocess.run(["ip", "netns", "add", name], env=env, capture_output=True, check=False)
    if made.returncode:
        return False
    subprocess.run(["ip", "netns", "del", name], env=env, check=False)
    return True


def new_directory():
    """A temporary directory that the user of PostgreSQL may enter."""
    path = Path(tempfile.mkdtemp(prefix="pombo-trouble-"))
    path.chmod(0o711)
    return path
