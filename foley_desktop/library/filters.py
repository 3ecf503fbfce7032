"""Filters: from ``--where`` expressions to conditions, and from conditions to SQL.

The catalog is the only truth about a clip's length, rating or category, so every filter is resolved
here, to a set of clip ids that the indexes then search among.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, cast

from foley_desktop.errors import FilterError
from foley_desktop.models import Comparison, Condition, Filters

Sql = tuple[str, list[Any]]

TEXT_FIELDS = ("folder", "category", "subcategory", "catid", "collection", "format", "badge", "project")
NUMBER_FIELDS = ("duration", "rate", "channels", "depth", "rating")
DATE_FIELDS = ("date", "used")
FIELDS = (*TEXT_FIELDS, *NUMBER_FIELDS, "favourite", *DATE_FIELDS)

_ALIASES = {
    "favorite": "favourite",
    "samplerate": "rate",
    "sample_rate": "rate",
    "bits": "depth",
    "bit_depth": "depth",
    "length": "duration",
    "badges": "badge",
}
_EXPRESSION = re.compile(r"\s*([A-Za-z_]+)\s*(<=|>=|!=|==|=|<|>)\s*(.*?)\s*\Z", re.DOTALL)
_NUMBER = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\Z")
_UNITS: dict[str, dict[str, float]] = {
    "duration": {"s": 1, "sec": 1, "ms": 0.001, "min": 60, "m": 60, "h": 3600},
    "rate": {"hz": 1, "khz": 1000, "k": 1000},
    "depth": {"bit": 1, "bits": 1},
    "channels": {},
    "rating": {},
}
_WORDS = {"channels": {"mono": 1.0, "stereo": 2.0}}
_YES = {
    "yes": True,
    "true": True,
    "1": True,
    "on": True,
    "no": False,
    "false": False,
    "0": False,
    "off": False,
}

_SAME_DURATION_S = 0.0005
"""Lengths closer than this count as equal: nobody types them to the last digit."""


def parse_where(expressions: Sequence[str]) -> Filters:
    """Filters from expressions like ``duration<5`` or ``category=DOORS``, all of which have to hold.

    Raises:
        FilterError: an expression is not understood; its sentence names it.
    """
    return Filters(tuple(_parse(expression) for expression in expressions))


def _parse(expression: str) -> Condition:
    match = _EXPRESSION.match(expression)
    if match is None:
        raise FilterError(
            f"The filter {expression!r} is not a comparison.",
            hint="Write it like duration<5 or category=DOORS.",
        )
    name, op, value = match.groups()
    name = _ALIASES.get(name.lower(), name.lower())
    op = "=" if op == "==" else op
    if name not in FIELDS:
        raise FilterError(
            f"There is no filter called {match.group(1)!r}.", hint="Filters: " + ", ".join(FIELDS) + "."
        )
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        value = value[1:-1]
    condition = Condition(name, cast(Comparison, op), _value(name, value, expression))
    ordered = name in NUMBER_FIELDS or (name in DATE_FIELDS and isinstance(condition.value, str))
    if op not in ("=", "!=") and not ordered:
        raise FilterError(f"The filter {expression!r} can only be asked with = or !=.")
    return condition


def _value(name: str, value: str, expression: str) -> str | float | bool:
    if name in NUMBER_FIELDS:
        return _number(name, value, expression)
    if name == "favourite":
        if value.lower() not in _YES:
            raise FilterError(f"The filter {expression!r} takes yes or no.")
        return _YES[value.lower()]
    if name == "used" and value.lower() in _YES:
        return _YES[value.lower()]
    if name in DATE_FIELDS:
        _day(value, expression)
        return value
    if not value and name != "category":
        raise FilterError(f"The filter {expression!r} lacks a value.")
    return value


def _number(name: str, value: str, expression: str) -> float:
    if value.lower() in _WORDS.get(name, {}):
        return _WORDS[name][value.lower()]
    if name == "duration" and re.fullmatch(r"\d+(:\d{1,2}){1,2}(\.\d+)?", value):
        seconds = 0.0
        for part in value.split(":"):
            seconds = seconds * 60 + float(part)
        return seconds
    match = _NUMBER.match(value)
    factor = None
    if match is not None:
        factor = 1 if not match.group(2) else _UNITS[name].get(match.group(2).lower())
    if match is None or factor is None:
        raise FilterError(f"The filter {expression!r} needs a number.")
    number = float(match.group(1)) * factor
    if number in (float("inf"), float("-inf")):
        raise FilterError(f"The filter {expression!r} needs a smaller number.")
    return number


def _day(value: str, expression: str) -> datetime:
    try:
        return datetime.strptime(value, "%Y-%m-%d")
    except ValueError as error:
        raise FilterError(f"The filter {expression!r} needs a day like 2024-05-31.", cause=error) from error


# --- SQL


def filters_to_sql(filters: Filters) -> Sql:
    """A boolean SQL expression over ``clips c JOIN roots r``, and its parameters.

    Raises:
        FilterError: a condition has a field, comparison or value that does not exist.
    """
    parts, parameters = ["1"], []
    for condition in filters.conditions:
        sql, values = _condition(condition)
        parts.append(f"({sql})")
        parameters += values
    return " AND ".join(parts), parameters


def _condition(condition: Condition) -> Sql:
    name, op = _ALIASES.get(condition.field, condition.field), condition.op
    if op not in ("<", "<=", "=", "!=", ">=", ">") or name not in FIELDS:
        raise FilterError(
            f"The filter {condition} is not understood.", hint="Filters: " + ", ".join(FIELDS) + "."
        )
    if name in NUMBER_FIELDS:
        return _number_sql(name, op, condition.value)
    if name == "used" and (isinstance(condition.value, bool) or condition.value in _YES):
        return _used_sql(condition, op)
    if name in DATE_FIELDS:
        return _date_sql(name, op, str(condition.value))
    if op not in ("=", "!="):
        raise FilterError(f"The filter {condition} can only be asked with = or !=.")
    if name == "favourite":
        wanted = (
            condition.value if isinstance(condition.value, bool) else _YES.get(str(condition.value).lower())
        )
        if wanted is None:
            raise FilterError(f"The filter {condition} takes yes or no.")
        return "c.favourite = ?", [int(wanted == (op == "="))]
    sql, parameters = _TEXT_SQL[name](str(condition.value))
    return (sql, parameters) if op == "=" else (f"NOT ({sql})", parameters)


def _number_sql(name: str, op: str, value: Any) -> Sql:
    if isinstance(value, str):
        value = _number(name, value, f"{name}{op}{value}")
    column = {"duration": "c.duration_s", "rate": "c.samplerate", "depth": "c.bit_depth"}.get(
        name, f"c.{name}"
    )
    if name == "duration" and op in ("=", "!="):
        near = f"IFNULL(abs({column} - ?) <= {_SAME_DURATION_S}, 0)"
        return (near if op == "=" else f"NOT {near}"), [float(value)]
    if op == "!=":
        return f"{column} IS NOT ?", [float(value)]
    return f"IFNULL({column} {op} ?, 0)", [float(value)]


_LAST_USE = "IFNULL((SELECT max(u.at_s) FROM uses u WHERE u.clip_id = c.id), 0)"


def _used_sql(condition: Condition, op: str) -> Sql:
    if op not in ("=", "!="):
        raise FilterError(f"The filter {condition} can only be asked with = or !=, or with a day.")
    value = condition.value
    wanted = value if isinstance(value, bool) else _YES[str(value).lower()]
    found = "EXISTS (SELECT 1 FROM uses u WHERE u.clip_id = c.id)"
    return (found if wanted == (op == "=") else f"NOT {found}"), []


def _date_sql(name: str, op: str, value: str) -> Sql:
    """A day, of the file's time in nanoseconds or of the last use in seconds."""
    day = _day(value, f"{name}{op}{value}")
    column, unit = ("c.mtime_ns", 1_000_000_000) if name == "date" else (_LAST_USE, 1)

    def moment(at: datetime) -> int:
        try:
            return int(at.timestamp()) * unit
        except (OverflowError, OSError, ValueError):
            return (at - datetime(1970, 1, 1)) // timedelta(seconds=1) * unit

    try:
        following = day + timedelta(days=1)
    except OverflowError:
        following = day
    start, end = (max(-(2**63), min(2**63 - 1, moment(m))) for m in (day, following))
    within = f"({column} >= ? AND {column} < ?)"
    before = column if name == "date" else f"{column} > 0 AND {column}"  # what was never used is in no past
    table: dict[str, Sql] = {
        "=": (within, [start, end]),
        "!=": (f"NOT {within}", [start, end]),
        "<": (f"{before} < ?", [start]),
        "<=": (f"{before} < ?", [end]),
        ">": (f"{column} >= ?", [end]),
        ">=": (f"{column} >= ?", [start]),
    }
    return table[op]


