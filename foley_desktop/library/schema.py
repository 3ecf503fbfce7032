"""The catalog's tables, and how an older catalog becomes a newer one.

Paths are BLOBs (``os.fsencode``), because file names need not be text. Times are nanoseconds as the
file system gives them. ``indexed`` is the bookkeeping that lets a killed run resume: which clip is
in which derived index, in which version. A row is written unfresh before an index is touched and
made fresh once the index has committed, so that no entry of an index is ever unknown here.
Judgements name clips by id without referring to the clips' table: they outlive a folder that is taken
out and put back; so do ``uses`` (what left the library, where to and when) and what lies in ``bins``, one
for each project. ``spotted`` knows the files rendered for drags. ``edits`` holds what the user wrote over a
file's own words, ``steps`` how to take it back.
"""

from __future__ import annotations

import sqlite3

from foley_desktop.errors import CatalogError

_VERSION_1 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES ('generation', '0');

CREATE TABLE roots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,
    real BLOB NOT NULL,
    volume TEXT NOT NULL DEFAULT '',
    dev INTEGER,
    online INTEGER NOT NULL DEFAULT 1,
    searchable INTEGER NOT NULL DEFAULT 1,
    added_s REAL NOT NULL
);

CREATE TABLE clips (
    id TEXT PRIMARY KEY,
    root_id INTEGER NOT NULL REFERENCES roots(id),
    rel_path BLOB NOT NULL,
    name_key TEXT NOT NULL,
    status TEXT NOT NULL DEFAULT 'ok' CHECK (status IN ('ok', 'missing', 'offline')),
    retained INTEGER NOT NULL DEFAULT 0,
    first_hash TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    audio_hash TEXT NOT NULL,
    duration_s REAL,
    frames INTEGER,
    samplerate INTEGER,
    channels INTEGER,
    bit_depth INTEGER,
    format TEXT NOT NULL DEFAULT '',
    subtype TEXT NOT NULL DEFAULT '',
    badges TEXT NOT NULL DEFAULT '',
    silent INTEGER NOT NULL DEFAULT 0,
    title TEXT NOT NULL DEFAULT '',
    description TEXT NOT NULL DEFAULT '',
    keywords TEXT NOT NULL DEFAULT '',
    category TEXT NOT NULL DEFAULT '',
    subcategory TEXT NOT NULL DEFAULT '',
    catid TEXT NOT NULL DEFAULT '',
    rating INTEGER NOT NULL DEFAULT 0,
    favourite INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    dev INTEGER NOT NULL,
    added_s REAL NOT NULL,
    UNIQUE (first_hash, ordinal)
);
CREATE UNIQUE INDEX clips_present ON clips(root_id, rel_path) WHERE status != 'missing';
CREATE INDEX clips_path ON clips(root_id, rel_path);
CREATE INDEX clips_rel ON clips(rel_path);
CREATE INDEX clips_name ON clips(name_key);
CREATE INDEX clips_audio ON clips(audio_hash);
CREATE INDEX clips_category ON clips(category, subcategory);
CREATE INDEX clips_gone ON clips(status) WHERE status != 'ok';

CREATE TABLE tags (
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    PRIMARY KEY (clip_id, source, position)
) WITHOUT ROWID;

CREATE TABLE rejected (
    root_id INTEGER NOT NULL REFERENCES roots(id) ON DELETE CASCADE,
    rel_path BLOB NOT NULL,
    reason TEXT NOT NULL,
    sentence TEXT NOT NULL,
    reader TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    dev INTEGER NOT NULL,
    PRIMARY KEY (root_id, rel_path)
) WITHOUT ROWID;

CREATE TABLE indexed (
    index_name TEXT NOT NULL,
    version TEXT NOT NULL,
    clip_id TEXT NOT NULL,
    fresh INTEGER NOT NULL,
    empty INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (index_name, version, clip_id)
) WITHOUT ROWID;
CREATE INDEX indexed_clip ON indexed(clip_id);

CREATE TABLE orphans (
    index_name TEXT NOT NULL,
    version TEXT NOT NULL,
    clip_id TEXT NOT NULL,
    PRIMARY KEY (index_name, version, clip_id)
) WITHOUT ROWID;

CREATE TABLE collections (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    created_s REAL NOT NULL
);
CREATE TABLE collection_clips (
    collection_id INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    added_s REAL NOT NULL,
    PRIMARY KEY (collection_id, clip_id)
) WITHOUT ROWID;
CREATE INDEX collection_clips_clip ON collection_clips(clip_id);

CREATE TABLE markers (
    id INTEGER PRIMARY KEY,
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    start_s REAL NOT NULL,
    end_s REAL,
    text TEXT NOT NULL DEFAULT ''
);
CREATE INDEX markers_clip ON markers(clip_id);

CREATE TABLE searches (
    query TEXT PRIMARY KEY,
    at_s REAL NOT NULL,
    saved INTEGER NOT NULL DEFAULT 0,
    count INTEGER NOT NULL DEFAULT 1
);

CREATE TABLE golden_sets (name TEXT PRIMARY KEY, document TEXT NOT NULL, saved_s REAL NOT NULL);
CREATE TABLE judgements (
    golden TEXT NOT NULL,
    query TEXT NOT NULL,
    clip_id TEXT NOT NULL,
    grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 2),
    at_s REAL NOT NULL,
    PRIMARY KEY (golden, query, clip_id)
) WITHOUT ROWID;
CREATE TABLE reports (
    id INTEGER PRIMARY KEY,
    golden TEXT NOT NULL,
    mode TEXT NOT NULL,
    document TEXT NOT NULL,
    saved_s REAL NOT NULL
);
"""

_VERSION_2 = """
DROP TABLE golden_sets;
DROP TABLE judgements;
DROP TABLE reports;

