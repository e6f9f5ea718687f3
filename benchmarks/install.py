"""Installs the peers: Python packages into .venv-peers, PoCL from the system's package manager."""

import os
import shutil
import subprocess
import sys
import venv

from benchmarks.peers import PEERS_PYTHON, ROOT

REQUIREMENTS = ROOT / "benchmarks" / "requirements-peers.txt"
DEBIAN_PACKAGES = ("gcc", "libgomp1", "pocl-opencl-icd", "ocl-icd-libopencl1")


def install_peers() -> int:
    """Installs what can be, says the remedy for what cannot; 0 when all is there."""
    folder = PEERS_PYTHON.parents[1]
    if not PEERS_PYTHON.exists():
        venv.create(folder, with_pip=True)
        # The environment must never be committed, whatever the repository's own ignore file says.
        (folder / ".gitignore").write_text("*\n")
    pip = [str(PEERS_PYTHON), "-m", "pip", "install", "--quiet", "--requirement", str(REQUIREMENTS)]
    if subprocess.run(pip, check=False).returncode != 0:
        print("pip could not install the peers, see above", file=sys.stderr)
        return 1
    return install_system_packages()


def install_system_packages() -> int:
    """gcc and PoCL, where apt-get is and we may use it."""
    absent = [package for package in DEBIAN_PACKAGES if not installed(package)]
    if not absent:
        return 0
    command = ["apt-get", "install", "--yes", *absent]
    sudo = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    able = shutil.which("apt-get") and (not sudo or shutil.which("sudo"))
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if able and subprocess.run([*sudo, *command], check=False, env=environment).returncode == 0:
        return 0
    print(f"install these as an administrator: {' '.join(command)}", file=sys.stderr)
    return 1


def installed(package: str) -> bool:
    """Whether dpkg knows the package as installed; False where there is no dpkg."""
    if not shutil.which("dpkg-query"):
        return False
    query = ["dpkg-query", "--show", "--showformat=${db:Status-Status}", package]
    return subprocess.run(query, capture_output=True, text=True, check=False).stdout == "installed"
