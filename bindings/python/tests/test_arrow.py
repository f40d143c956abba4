# SPDX-License-Identifier: MIT
"""Arrow arrays: of each type, from each library, with nulls, sliced, in chunks, and forged."""

import ctypes
import gc
import os
import pickle
import random
import resource
import struct
import tempfile
import unittest

import unseen

try:
    import pyarrow as pa
except ImportError:
    pa = None
try:
    import polars
except ImportError:
    polars = None
try:
    import duckdb
except ImportError:
    duckdb = None

LONG = "http://example.com/a/path/that/is/no/inline/view/"
ROWS = ["http://e.com/a", None, "http://E.com/a", "", LONG + "1", LONG + "2", None, LONG + "1", "ä", ""]
NEW = [True, None, False, True, True, True, None, False, True, False]


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


@unittest.skipUnless(pa, "no pyarrow")
class Pyarrow(unittest.TestCase):
    def arrays(self, rows):
        plain = pa.array(rows, pa.string())
        raw = pa.array([r and r.encode() if r is not None else None for r in rows], pa.binary())
        yield plain
        yield raw
        yield pa.array(rows, pa.large_string())
        yield raw.cast(pa.large_binary())
        yield plain.cast(pa.string_view())
        yield raw.cast(pa.binary_view())
        for index in pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64():
            encoded = plain.dictionary_encode()
            if len(encoded.dictionary) >= 2 ** (index.bit_width - 1):
                continue
            yield pa.DictionaryArray.from_arrays(encoded.indices.cast(index), encoded.dictionary)
        yield pa.DictionaryArray.from_arrays(pa.array(range(len(rows))), plain)  # nulls in the dictionary
        yield pa.DictionaryArray.from_arrays(pa.array(range(len(rows))), plain.cast(pa.string_view()))

    def test_types(self):
        for array in self.arrays(ROWS):
            s = unseen.Set()
            mask = s.add_many(array)
            self.assertEqual(mask.tolist(), NEW, array.type)
            self.assertEqual(s.contains_many(array), [None if r is None else True for r in ROWS])
            self.assertEqual(s.remove_many(array).tolist(), NEW)
            self.assertEqual(len(s), 0)

    def test_slices_and_chunks(self):
        rows = ROWS * 500
        expected = unseen.Set().add_many(pa.array(rows)).tolist()
        for array in self.arrays(["before", None, *rows, "behind"]):
            part = array.slice(2, len(rows))
            self.assertEqual(unseen.Set().add_many(part).tolist(), expected, array.type)
            for chunks in [part], [part[:7], part[7:9], part[9:9], part[9:]]:
                self.assertEqual(unseen.Set().add_many(pa.chunked_array(chunks)).tolist(), expected, array.type)
        self.assertEqual(len(unseen.Set().add_many(pa.chunked_array([], pa.string()))), 0)
        self.assertEqual(len(unseen.Set().add_many(pa.array([], pa.string()))), 0)
        self.assertEqual(unseen.Set().add_many(pa.nulls(3)).tolist(), [None] * 3)

    def test_many_rows(self):
        random.seed(4)
        rows = [None if random.random() < 0.1 else f"{LONG}{random.randrange(90_000)}" for _ in range(200_000)]
        seen, expected = set(), []
        for row in rows:
            expected.append(None if row is None else row not in seen)
            seen.add(row)
        for array in self.arrays(rows):
            self.assertEqual(unseen.Set().add_many(array).tolist(), expected, array.type)

    def test_tables(self):
        table = pa.table({"url": ROWS})
        for made in table, table.to_batches()[0], table.slice(0), table.to_reader():
            self.assertEqual(unseen.Set().add_many(made).tolist(), NEW)
        self.assertEqual(unseen.Set().add_many(pa.table({"url": [None, *ROWS]}).slice(1)).tolist(), NEW)
        batch = pa.StructArray.from_arrays([pa.array([None, None, *ROWS])], ["url"]).slice(2)
        self.assertEqual(unseen.Set().add_many(batch).tolist(), NEW)
        with self.assertRaisesRegex(ValueError, "is a table that has not one column"):
            unseen.Set().add_many(pa.table({"a": ROWS, "b": ROWS}))

    def test_other_types(self):
        s = unseen.Set()
        for wrong in pa.array([1, 2]), pa.array([[b"a"]]), pa.array([1.5]), pa.array([True]), pa.array([{"a": 1}]):
            with self.assertRaisesRegex(ValueError, "is not of strings"):
                s.add_many(wrong)
        with self.assertRaisesRegex(ValueError, "is not of strings"):
            s.add_many(pa.array([b"abc"], pa.binary(3)))
        with self.assertRaisesRegex(ValueError, "is a struct with nulls"):
            s.add_many(pa.StructArray.from_arrays([pa.array(["a"])], ["u"], mask=pa.array([True])))
        self.assertEqual(len(s), 0)

    def test_masks(self):
        s = unseen.Set()
        mask = s.add_many(pa.array(ROWS))
        array = pa.array(mask)
        array.validate(full=True)
        self.assertEqual((array.type, array.to_pylist()), (pa.bool_(), NEW))
        array = pa.array(s.add_many(["a", "a", "b"]))
        self.assertEqual((array.null_count, array.to_pylist()), (0, [True, False, True]))
        self.assertEqual(pa.array(s.add_many([])).to_pylist(), [])
        table = pa.table({"url": ROWS})
        kept = table.filter(pa.array(unseen.Set().add_many(table["url"])))
        self.assertEqual(kept["url"].to_pylist(), [r for r, new in zip(ROWS, NEW) if new])

    def test_canonical_forms(self):
        """An Arrow array of the canonical forms, with its nulls."""
        rows = [*ROWS, "not a URL \0", "HTTP://E.com:80/a/../b#c", "http://e.com/" + "ä" * 70_000] * (30 if "UNSEEN_TEST_BRIEF" in os.environ else 300)
        for profile in "crawl", "scrapy", "none":
            forms = [None if row is None else unseen.canonicalize(row, profile) for row in rows]
            for array in self.arrays(rows):
                values = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
                is_text = values in (pa.string(), pa.large_string(), pa.string_view())
                want = forms if is_text else [None if form is None else form.encode() for form in forms]
                strings = unseen.canonicalize_many(array, profile)
                self.assertEqual(strings.tolist(), want, array.type)
                made = pa.array(strings)
                made.validate(full=True)
                self.assertEqual(made.type, pa.large_string() if is_text else pa.large_binary())
                self.assertEqual((made.to_pylist(), made.null_count), (want, want.count(None)))
                part = unseen.canonicalize_many(pa.chunked_array([array[3:5], array[5:5], array[5:99]]), profile)
                self.assertEqual(pa.array(part).to_pylist(), want[3:99])

    def test_canonical_forms_as_a_sequence(self):
        strings = unseen.canonicalize_many(pa.array(["HTTP://e.com", None, ""]))
        self.assertEqual(list(strings), ["http://e.com/", None, ""])
        self.assertEqual((len(strings), strings[0], strings[-2]), (3, "http://e.com/", None))
        self.assertEqual(repr(strings), "<unseen.Strings of 3, 1 of them None>")
        for i in 3, -4:
            with self.assertRaises(IndexError):
                strings[i]
        with self.assertRaisesRegex(TypeError, "cannot be pickled or copied"):
            pickle.dumps(strings)
        with self.assertRaises(TypeError):
            unseen.Strings()
        for empty in pa.array([], pa.string()), pa.chunked_array([], pa.string()):
            self.assertEqual(pa.array(unseen.canonicalize_many(empty)).to_pylist(), [])
        self.assertEqual(pa.array(unseen.canonicalize_many(pa.nulls(3))).to_pylist(), [None] * 3)
        with self.assertRaisesRegex(ValueError, "is not of strings"):
            unseen.canonicalize_many(pa.array([1]))
        with self.assertRaises(unseen.SettingError):
            unseen.canonicalize_many(pa.array(["a"]), "nosuch")

    def test_canonical_forms_are_shared(self):
        """The arrays have the memory of the strings, and outlive them."""
        strings = unseen.canonicalize_many(pa.array([f"HTTP://e.com/{i}" for i in range(10_000)]))
        one, two = pa.array(strings), pa.array(strings)
        self.assertEqual([b.address for b in one.buffers() if b], [b.address for b in two.buffers() if b])
        del strings, one
        gc.collect()
        self.assertEqual(two.to_pylist(), [f"http://e.com/{i}" for i in range(10_000)])

    def test_canonical_forms_are_freed(self):
        """500 columns of 1 MB, whose memory tracemalloc does not see."""
        array = pa.array([f"HTTP://example.com/some/path/{i}" for i in range(25_000)])
        before = None
        for i in range(500):
            if i == 20:
                before = resident()
            pa.array(unseen.canonicalize_many(array))
        self.assertLess(resident() - before, 100 << 20)

    def test_store(self):
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(2):
                with unseen.open(os.path.join(folder, "s")) as s:
                    mask = s.add_many(pa.array(ROWS))
            self.assertEqual(mask.tolist(), [None if r is None else False for r in ROWS])

    def test_a_stream_that_fails(self):
        def batches():
            yield pa.record_batch({"u": [str(i) for i in range(10)]})
            raise LookupError("in the middle")

        s = unseen.Set()
        reader = pa.RecordBatchReader.from_batches(pa.schema({"u": pa.string()}), batches())
        with self.assertRaisesRegex((ValueError, LookupError), "in the middle"):
            s.add_many(reader)
        self.assertEqual(len(s), 10)

    def test_capsules_are_used_once(self):
        class Bad:
            def __init__(self, result):
                self.result = result

            def __arrow_c_array__(self, requested_schema=None):
                return self.result

        good = pa.array(["a"]).__arrow_c_array__()
        self.assertEqual(unseen.Set().add_many(Bad(good)).tolist(), [True])
        for wrong in None, (), (1, 2), good[:1], (good[1], good[0]), [*good]:
            with self.assertRaisesRegex(ValueError, "gave no Arrow array"):
                unseen.Set().add_many(Bad(wrong))

        class BadStream:
            def __arrow_c_stream__(self, requested_schema=None):
                return 1

        with self.assertRaisesRegex(ValueError, "gave no Arrow stream"):
            unseen.Set().add_many(BadStream())


