"""What calls gave: found again by identity with its path, within bounds."""

import gc
import threading

from sandbox.guest.results.remembered import MAX_HELD, Finder, Place, Results, where_from


class Named:
    def __init__(self, name="tools.shop.search"):
        self.name = name

    def label(self):
        return self.name


SEARCH = Named()


def remembered(*values, max_bytes=1_000, size=10):
    results = Results()
    results.begin("<program>", max_bytes)
    for value in values:
        results.add(SEARCH, None, value, size)
    return results


def test_a_part_is_found_with_its_path():
    value = {"items": [{"user": {"login": "ann"}}, {"user": {"login": "bob"}}]}
    finder = Finder(remembered([1], value))
    assert finder.find(value["items"][1]["user"]).steps == ("items", 1, "user")
    assert finder.find(value).steps == ()
    assert finder.find(value["items"][1]["user"]["login"]).steps == ("items", 1, "user", "login")


def test_an_equal_object_is_another_object():
    finder = Finder(remembered({"a": {"b": 1}}))
    assert finder.find({"b": 1}) is None
    assert finder.find({"a": {"b": 1}}) is None


def test_what_has_no_identity_of_its_own_is_not_found():
    finder = Finder(remembered({"a": None, "b": 1, "c": "x", "d": ""}))
    assert [finder.find(value) for value in (None, 1, "x", "")] == [None] * 4


def test_the_newest_call_is_told_first():
    shared = {"a": 1}
    results = remembered([shared])
    results.add(Named("tools.shop.other"), None, {"x": shared}, 10)
    assert where_from(Finder(results).find(shared)) == 'result["x"] of tools.shop.other(...)'


def test_a_value_that_holds_itself_ends_the_search():
    value: dict = {"a": 1}
    value["self"] = [value]
    assert Finder(remembered(value)).find({"b": 2}) is None


def test_only_so_many_values_and_bytes_are_held():
    results = remembered(*([n] for n in range(MAX_HELD + 5)), max_bytes=10**9)
    assert [origin.value for origin in results.held()] == [[n] for n in range(MAX_HELD + 4, 4, -1)]
    results = remembered([1], [2], [3], [4], [5], [6], max_bytes=5_000, size=1_000)
    assert [origin.value for origin in results.held()] == [[6], [5], [4], [3]]


def test_a_value_above_a_quarter_of_the_bound_is_let_go_and_the_others_stay():
    results = remembered([1], [2], max_bytes=1_000)
    results.add(SEARCH, None, {"big": [0]}, 251)
    assert [origin.value for origin in results.held()] == [[2], [1]]


def test_a_value_that_is_not_held_is_found_while_a_variable_holds_it_or_a_part_below():
    value = {"items": [{"name": "a"}], "n": 1}
    results = remembered(value, size=900)
    assert Finder(results).find(value) is None
    assert Finder(results, [value]).find(value["items"][0]).steps == ("items", 0)
    assert Finder(results, [value["items"]]).find(value["items"][0]).steps == ("items", 0)


def test_an_object_that_took_a_dead_ones_place_is_not_taken_for_it():
    value = {"items": [1], "n": 1}
    results = remembered(value, size=900)
    value.clear()
    value["other"] = [1]
    assert results.known(value) is None


def test_a_value_that_is_let_go_is_freed():
    class Watched:
        gone = threading.Event()

        def __del__(self):
            self.gone.set()

    results = remembered(max_bytes=100)
    value = {"a": Watched()}
    results.add(SEARCH, None, value, 50)
    del value
    gc.collect()
    assert Watched.gone.is_set()


def test_what_is_alike_is_at_the_same_path_at_any_index():
    one, other = {"items": [{"a": 1}, {"b": 2}]}, {"items": [{"c": 3}]}
    results = remembered(one, other)
    results.add(Named("tools.shop.other"), None, {"items": [{"d": 4}]}, 10)
    finder = Finder(results)
    place = Place(finder.find(one).origin, ("items", 0))
    assert list(finder.alike(place)) == [{"c": 3}, {"a": 1}, {"b": 2}]


def test_threads_add_at_the_same_time():
    results = remembered(max_bytes=10**8)

    def work():
        for n in range(MAX_HELD // 2):
            results.add(SEARCH, None, [n], 36)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results.held()) == MAX_HELD
    assert results._held_bytes == 100 * MAX_HELD


def test_a_new_program_starts_with_nothing_remembered():
    value = {"a": [1]}
    results = remembered(value)
    results.add(SEARCH, None, {"big": [0]}, 900)
    results.begin("<program>", 1_000)
    assert (results.held(), results.not_held, Finder(results).find(value)) == ([], [], None)
