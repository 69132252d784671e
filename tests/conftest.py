"""What all tests share."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def fresh_cache(tmp_path_factory):
    """Keep compiled rules apart from the person's own, and compile them anew in each run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAMEDP_CACHE_DIR", str(tmp_path_factory.mktemp("compiled-rules")))
        yield