@unittest.skipUnless(polars, "no polars")
class Polars(unittest.TestCase):
    def test_series(self):
        series = polars.Series("url", ROWS)
        for made in series, series.cast(polars.Categorical), polars.concat([series[:4], series[4:]], rechunk=False):
            self.assertEqual(unseen.Set().add_many(made).tolist(), NEW)
        self.assertEqual(unseen.Set().add_many(polars.DataFrame({"url": ROWS})).tolist(), NEW)
        frame = polars.DataFrame({"url": ROWS, "n": range(len(ROWS))})
        kept = frame.filter(polars.Series(unseen.Set().add_many(frame["url"])))
        self.assertEqual(kept["n"].to_list(), [i for i, new in enumerate(NEW) if new])

    def test_canonical_forms(self):
        forms = [None if row is None else unseen.canonicalize(row) for row in ROWS]
        self.assertEqual(polars.Series(unseen.canonicalize_many(polars.Series("url", ROWS))).to_list(), forms)


@unittest.skipUnless(duckdb, "no duckdb")
class DuckDB(unittest.TestCase):
    def test_relation(self):
        with duckdb.connect() as base:
            relation = base.sql("select 'http://e.com/' || (i % 70000) as url from range(200000) t(i) order by i")
            mask = unseen.Set().add_many(relation)
            self.assertEqual((len(mask), mask.count(True)), (200_000, 70_000))


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.c_void_p), ("dictionary", ctypes.POINTER(Schema)),
    ("release", RELEASE), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.c_void_p),
    ("children", ctypes.c_void_p), ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE),
    ("private_data", ctypes.c_void_p)]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Forged:
    """An array with the given numbers and buffers."""

    def __init__(self, format, length, buffers, offset=0, null_count=0, **more):
        self.kept = [None if b is None else ctypes.create_string_buffer(b, max(1, len(b))) for b in buffers]
        pointers = [0 if k is None else ctypes.addressof(k) for k in self.kept]
        self.pointers = (ctypes.c_void_p * max(1, len(pointers)))(*pointers)
        self.release = RELEASE(lambda thing: None)
        self.schema = Schema(format=format, release=self.release)
        self.array = Array(
            length=length, null_count=null_count, offset=offset, n_buffers=len(buffers),
            buffers=ctypes.addressof(self.pointers), release=self.release)
        for name, value in more.items():
            setattr(self.array, name, value)

    def with_dictionary(self, other):
        self.other = other
        self.schema.dictionary = ctypes.pointer(other.schema)
        self.array.dictionary = ctypes.pointer(other.array)
        return self

    def __arrow_c_array__(self, requested_schema=None):
        return (new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
                new_capsule(ctypes.addressof(self.array), b"arrow_array", None))


