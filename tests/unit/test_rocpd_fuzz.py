"""However a database is mutated, reading it gives a valid trace or one `BadInput` sentence.

Nothing else may escape, no memory may be asked for beyond what a file can hold, and the file's
folder stays as it was.
"""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from support.spoilt_rocpd import damaged, loosened, sample, statements, survives, tables


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sample(tmp_path_factory.mktemp("whole") / "1_results.db")


@pytest.fixture(scope="module")
def loose(whole: Path) -> Path:
    """The same rows in tables without types and constraints, so that anything fits in."""
    return loosened(whole, whole.with_name("loose_results.db"))


def test_the_unmutated_ones_are_read(whole: Path, loose: Path) -> None:
    assert survives(whole)
    assert survives(loose)


def survive_damage(whole: Path, folder: Path, seed: int, rounds: int) -> None:
    data = whole.read_bytes()
    random_ = random.Random(seed)
    path = folder / "x_results.db"
    for _ in range(rounds):
        path.write_bytes(damaged(data, random_))
        survives(path)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_and_pages(whole: Path, tmp_path: Path, seed: int) -> None:
    survive_damage(whole, tmp_path, seed, 300)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_damaged_bytes_and_pages_at_length(whole: Path, tmp_path: Path, seed: int) -> None:
    survive_damage(whole, tmp_path, seed, 2000)


@pytest.mark.parametrize("share", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_every_table_and_column_holding_anything(loose: Path, tmp_path: Path, share: int) -> None:
    """Every change under `slow`, every sixth otherwise."""
    data = loose.read_bytes()
    path = tmp_path / "x_results.db"
    read = refused = 0
    with closing(sqlite3.connect(loose)) as db:
        todo = [change for table in tables(db) for change in statements(db, table)]
    for sql, values in todo[::share]:
        path.write_bytes(data)
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA synchronous=OFF")
            db.execute("PRAGMA journal_mode=OFF")
            try:
                db.execute(sql, values)
            except sqlite3.OperationalError:
                continue  # e.g. the only column cannot be dropped
        if survives(path):
            read += 1
        else:
            refused += 1
    assert share * read > 3000 and share * refused > 100


HOSTILE = [
    "CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
    "FROM n) SELECT i AS id, 'g' AS guid, 1 AS kernel_id, 4 AS agent_id, i AS start, i AS end, "
    "1 AS workgroup_size_x, 1 AS workgroup_size_y, 1 AS workgroup_size_z, 1 AS grid_size_x, "
    "1 AS grid_size_y, 1 AS grid_size_z FROM n",
    "CREATE VIEW rocpd_kernel_dispatch AS SELECT * FROM rocpd_kernel_dispatch",
    "CREATE VIEW rocpd_kernel_dispatch AS SELECT zeroblob(1 << 40) AS guid, 1 AS id",
    "CREATE VIEW rocpd_kernel_dispatch AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
    "FROM n) SELECT i AS id, 'g' AS guid FROM n WHERE i < 0",
]


@pytest.mark.parametrize("view", HOSTILE)
def test_a_view_that_never_ends_is_stopped(tmp_path: Path, view: str) -> None:
    path = tmp_path / "x_results.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE VIEW rocpd_info_kernel_symbol AS SELECT 1 AS id, 'k' AS display_name")
        db.execute("CREATE VIEW rocpd_info_agent AS SELECT 4 AS id, 'gfx942' AS name")
        db.execute("CREATE VIEW rocpd_string AS SELECT 1 AS id, 's' AS string")
        db.execute(view)
        db.commit()
    assert not survives(path)
