"""The line of every key and item of a JSON text."""

import json

from hypothesis import given
from hypothesis import strategies as st

from codemode.config.positions import Path, find_positions, show_path


def paths_of(value: object, path: Path = ()) -> list[Path]:
    out: list[Path] = []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        out += [(*path, key), *paths_of(item, (*path, key))]
    return out


def test_keys_and_items_have_the_line_they_begin_on() -> None:
    text = '{\n "a": [\n  1,\n  {"b":\n "x"}],\n "c\\"d": null}'
    lines = find_positions(text).lines
    assert lines == {("a",): 2, ("a", 0): 3, ("a", 1): 4, ("a", 1, "b"): 4, ('c"d',): 6}


def test_brackets_and_escapes_inside_strings_do_not_count() -> None:
    assert find_positions('{"a": "}]{\\\\", \n"b": 1}').lines == {("a",): 1, ("b",): 2}


def test_a_key_that_occurs_twice_is_found_and_its_children_are_not_blamed() -> None:
    assert find_positions('{"a": {"x": 1}, "a": {"x": 2}}').repeated == (("a",),)


def test_a_text_that_is_no_json_gives_no_error() -> None:
    for text in ("", "}", "{", '{"a"', "[,,]", '{"a" "b"}', '"', "]]]{{{", '{"\\x": 1}'):
        find_positions(text)


def test_paths_are_shown_as_people_write_them() -> None:
    assert show_path(("a", "b", 2, "c")) == "a.b[2].c"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)


@given(json_values)
def test_every_key_and_item_is_found_whatever_the_text(value: object) -> None:
    for indent in (None, 1):
        found = find_positions(json.dumps(value, indent=indent))
        assert set(found.lines) == set(paths_of(value))
        assert found.repeated == ()
