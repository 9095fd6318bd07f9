"""Certificates for the acceptance items, made with the openssl command.

    authority = Authority(folder, "our CA")
    member = authority.issue("worker")            # member.certificate, member.key, member.ca
    environment = member.environment()            # HUMMER_TLS_*
"""
import dataclasses
import pathlib
import shutil
import subprocess


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)


@dataclasses.dataclass
class Certificate:
    certificate: pathlib.Path
    key: pathlib.Path
    ca: pathlib.Path

    def environment(self):
        return {"HUMMER_TLS_CA": str(self.ca), "HUMMER_TLS_CERTIFICATE": str(self.certificate),
                "HUMMER_TLS_KEY": str(self.key)}

    def trusting(self, other):
        return dataclasses.replace(self, ca=other.ca)

    def copy_to(self, folder):
        folder.mkdir(exist_ok=True)
        target = Certificate(folder / "certificate", folder / "key", folder / "ca")
        for name in ("certificate", "key", "ca"):
            # As a careful administrator does it: a reader never sees half a file.
            part = folder / "part"
            shutil.copy(getattr(self, name), part)
            part.rename(getattr(target, name))
        return target


class Authority:
    def __init__(self, folder, name, key="ed25519"):
        self.kind = key
        self.folder = folder / name.replace(" ", "_")
        self.folder.mkdir()
        self.key, self.certificate = self.folder / "ca.key", self.folder / "ca.pem"
        openssl("req", "-x509", "-newkey", key, "-nodes", "-days", 30, "-subj", f"/CN={name}",
                "-keyout", self.key, "-out", self.certificate)

    def issue(self, name, days=30, alternatives="IP:127.0.0.1,DNS:localhost"):
        key, request, signed = (self.folder / f"{name}.{kind}" for kind in ("key", "csr", "pem"))
        openssl("req", "-newkey", self.kind, "-nodes", "-subj", f"/CN={name}", "-addext",
                f"subjectAltName={alternatives}", "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-days",
                days, "-copy_extensions", "copy", "-out", signed)
        return Certificate(signed, key, self.certificate)
