"""What a release promises: names and signatures, one version everywhere, licences that are known.

``python tests/test_release.py`` writes ``tests/public_names.txt`` anew.
"""

import inspect
import re
import tomllib
from enum import Enum
from importlib.metadata import distribution
from pathlib import Path
from types import ModuleType

from packaging.requirements import Requirement

import gamedp

ROOT = Path(__file__).parents[1]
NAMES = Path(__file__).with_name("public_names.txt")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def arguments(function):
    """Return the arguments as a text, with plain defaults, without types, which vary by Python."""
    signature = inspect.signature(function)
    parameters = []
    for parameter in signature.parameters.values():
        default = parameter.default
        if default is not parameter.empty and not isinstance(
            default, bool | int | float | str | None
        ):
            default = ...
        parameters.append(parameter.replace(annotation=parameter.empty, default=default))
    text = str(signature.replace(parameters=parameters, return_annotation=signature.empty))
    return text.replace("Ellipsis", "...")


def lines_of(name, part):
    """Return what a user of one public name relies on, a line each."""
    if isinstance(part, str):
        return [name]
    if not inspect.isclass(part):
        return [f"{name}{arguments(part)}" if callable(part) else name]
    unmade = issubclass(part, BaseException | Enum) or getattr(part, "_is_protocol", False)
    found = [name if unmade else f"{name}{arguments(part)}"]
    members = {member for base in part.__mro__[:-1] for member in vars(base)}
    members |= {field.name for field in getattr(part, "__attrs_attrs__", ())}
    own = [base for base in part.__mro__ if base.__module__.startswith("gamedp")]
    members &= {member for base in own for member in (*vars(base), *base.__annotations__)}
    for member in sorted(members):
        if not member.startswith("_"):
            value = inspect.getattr_static(part, member, None)
            function = getattr(value, "__func__", value)
            called = arguments(function) if inspect.isfunction(function) else ""
            found.append(f"    {member}{called}")
    return found


def public_lines():
    lines = []
    for name in sorted(gamedp.__all__):
        part = getattr(gamedp, name)
        if not isinstance(part, ModuleType):
            lines += lines_of(f"gamedp.{name}", part)
    for package in sorted(gamedp.__all__):
        module = getattr(gamedp, package)
        if isinstance(module, ModuleType):
            for name in sorted(module.__all__):
                part = getattr(module, name)
                if not isinstance(part, ModuleType):
                    lines += lines_of(f"gamedp.{package}.{name}", part)
    return lines


def test_public_names_and_signatures_change_only_with_their_list():
    written = NAMES.read_text(encoding="utf-8").splitlines()
    assert public_lines() == written, (
        "a change is a change for users: `python tests/test_release.py`"
    )


def test_one_version_everywhere():
    version = PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", citation, flags=re.MULTILINE) == [version]
    assert f"gamedp, version {version}, " in (ROOT / "README.md").read_text(encoding="utf-8")
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\d+\.\d+\.\d+)", changes, flags=re.MULTILINE)[0] == version
    assert distribution("gamedp").version == version


PERMISSIVE = {
    *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC"),
    *("MIT", "MIT-CMU", "PSF-2.0", "Zlib"),
}
"""Licences that ask nothing of a program that uses the work; SPDX names."""

BESIDES = {
    "certifi": {"MPL-2.0"},  # certificates of authorities, which requests brings
    "python-flint": {"LGPL-3.0-or-later"},  # for FLINT, GMP and MPFR in its wheels
}
"""What further licences a package has, which README.md tells."""

OLD_NAMES = {
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Python Software Foundation License": "PSF-2.0",
}
"""Licences as the classifiers of older packages name them."""

ONLY_AS_A_FILE = {"quantecon": {"MIT"}}
"""Packages that say nothing about their licence but in its text."""


def licences_of(package):
    """Return the licences that a package is under."""
    fields = distribution(package).metadata
    if expression := fields.get("License-Expression"):
        names = re.sub(r"WITH [\w.-]+", "", expression)  # an exception only gives more freedom
        return set(re.findall(r"[\w.-]+", names)) - {"AND", "OR"}
    names = [
        line.rpartition(" :: ")[2]
        for line in fields.get_all("Classifier", ())
        if line.startswith("License :: OSI Approved :: ")
    ]
    told = {OLD_NAMES.get(name, name) for name in names} or ONLY_AS_A_FILE.get(package, set())
    return told or {fields.get("License") or "none is told"}


def brought_by(requirements):
    """Return the packages that requirements bring on this machine, those of extras included."""
    found, waiting = set(), [(line, "") for line in requirements]
    while waiting:
        line, extra = waiting.pop()
        requirement = Requirement(line)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = requirement.name.lower().replace("_", "-")
        if name not in found:
            found.add(name)
            for further in distribution(name).requires or ():
                waiting += [(further, wanted) for wanted in ("", *requirement.extras)]
    return found


def test_licences_of_all_that_is_installed_with_it():
    extras = PROJECT["optional-dependencies"]
    brought = brought_by(
        [*PROJECT["dependencies"], *(line for lines in extras.values() for line in lines)]
    )
    assert {"attrs", "llvmlite", "python-flint", "h11"} <= brought
    asks = {name: licences_of(name) - PERMISSIVE for name in brought}
    found = {name: licences for name, licences in asks.items() if licences}
    assert found.items() <= BESIDES.items()  # some releases bring less
    assert "python-flint" in found
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert all(f"`{name}` of the extra" in readme for name in BESIDES)


if __name__ == "__main__":
    NAMES.write_text("\n".join([*public_lines(), ""]), encoding="utf-8")