def folder_bytes(path: str) -> bytes:
    """A folder as stored: no slash at its end."""
    raw = os.fsencode(path)
    return raw.rstrip(b"/") or raw[:1]


def below(column: str, folder: bytes) -> Sql:
    """SQL for "this path lies below ``folder``" as a range, which an index can answer."""
    if folder in (b"", b"."):
        return "1", []
    return f"({column} >= ? AND {column} < ?)", [folder + b"/", folder + b"0"]


def _folder_sql(value: str) -> Sql:
    """Clips below a folder given absolute or relative to a root, in either normal form of its name."""
    parts: list[str] = []
    parameters: list[Any] = []
    for form in _spellings(value):
        folder = folder_bytes(os.path.normpath(form)) if form else b""
        if os.path.isabs(form):
            # Compared bytewise: the root is the folder or lies in it, or the folder lies in the root.
            separator = b"" if folder.endswith(b"/") else b"/"
            parts.append("r.path = ? OR substr(r.path, 1, ?) = ?")
            parameters += [folder, len(folder + separator), folder + separator]
            full = "CAST(r.path || X'2F' || c.rel_path AS BLOB)"
            parts.append(f"substr({full}, 1, ?) = ?")
            parameters += [len(folder + separator), folder + separator]
        else:
            sql, values = below("c.rel_path", folder)
            parts.append(sql)
            parameters += values
    return " OR ".join(parts), parameters


