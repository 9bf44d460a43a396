"""Damage to NumPy's files: arrays of other types, shapes and numbers, headers that lie, archives that play tricks."""

from __future__ import annotations

import io
import os
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np

from tests.fuzz.trees import as_json, damage_tree, parsed

_MAGIC = b"\x93NUMPY"
Members = list[tuple[str, bytes]]


def npy(array: Any) -> bytes:
    """An array as a file; of Python objects too, which no reader may load."""
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def unpacked(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def packed(members: Members, compress: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compress) as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)  # without the time of day
            info.compress_type = compress
            archive.writestr(info, content)
    return file.getvalue()


def raw_npy(header: str, body: bytes = b"", version: tuple[int, int] = (1, 0), length: int | None = None) -> bytes:
    """A file with this header, whatever it says."""
    text = header.encode("utf-8", "surrogatepass") + b"\n"
    size = struct.pack("<H" if version == (1, 0) else "<I", (len(text) if length is None else length) % 2**16)
    return _MAGIC + bytes(version) + size + text + body


_SHAPES = (
    "(10**10,)",
    "(10000000000,)",
    "(100000, 100000)",
    "(-1,)",
    "(0,)",
    "(2, 0, 3)",
    "()",
    "5",
    "(1.5,)",
    "('a',)",
)
_SHAPES += ("(4294967296, 4294967296)", "(9223372036854775807,)", "(99999999999999999999999,)", "(1,)*70", "(True,)")
_SHAPES += ("(1000000000,)", "(250000000,)", f"({'1, ' * 64})", f"({'1, ' * 65})", "(2, 2, 2)", "(3, 4)", "None")
_DTYPES = (
    "<f8",
    "|O",
    "<U10",
    "|S5",
    "<M8[s]",
    "<c16",
    "|V8",
    "<i8",
    "|b1",
    ">f8",
    "<f2",
    "<U1000000000",
    "|V0",
    "x",
    "<f16",
)
_DTYPES += ("<U0", "|S0", "<u8", "<i1")


def odd_header(random: Random) -> tuple[bytes, str]:
    shape, dtype = random.choice(_SHAPES), random.choice(_DTYPES)
    order = random.choice(("False", "False", "True", "0", "None"))
    header = f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': {shape}, }}"
    kind = random.randrange(12)
    if kind == 0:
        header = "(" * 5000 + ")" * 5000
    elif kind == 1:
        header = "{" + "'a': {" * 3000
    elif kind == 2:
        header = f"{{'descr': [('a', '{dtype}'), ('b', '<i4')], 'fortran_order': False, 'shape': {shape}}}"
    elif kind == 3:
        header = "__import__('os').abort()"
    elif kind == 4:
        header = header.replace("'shape'", "'\ud800'")
    elif kind == 5:
        header = header.replace("}", "'x': " + "9" * 5000 + "}")
    version = random.choice(((1, 0), (1, 0), (1, 0), (2, 0), (3, 0), (4, 0), (0, 0)))
    length = random.choice((None, None, None, 0, 5, 65535))
    body = random.randbytes(random.choice((0, 8, 64, 4096)))
    return raw_npy(header, body, version, length), f"header {header[:90]!a}, version {version}, length {length}"


