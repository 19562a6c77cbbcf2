"""What pip asks for a wheel: the files of the module, zipped as PEP 427 says. It needs no other package, so that
installing needs no network. The libraries inside are for this kind of machine alone, and the wheel's name says so."""

import base64
import hashlib
import pathlib
import sysconfig
import zipfile

NAME, VERSION = "@NAME@", "1"
HERE = pathlib.Path(__file__).resolve().parent


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel and gives its name."""
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    tag, info = f"py3-none-{platform}", f"{NAME}-{VERSION}.dist-info"
    files = {f"{NAME}/{file.name}": file.read_bytes() for file in sorted((HERE / NAME).iterdir()) if file.is_file()}
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\nRequires-Python: >=3.9\n"
                                 "Provides-Extra: torch\nRequires-Dist: torch>=2.4; extra == 'torch'\n").encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: course\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = "".join(f"{name},sha256={digest(content)},{len(content)}\n" for name, content in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return wheel


def digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("This package has libraries for one machine: build a wheel of it, no source distribution.")
