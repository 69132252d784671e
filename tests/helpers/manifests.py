"""Manifests of saved folders, changed by hand."""

import json

from gamedp.storage import folder as folders


def rewrite(folder, change):
    """Change the manifest as someone could who can compute the checksum."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest["content"])
    noun = manifest["format"].removeprefix("gamedp ")
    path.write_text(folders._manifest_text(manifest["gamedp"], manifest["content"], noun))