def _spellings(value: str) -> list[str]:
    forms = [value]
    for normal_form in ("NFC", "NFD"):
        try:
            other = unicodedata.normalize(normal_form, value)  # type: ignore[arg-type]
        except ValueError:
            continue
        if other not in forms:
            forms.append(other)
    return forms


def _equal_sql(column: str) -> Callable[[str], Sql]:
    def build(value: str) -> Sql:
        return f"{column} = ? COLLATE NOCASE", [_storable(value)]

    return build


def _collection_sql(value: str) -> Sql:
    return (
        "c.id IN (SELECT m.clip_id FROM collection_clips m JOIN collections n ON n.id = m.collection_id "
        "WHERE n.name = ?)",
        [_storable(value)],
    )


def _project_sql(value: str) -> Sql:
    found = "EXISTS (SELECT 1 FROM uses u WHERE u.clip_id = c.id AND u.project = ? COLLATE NOCASE)"
    return found, [_storable(value)]


_BADGES = {"cut_short": "truncated", "bad_samples": "non_finite_samples", "chained": "chained_stream"}
"""What people call badges, where that is not the code's own words."""


def _badge_sql(value: str) -> Sql:
    code = value.lower().strip().replace(" ", "_").replace("-", "_")
    return "instr(' ' || c.badges || ' ', ' ' || ? || ' ') > 0", [_storable(_BADGES.get(code, code))]


def _storable(value: str) -> str:
    return value.encode("utf-8", "replace").decode("utf-8")


_TEXT_SQL: dict[str, Callable[[str], Sql]] = {
    "folder": _folder_sql,
    "category": _equal_sql("c.category"),
    "subcategory": _equal_sql("c.subcategory"),
    "catid": _equal_sql("c.catid"),
    "format": _equal_sql("c.format"),
    "collection": _collection_sql,
    "project": _project_sql,
    "badge": _badge_sql,
}
