"""Solutions on disk: a folder of arrays, and a manifest with their checksums.

::

    solution/
        manifest.json
        values-5f8c0b1d2e3a4956.npy
        ...

The name of an array's file has the hash of its content, so that no file is ever overwritten with
something else, and the manifest is replaced last, in one step: whenever a save is interrupted, the
folder holds the old solution or the new one. Nothing is pickled. What the manifest cannot hold, the
rules of the game, is imported from where it is defined, and compared with what was saved.
"""

from gamedp.storage.certificates import load_certificate, save_certificate
from gamedp.storage.folder import noun_of
from gamedp.storage.policies import load_policy, save_policy
from gamedp.storage.solutions import load_solution, save_solution

__all__ = [
    "load_certificate",
    "load_policy",
    "load_solution",
    "noun_of",
    "save_certificate",
    "save_policy",
    "save_solution",
]