CREATE TABLE golden_sets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    created_s REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE golden_queries (
    set_id TEXT NOT NULL REFERENCES golden_sets(id) ON DELETE CASCADE,
    query_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (set_id, query_id)
) WITHOUT ROWID;

CREATE TABLE judgements (
    set_id TEXT NOT NULL,
    query_id TEXT NOT NULL,
    clip TEXT NOT NULL,
    grader TEXT NOT NULL,
    grade INTEGER NOT NULL CHECK (grade BETWEEN 0 AND 2),
    at_s REAL NOT NULL,
    PRIMARY KEY (set_id, query_id, clip, grader),
    FOREIGN KEY (set_id, query_id) REFERENCES golden_queries(set_id, query_id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE grading_sessions (
    set_id TEXT NOT NULL REFERENCES golden_sets(id) ON DELETE CASCADE,
    grader TEXT NOT NULL,
    state TEXT NOT NULL,
    PRIMARY KEY (set_id, grader)
) WITHOUT ROWID;

CREATE TABLE grading_steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    set_id TEXT NOT NULL REFERENCES golden_sets(id) ON DELETE CASCADE,
    grader TEXT NOT NULL,
    query_id TEXT NOT NULL,
    clip TEXT,
    grade_before INTEGER,
    at_before REAL
);
CREATE INDEX grading_steps_session ON grading_steps(set_id, grader);

CREATE TABLE baselines (
    id INTEGER PRIMARY KEY,
    set_id TEXT NOT NULL REFERENCES golden_sets(id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    mode TEXT NOT NULL,
    saved_s REAL NOT NULL,
    document TEXT NOT NULL,
    UNIQUE (set_id, name, mode)
);
"""
# What version 1 had for these no part of the app ever wrote to.

_VERSION_3 = """
ALTER TABLE roots ADD COLUMN locked INTEGER NOT NULL DEFAULT 1;
ALTER TABLE clips ADD COLUMN sidecar INTEGER NOT NULL DEFAULT 0;
ALTER TABLE markers ADD COLUMN source TEXT NOT NULL DEFAULT 'user';

CREATE TABLE edits (
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    source TEXT NOT NULL,
    at_s REAL NOT NULL,
    PRIMARY KEY (clip_id, field)
) WITHOUT ROWID;

CREATE TABLE steps (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    label TEXT NOT NULL,
    at_s REAL NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0,
    document TEXT NOT NULL
);
"""

_VERSION_4 = """
CREATE TABLE tags_in_order (
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    position INTEGER NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (clip_id, source, position)
) WITHOUT ROWID;
INSERT INTO tags_in_order (clip_id, source, position, field, value)
    SELECT clip_id, source, position, field, value FROM tags;
DROP TABLE tags;
ALTER TABLE tags_in_order RENAME TO tags;
"""
# A table without row ids names the columns of its key first and in the key's order: of any other,
# the integrity check of older SQLites (3.40 for one) says that it is full of NULLs.

_VERSION_5 = """
CREATE TABLE bins (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    created_s REAL NOT NULL,
    current INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE bin_items (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    bin_id INTEGER NOT NULL REFERENCES bins(id) ON DELETE CASCADE,
    clip_id TEXT NOT NULL,
    start_s REAL,
    end_s REAL,
    treatment TEXT NOT NULL DEFAULT '',
    added_s REAL NOT NULL
);
CREATE INDEX bin_items_bin ON bin_items(bin_id);

CREATE TABLE uses (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    clip_id TEXT NOT NULL,
    how TEXT NOT NULL,
    place TEXT NOT NULL DEFAULT '',
    project TEXT NOT NULL DEFAULT '',
    file BLOB NOT NULL,
    start_s REAL,
    end_s REAL,
    at_s REAL NOT NULL
);
CREATE INDEX uses_clip ON uses(clip_id, at_s);

CREATE TABLE spotted (
    file BLOB PRIMARY KEY,
    recipe TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('made', 'offered', 'taken')),
    clip_id TEXT NOT NULL,
    project TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    at_s REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX spotted_recipe ON spotted(recipe);
"""
# Uses and bins name clips by id without referring to the clips' table, as judgements do.

_VERSION_6 = """
CREATE TABLE saved_searches (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE COLLATE NOCASE,
    document TEXT NOT NULL,
    saved_s REAL NOT NULL
);
CREATE TABLE refused_categories (
    clip_id TEXT NOT NULL REFERENCES clips(id) ON DELETE CASCADE,
    catid TEXT NOT NULL,
    PRIMARY KEY (clip_id, catid)
) WITHOUT ROWID;
"""

MIGRATIONS: tuple[str, ...] = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4, _VERSION_5, _VERSION_6)
"""Script ``n`` leads from schema version ``n`` to ``n + 1``."""

SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a catalog to :data:`SCHEMA_VERSION`, all in one transaction.

    Raises:
        CatalogError: it was written by a newer version of the app.
    """
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while this one waited for the lock.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise CatalogError(
                "This library was made by a newer version of Foley Desktop.",
                hint="Update Foley Desktop, or choose another folder with --library DIR.",
            )
        for script in MIGRATIONS[version:]:
            for statement in script.split(";\n"):
                if statement.strip():
                    connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
