"""The kubeconfigs in kubeconfigs/: forms that tools write, merged files, broken ones; and what kubectl says of each.

A case is a file, or a folder whose files are merged in the order of their names, with one that is missing in between. Keys and certificates
are made anew for each use: in the files, `@CA@`, `@CERT@` and `@KEY@` stand for them in base64, `@FOLDER@` for the folder that they lie in.
A file that begins with `# refused: ` says the one sentence in which it is refused. Beside each other case lies what kubectl says, recorded
by

    python tests/client/corpus.py KUBECTL
"""

import base64
import datetime
import json
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

FOLDER = Path(__file__).parent / "kubeconfigs"
REFUSED = "# refused: "
CASES = sorted(path.name for path in FOLDER.iterdir() if path.suffix != ".json")


class Corpus:
    """All cases, written into a folder with keys and certificates of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        pki = folder / "pki"
        pki.mkdir()
        ca, _ = _certificate("authority")
        certificate, key = _certificate("client")
        for name, content in (("ca.crt", ca), ("client.crt", certificate), ("client.key", key), ("token", b"from-a-file\n")):
            (pki / name).write_bytes(content)
        self._made = {
            "@CA-LINES@": textwrap.indent("\n".join(textwrap.wrap(_encoded(ca), 64)), "      "),
            "@CA@": _encoded(ca),
            "@CERT@": _encoded(certificate),
            "@KEY@": _encoded(key),
            "@FOLDER@": str(folder),
        }
        for source in FOLDER.rglob("*.yaml"):
            target = folder / source.relative_to(FOLDER)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.made(source.read_text()))

    def made(self, text: str) -> str:
        """With what was made in its places."""
        for name, value in self._made.items():
            text = text.replace(name, value)
        return text

    def unmade(self, text: str) -> str:
        """The other way round."""
        for name, value in self._made.items():
            text = text.replace(value, name)
        return text

    def files(self, case: str) -> list[Path]:
        """The files of a case, in KUBECONFIG's order."""
        path = self.folder / case
        if path.is_file():
            return [path]
        first, *others = sorted(path.rglob("*.yaml"))
        return [first, path / "missing.yaml", *others]

    def refusal(self, case: str) -> str | None:
        """How it is to be refused, None where it is good."""
        path = self.folder / case
        first = "" if path.is_dir() else path.read_text().partition("\n")[0]
        return first.removeprefix(REFUSED).replace("@FILE@", str(path)) if first.startswith(REFUSED) else None

    def recorded(self, case: str) -> dict:
        """What kubectl said when it was asked."""
        return json.loads(self.made((FOLDER / case).with_suffix(".json").read_text()))

    def asked(self, case: str, kubectl: Path) -> dict:
        """What kubectl says now."""
        env = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "KUBECONFIG": os.pathsep.join(map(str, self.files(case)))}
        command = [str(kubectl), "config", "view", "--minify", "--raw", "-o", "json"]
        return json.loads(subprocess.run(command, env=env, cwd=self.folder, check=True, capture_output=True, timeout=60).stdout)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _certificate(name: str) -> tuple[bytes, bytes]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key()).serial_number(1)
    certificate = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    return certificate.public_bytes(pem), key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())


def record(kubectl: Path) -> None:
    """Writes what kubectl says beside each case that is good."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(Path(folder))
        for case in CASES:
            if corpus.refusal(case) is None:
                text = json.dumps(corpus.asked(case, kubectl), indent=1)
                (FOLDER / case).with_suffix(".json").write_text(corpus.unmade(text) + "\n")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