def odd_array(random: Random, array: Any) -> tuple[bytes, str]:
    """The array changed in type, shape or numbers."""
    if array.size > 10**7:  # of a type without bytes: no copy of it would end
        return npy(np.zeros(3)), "three zeros"
    array = np.array(array)
    if array.dtype.kind == "O":
        return npy(array), "as it is"
    how = random.randrange(10)
    if how == 0:
        kind = random.choice(
            ("f4", "f8", "i4", "i8", "u8", "?", "c16", "U3", "S3", ">f8", ">i8", "f2", "i1", "O", "M8[s]")
        )
        try:
            with np.errstate(all="ignore"):
                return npy(array.astype(kind)), f"as {kind}"
        except (ValueError, TypeError, OverflowError):
            return npy(np.zeros(array.shape, kind)), f"zeros as {kind}"
    if how == 1:
        return npy(array[None]), "with one axis more"
    if how == 2:
        return npy(array.reshape(-1)), "flat"
    if how == 3:
        shape = tuple(random.choice((0, 1, size, size + 1)) for size in array.shape)
        return npy(np.resize(array, shape) if array.size else array), f"resized to {shape}"
    if how == 4 and array.ndim:
        return npy(array[: random.randrange(array.shape[0] + 1)]), "shorter"
    if how == 5:
        return odd_header(random)
    if how == 6:
        return npy(np.asfortranarray(array.T)), "transposed"
    if how == 7 and array.dtype.kind == "U":
        text = random.choice(("", "x" * 100_000, "\x1b[2J", "lower", "\u202e", "{}", "[]", "null", '{"format": 3}'))
        return npy(np.array(text)), f"text {text[:20]!a}"
    if array.size and array.dtype.kind in "fiub":
        array = array.copy()
        entries = (0, 1, -1, 2, 5, 127, -128, 2**31 - 1, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63))
        if array.dtype.kind == "f":
            entries += (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 1.7e308, -0.0, 0.5)
        value = random.choice(entries)
        place = random.randrange(array.size) if random.random() < 0.8 else slice(None)
        with np.errstate(all="ignore"):
            array.reshape(-1)[place] = np.array(value).astype(array.dtype)
        return npy(array), f"{value} at {place}"
    return npy(array), "as it is"


def damage_npy(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    if random.random() < 0.4:
        return odd_header(random)
    return odd_array(random, np.load(io.BytesIO(content), allow_pickle=False))


# Archives ---------------------------------------------------------------------------------------------


def damage_npz(random: Random, content: bytes, other: bytes) -> tuple[bytes, str]:
    """A damaged archive: mostly one member is changed, else the archive itself."""
    members = unpacked(content)
    if random.random() < 0.7:
        told = [_damage_member(random, members) for _ in range(random.choice((1, 1, 1, 2)))]
        return packed(members), "; ".join(told)
    return random.choice(_TRICKS)(random, members, other)


def _damage_member(random: Random, members: Members) -> str:
    index = random.randrange(len(members))
    name, content = members[index]
    if random.random() < 0.1:
        members[index] = (name, random.choice((b"", b"text", _MAGIC, content[:20], content + b"x" * 100, pickled())))
        return f"{name} is no array"
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # damaged already
        return f"{name} again"
    if name == "about.npy" and random.random() < 0.9:
        return _damage_about(random, members, index, array)
    changed, told = odd_array(random, array)
    members[index] = (name, changed)
    return f"{name} {told}"


def _damage_about(random: Random, members: Members, index: int, array: Any) -> str:
    """The JSON that saved runs and chunks carry, as a text or as bytes."""
    try:
        tree = parsed(str(array) if array.dtype.kind == "U" else array.tobytes().decode())
    except (ValueError, RecursionError):  # damaged already
        return "about again"
    told = damage_tree(random, tree, "json")
    changed = as_json(tree)
    whole = np.frombuffer(changed.encode(), np.uint8)
    members[index] = ("about.npy", npy(np.array(changed) if array.dtype.kind == "U" else whole))
    return f"about: {told}"


class _Trap:
    """Whoever unpickles this ends."""

    def __reduce__(self) -> Any:
        return os._exit, (66,)


@cache
def pickled() -> bytes:
    return npy(np.array([_Trap()], object))


@cache
def bomb(megabytes: int) -> tuple[bytes, int, int]:
    """An array of so many megabytes of zeros, a thousand times smaller; its checksum and its size."""
    head = raw_npy(f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({megabytes * 2**16}, 2), }}")
    zeros, crc = bytes(2**20), zlib.crc32(head)
    for _ in range(megabytes if megabytes < 1000 else 0):  # a wrong one is found when all was unpacked
        crc = zlib.crc32(zeros, crc)
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    first = packer.compress(head) + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)  # stands by itself: can be repeated
    return first + block * megabytes + packer.flush(), crc, len(head) + megabytes * 2**20


