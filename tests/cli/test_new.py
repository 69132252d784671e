"""``gamedp new``: packages for games and solvers, whole or not at all."""

from pathlib import Path

import pytest
from outside import installed

from gamedp.cli.new import files_of
from gamedp.testing import check_game

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"
FILES = ["pyproject.toml", "README.md", "src/gamedp_my_game/__init__.py", "tests/test_my_game.py"]


def test_the_example_is_what_is_written_for_its_name_and_a_page():
    files = files_of("chomp", "game")
    for path in ("src/gamedp_chomp/__init__.py", "tests/test_chomp.py"):
        assert (EXAMPLE / path).read_text(encoding="utf-8") == files.pop(path)
    assert list(files) == ["pyproject.toml", "README.md"]
    for path, text in files.items():
        lines = iter((EXAMPLE / path).read_text(encoding="utf-8").splitlines())
        missing = [line for line in text.splitlines() if line not in lines]  # in this order
        assert not missing, path


@pytest.mark.parametrize("name", ["my-game", "my_game"])
@pytest.mark.parametrize("kind", ["game", "solver"])
def test_a_package_is_written_and_said(run, tmp_path, name, kind):
    code, out, err = run("new", name, "--directory", tmp_path, *["--solver"] * (kind == "solver"))
    assert (code, err) == (0, "")
    folder = tmp_path / "gamedp-my-game"
    assert out.splitlines()[0] == f"{folder} holds the {kind} {name}:"
    assert f"  cd {folder}" in out.splitlines()
    assert [path.name for path in tmp_path.iterdir()] == ["gamedp-my-game"]
    files = files_of(name, kind)
    assert list(files) == FILES
    for path, text in files.items():
        assert f"  {path}" in out.splitlines()
        assert (folder / path).read_text(encoding="utf-8") == text
        assert "$" not in text
    assert len([path for path in folder.rglob("*") if path.is_file()]) == len(files)


def test_json(run_json, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run_json("new", "my-game") == {
        "name": "my-game",
        "kind": "game",
        "folder": "gamedp-my-game",
        "files": FILES,
    }
    assert Path(FILES[0]).name in [path.name for path in Path("gamedp-my-game").iterdir()]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["My Game"], "'My Game' cannot be the name of a new game; choose one of small letters"),
        (["../up"], "'../up' cannot be the name of a new game"),
        (["1st"], "'1st' cannot be"),
        (["a--b", "--solver"], "'a--b' cannot be the name of a new solver"),
        (["ä"], "'ä' cannot be"),
        (["none"], "the class of none would be None, which is taken; choose another name."),
        (["state"], "the class of state would be State, which is taken"),
        (["wubbel"], "there is a game wubbel already, as `gamedp games` tells"),
        (["retrograde", "--solver"], "there is a solver retrograde already, as `gamedp solvers`"),
        (["there"], "gamedp-there exists already; choose another name, or another --directory."),
        (["new", "--directory", "nowhere"], "there is no folder nowhere to write gamedp-new in."),
        (["new", "--directory", "file"], "there is no folder file to write gamedp-new in."),
    ],
)
def test_what_cannot_be_written_is_refused(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gamedp-there").mkdir()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    code, out, err = run("new", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_nothing_is_left_half_written(run, tmp_path, monkeypatch):
    written = []
    whole = Path.write_text

    def full_disk(path, *arguments):
        if len(written) == 2:
            raise OSError(28, "No space left on device", str(path))
        written.append(path)
        return whole(path, *arguments)

    monkeypatch.setattr(Path, "write_text", full_disk)
    code, out, err = run("new", "my-game", "--directory", tmp_path)
    assert (code, out) == (1, "")
    assert "No space left on device" in err
    assert len(written) == 2
    assert list(tmp_path.iterdir()) == []


def test_the_game_is_known_by_its_name(run, run_json, tmp_path, monkeypatch):
    with installed("my-game", "game", tmp_path / "package", monkeypatch) as module:
        found = run_json("solve", "my-game", "--set", "rows=3,columns=3", "--compile", "never")
        assert (found["lower"], found["upper"]) == (1, 1)
        check_game(module.MyGame(rows=2, columns=3), compile=False)
        code, _, err = run("new", "my-game", "--directory", tmp_path)
        assert (code, err.split(",")[0]) == (2, "gamedp: there is a game my-game already")
