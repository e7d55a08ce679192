"""Records what each kubectl on this machine says on the real control plane; KUBEBUILDER_ASSETS names its programs.

    python -m tests.kubectl.record [MINOR ...]

Without minors: the newest kubectl, the oldest, and one between. Each runs on a control plane of its own.
"""

import sys
import tempfile
from pathlib import Path

from . import golden
from .found import kubectls, middle, newest, oldest
from .planes import real
from .runner import Session
from .steps import SCRIPT
from .verdict import unexpected


def main() -> None:
    chosen = [int(minor) for minor in sys.argv[1:]] or [found[0] for found in (newest(), middle(), oldest()) if found]
    for minor in chosen:
        with tempfile.TemporaryDirectory() as folder, real(Path(folder)) as kubeconfig:
            said = list(Session(kubectls()[minor], kubeconfig, Path(folder)).run(SCRIPT))
        for line in unexpected(said):
            print(line)
        golden.store(minor, said)
        print(f"kubectl 1.{minor}: {len(said)} steps recorded in {golden.path_of(minor)}")


if __name__ == "__main__":
    main()