def bombed(name: str, megabytes: int) -> tuple[bytes, str]:
    return stored(name, *bomb(megabytes), zipfile.ZIP_DEFLATED), f"{name} unpacks to {megabytes} MB"


def _bomb(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    """One member unpacks to a thousand times its size."""
    megabytes = random.choice((64, 256, 2500)) if random.random() < 0.5 else 64
    name = random.choice(members)[0]
    return bombed(name, megabytes)


def stored(name: str, body: bytes, crc: int, claimed: int, method: int = 0) -> bytes:
    """An archive of one member with a size that it claims."""
    word = name.encode()
    common = struct.pack("<HHHHHIII", 20, 0x800, method, 0, 33, crc, len(body), claimed % 2**32)
    local = b"PK\x03\x04" + common + struct.pack("<HH", len(word), 0) + word + body
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + common + struct.pack("<HHHHHII", len(word), 0, 0, 0, 0, 0, 0) + word
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def _lying(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    """Sizes, methods and offsets in the directory that are not those of the members."""
    content = bytearray(packed(members))
    place = content.find(b"PK\x01\x02")
    for _ in range(random.randrange(len(members))):
        place = max(content.find(b"PK\x01\x02", place + 4), place)
    offset, size = random.choice(((8, 2), (10, 2), (16, 4), (20, 4), (24, 4), (24, 4), (24, 4), (28, 2), (42, 4)))
    value = random.choice((0, 1, 8, 14, 99, 2**16 - 1, 2**31 - 1, 2**32 - 1, 10**9, 3 * 10**9))
    content[place + offset : place + offset + size] = struct.pack("<Q", value)[:size]
    return bytes(content), f"{value} at offset {offset} of the directory's entry"


def _twice(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    import warnings

    name, content = random.choice(members)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile says so
        return packed([*members, (name, random.choice((content, npy(np.zeros(3)))))]), f"{name} twice"


def _compressed(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    method = random.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    return packed(members, method), f"compressed by method {method}"


def _without(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    name = random.choice(members)[0]
    return packed([one for one in members if one[0] != name]), f"without {name}"


_NAMES = (
    "",
    "x",
    "../x.npy",
    "/x.npy",
    "x" * 60_000,
    "é.npy",
    "\x1b[2J.npy",
    "a/b.npy",
    "moves_99999.npy",
    "about",
    "worth",
)


def _renamed(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    index, name = random.randrange(len(members)), random.choice((*_NAMES, random.choice(members)[0] + ".npy"))
    old = members[index][0]
    changed = [*members[:index], (name, members[index][1]), *members[index + 1 :]]
    if len({one for one, _ in changed}) < len(changed):
        return packed(members), "as it is"
    return packed(changed), f"{old} renamed {name[:20]!a}"


def _more(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    name = random.choice(_NAMES)
    return packed([*members, (name, npy(np.zeros(3)))]), f"{name[:20]!a} added"


def _crowd(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    count = random.choice((1000, 5000))
    one = npy(np.ones((1, 1), bool))
    return packed([*members, *((f"moves_{k}.npy", one) for k in range(count))]), f"{count} members more"


def _empty(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    return packed([]), "no members"


def _no_archive(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    return random.choice(
        (members[0][1], pickled(), b"PK\x03\x04", b"PK\x05\x06" + bytes(18))
    ), "not an archive of arrays"


def _mixed(random: Random, members: Members, other: bytes) -> tuple[bytes, str]:
    """A member of another file."""
    theirs, index = unpacked(other), random.randrange(len(members))
    name, content = random.choice(theirs)
    members[index] = (members[index][0], content)
    return packed(members), f"{members[index][0]} is {name} of another file"


_TRICKS: tuple[Callable[[Random, Members, bytes], tuple[bytes, str]], ...] = (
    _bomb,
    _lying,
    _lying,
    _lying,
    _twice,
    _twice,
    _compressed,
    _without,
    _without,
    _renamed,
    _renamed,
    _more,
    _crowd,
    _empty,
    _no_archive,
    _mixed,
    _mixed,
)
