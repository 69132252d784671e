from .structure import Structure as Structure
