"""Solutions, policies and certificates on disk: arrays, and a manifest with their checksums.

::

    solution/
        manifest.json
        values-5f8c0b1d2e3a4956.npy
        ...

The name of an array's file includes the hash of its content, so no file is ever overwritten with
another content, and the manifest is replaced last, in one step: whenever a save is interrupted, the
folder holds the old solution or the new one. Nothing is pickled. The rules of the game are imported
from where they are defined, and compared with their saved digest.
"""

from gamedp.storage.kinds import load, save

__all__ = ["load", "save"]