def i32(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


def i64(*numbers):
    return struct.pack(f"<{len(numbers)}q", *numbers)


class ForgedArrays(unittest.TestCase):
    def refused(self, array, sentence):
        s = unseen.Set()
        for call in s.add_many, s.contains_many:
            with self.assertRaisesRegex(ValueError, sentence):
                call(array)
        with self.assertRaisesRegex(ValueError, sentence):
            unseen.canonicalize_many(array)
        self.assertEqual(len(s), 0)

    def test_a_good_one(self):
        self.assertEqual(unseen.Set().add_many(Forged(b"u", 2, [None, i32(0, 1, 3), b"abc"])).tolist(), [True] * 2)
        self.assertEqual(unseen.Set().add_many(Forged(b"u", 0, [None, None, None])).tolist(), [])
        self.assertEqual(unseen.Set().add_many(Forged(b"u", 1, [None, i32(5, 5), None])).tolist(), [True])

    def test_offsets(self):
        decrease = "has offsets that decrease or are negative"
        self.refused(Forged(b"u", 2, [None, i32(0, 3, 1), b"abc"]), decrease)
        self.refused(Forged(b"u", 2, [None, i32(-1, 0, 1), b"abc"]), decrease)
        self.refused(Forged(b"z", 1, [None, i32(0, -(2**31)), b"abc"]), decrease)
        self.refused(Forged(b"U", 2, [None, i64(0, 3, 1), b"abc"]), decrease)
        self.refused(Forged(b"Z", 1, [None, i64(-1, 1), b"abc"]), decrease)
        self.refused(Forged(b"u", 1, [None, i32(0, 3), None]), "has no data buffer")
        self.refused(Forged(b"u", 1, [None, None, b"abc"]), "has no offsets")

    def test_numbers(self):
        impossible = "has an impossible length or offset"
        good = [None, i32(0, 1), b"a"]
        self.refused(Forged(b"u", -1, good), impossible)
        self.refused(Forged(b"u", 1, good, offset=-1), impossible)
        self.refused(Forged(b"u", 2**63 - 1, good, offset=1), impossible)
        self.refused(Forged(b"u", 1, good, offset=2**62), impossible)
        self.refused(Forged(b"u", 1, good[:2]), "has too few buffers")
        no_buffers = Forged(b"u", 1, good)
        no_buffers.array.buffers = None
        self.refused(no_buffers, "has too few buffers")
        self.refused(Forged(b"u", 1, good, n_buffers=-1), "has too few buffers")
        self.refused(Forged(None, 1, good), "has no type")
        for format in b"", b"uu", b"w:3", b"+l", b"vux":
            self.refused(Forged(format, 1, good), "is not of strings")
        self.refused(Forged(b"+s", 1, [None]), "is a table that has not one column")

    def test_views(self):
        block = b"x" * 100

        def view(*views):
            packed = b"".join(struct.pack("<i4sii", n, b"xxxx", b, at) for n, b, at in views)
            return Forged(b"vu", len(views), [None, packed, block, i64(100)])

        self.assertEqual(unseen.Set().add_many(view((13, 0, 87), (12, 9, 9), (0, 9, 9))).tolist(), [True] * 3)
        outside = "has a view that points outside its buffers"
        for wrong in (13, 0, 88), (13, 1, 0), (13, -1, 0), (13, 0, -1), (2**31 - 1, 0, 2**31 - 1), (101, 0, 0):
            self.refused(view((13, 0, 0), wrong), outside)
        self.refused(view((-1, 0, 0)), "has a view of negative length")
        packed = struct.pack("<i4sii", 13, b"xxxx", 0, 0)
        self.refused(Forged(b"vz", 1, [None, packed, i64(100)]), outside)
        self.refused(Forged(b"vu", 1, [None, packed, block, None]), "has too few buffers")
        self.refused(Forged(b"vu", 1, [None, None, block, i64(100)]), "has too few buffers")
        self.refused(Forged(b"vu", 1, [None, packed, None, i64(100)]), outside)

    def test_dictionaries(self):
        def encoded(format, indices, values=None):
            values = values or Forged(b"u", 2, [None, i32(0, 1, 2), b"ab"])
            return Forged(format, len(indices), [None, bytes(indices)]).with_dictionary(values)

        self.assertEqual(unseen.Set().add_many(encoded(b"C", [1, 0, 1])).tolist(), [True, True, False])
        outside = "has an index that points outside its dictionary"
        self.refused(encoded(b"C", [0, 2]), outside)
        self.refused(encoded(b"c", [0, 255]), outside)
        self.refused(encoded(b"g", [0]), "has a dictionary whose indices are not integers")
        self.refused(encoded(b"C", [0], Forged(b"l", 2, [None, i64(0, 0)])), "is not of strings")
        self.refused(encoded(b"C", [0], encoded(b"C", [0])), "has no dictionary of strings")
        self.refused(encoded(b"C", [0], Forged(b"u", 2, [None, i32(0, 2, 1), b"ab"])), "decrease")


if __name__ == "__main__":
    unittest.main()
