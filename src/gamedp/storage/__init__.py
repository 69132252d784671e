"""Solutions, policies and certificates on disk: arrays, and a manifest with their checksums.

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

from gamedp.storage.kinds import load, save

__all__ = ["load", "save"]
