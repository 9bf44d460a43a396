"""The bytes of a recording (docs/recordings.md): a header and arrays in one gzip stream, changes as short numbers."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from potentia.errors import InvalidRun
from potentia.kernel import memory
from potentia.kernel.arrays import Ints
from potentia.kernel.files import whole_file
from potentia.kernel.texts import visible

MAGIC, VERSION = b"potentia", 3
_SECOND = {"until", "sight_row"}  # arrays of the second version: robots that come and go, and walls that hide cells
TYPES = {"u1": np.uint8, "i4": np.int32, "u4": np.uint32, "f4": np.float32, "f8": np.float64}
_HEAD = struct.Struct("<8sII")
_GZIP = 31  # zlib's word for gzip with the largest window
_BLOCK = 1 << 22
_LONGEST = 9  # bytes of a number

Changes = tuple[Ints, Ints, Ints]  # steps, players, actions


# The file ---------------------------------------------------------------------------------------------


def packed(header: dict[str, Any], arrays: dict[str, NDArray[Any]], level: int = 6) -> bytes:
    """A recording as bytes, the same for the same content."""
    # no time and no name in the stream: gzip.compress would be the same, but for the operating system's number
    squeeze = zlib.compressobj(level, zlib.DEFLATED, _GZIP)
    whole = laid_out(header, arrays, _version(header, bool(_SECOND & set(arrays))))
    return b"".join([*map(squeeze.compress, whole), squeeze.flush()])


def laid_out(header: dict[str, Any], arrays: dict[str, NDArray[Any]], version: int = VERSION) -> list[bytes]:
    """A header and arrays, one after the other, before they are compressed."""
    parts: list[bytes] = []
    table: dict[str, Any] = {}
    size = 0
    for name, array in arrays.items():
        raw = np.ascontiguousarray(array)
        kind = f"{raw.dtype.kind}{raw.dtype.itemsize}"
        assert kind in TYPES, (name, raw.dtype)
        table[name] = [kind, list(raw.shape), size]
        content = raw.astype(raw.dtype.newbyteorder("<"), copy=False).tobytes()
        parts.append(content + bytes(-len(content) % 8))
        size += len(parts[-1])
    text = json.dumps(_spelt(header) | {"arrays": table}, allow_nan=False, ensure_ascii=False).encode()
    text += b" " * (-(_HEAD.size + len(text)) % 8)
    return [_HEAD.pack(MAGIC, version, len(text)), text, *parts]


def _version(header: dict[str, Any], more: bool) -> int:
    """The oldest version whose readers understand it.

    The second has changes of any map, and optima over time; the third what a person did on the way.
    """
    if "interventions" in header:
        return VERSION
    drift, optimum = (header.get("map") or {}).get("drift"), header.get("optimum")
    changes = drift and drift.get("kind", "mixture") != "mixture"
    return 2 if changes or (optimum and "times" in optimum) or more else 1


def _spelt(value: Any) -> Any:
    """The same with texts that any file can hold: names may be bytes that are no characters."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {_spelt(name): _spelt(entry) for name, entry in value.items()}
    return [_spelt(entry) for entry in value] if isinstance(value, list | tuple) else value


def unpacked(content: bytes, name: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of a recording; InvalidRun with one sentence for what is none."""
    raw = _inflated(content, name)
    if len(raw) < _HEAD.size or raw[:8] != MAGIC:
        raise InvalidRun(f"{name} is no recording of potentia")
    _, version, length = _HEAD.unpack_from(raw)
    if version > VERSION:
        raise InvalidRun(
            f"{name} is a recording of version {version}, and this potentia reads up to {VERSION}: use a newer one"
        )
    try:
        if version < 1 or length > len(raw) - _HEAD.size:
            raise ValueError("its header is cut short")
        header = json.loads(bytes(raw[_HEAD.size : _HEAD.size + length]).decode(), parse_constant=_refuse)
        json.dumps(header, ensure_ascii=False).encode()  # halves of characters are a ValueError here
        arrays = {str(key): _array(raw, _HEAD.size + length, key, *row) for key, row in header.pop("arrays").items()}
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidRun(f"{name} is damaged: its header is not JSON") from None
    except (TypeError, KeyError, AttributeError):
        raise InvalidRun(f"{name} is damaged: its arrays are not described") from None
    except ValueError as error:
        raise InvalidRun(f"{name} is damaged: {error}") from None
    return header, arrays


def _refuse(name: str) -> None:
    raise ValueError(f"its header holds {name}")


def _inflated(content: bytes, name: str) -> memoryview:
    """The stream without its compression, some at a time: a small file must not fill the memory."""
    inflate, parts, size, rest = zlib.decompressobj(_GZIP), [], 0, content
    try:
        while not inflate.eof:
            part = inflate.decompress(rest, _BLOCK)
            rest = inflate.unconsumed_tail
            size += len(part)
            memory.require(2 * size, f"reading {name}")
            parts.append(part)
            if not part and not rest and not inflate.eof:
                raise InvalidRun(f"{name} is cut short: it ends in the middle of a recording")
    except zlib.error:
        told = "is damaged" if content[:2] == b"\x1f\x8b" else "is no recording of potentia"
        raise InvalidRun(f"{name} {told}") from None
    if inflate.unused_data:
        raise InvalidRun(f"{name} is damaged: something follows the recording")
    return memoryview(b"".join(parts))


def _array(raw: memoryview, begin: int, key: str, kind: str, shape: list[int], offset: int) -> NDArray[Any]:
    if kind not in TYPES or not all(type(n) is int and n >= 0 for n in (offset, *shape)):
        raise ValueError(f"array {key!r:.40} has type {kind!r:.20}, shape {shape!r:.40} and offset {offset!r:.20}")
    count = 1
    for n in shape:
        count *= n
    dtype = np.dtype(TYPES[kind]).newbyteorder("<")
    if begin + offset + count * dtype.itemsize > len(raw):
        raise ValueError(f"array {key!r:.40} is cut short")
    found = np.frombuffer(raw, dtype, count, begin + offset).astype(TYPES[kind]).reshape(shape)
    found.setflags(write=False)
    return found


# Numbers of variable length ---------------------------------------------------------------------------


def short(numbers: ArrayLike) -> NDArray[np.uint8]:
    """Numbers of at least 0, seven bits a byte, lowest first; the high bit says that more follow."""
    values = np.asarray(numbers, np.int64)
    lengths = np.ones(values.size, np.int64)
    for k in range(1, _LONGEST):
        lengths += values >= 1 << 7 * k
    ends = np.cumsum(lengths)
    out = np.empty(int(ends[-1]) if values.size else 0, np.uint8)
    for k in range(int(lengths.max(initial=0))):
        has = lengths > k
        bits = (values[has] >> 7 * k) & 127
        out[(ends - lengths)[has] + k] = bits | np.where(lengths[has] > k + 1, 128, 0)
    return out


def numbers_in(stream: NDArray[np.uint8]) -> Ints:
    """What :func:`short` wrote; ValueError for what it never writes."""
    ends = np.flatnonzero(stream < 128)
    if stream.size and (not ends.size or ends[-1] != stream.size - 1):
        raise ValueError("its changes are cut short")
    begins = np.append(0, ends[:-1] + 1) if ends.size else ends
    lengths = ends - begins + 1
    if lengths.max(initial=0) > _LONGEST:
        raise ValueError("its changes hold a number that is too long")
    out = np.zeros(ends.size, np.int64)
    for k in range(int(lengths.max(initial=0))):
        has = lengths > k
        out[has] |= (stream[begins[has] + k].astype(np.int64) & 127) << 7 * k
    return out


# Changes ----------------------------------------------------------------------------------------------


def encode_changes(changes: Changes, codes: Ints, escape: int | None) -> NDArray[np.uint8]:
    """Changes, by step and player, as one stream; ``codes`` is what each player plays, by move or by action.

    Where a code is ``escape``, the action follows.
    """
    steps, players, actions = changes
    count = len(steps)
    if not count:
        return np.zeros(0, np.uint8)
    first = np.append(True, np.diff(steps) != 0)  # of a group
    sizes = np.diff(np.append(np.flatnonzero(first), count))
    escaped = codes == escape if escape is not None else np.zeros(count, bool)
    several = np.zeros(count, bool)
    several[first] = sizes > 1
    width = 2 + escaped + first + several  # numbers of each change, and of its group before it
    place = np.cumsum(width) - width
    out = np.empty(int(width.sum()), np.int64)
    out[place[first]] = 2 * np.diff(steps[first], prepend=0) + (sizes > 1)
    out[place[several] + 1] = sizes[sizes > 1] - 2
    place = place + first + several
    out[place] = np.where(first, players, np.diff(players, prepend=0))
    out[place + 1] = codes
    out[place[escaped] + 2] = actions[escaped]
    return short(out)


def decode_changes(stream: NDArray[np.uint8], count: int, escape: int | None) -> tuple[Ints, Ints, Ints, Ints]:
    """Steps, players, codes and, where the code is ``escape``, actions (else -1)."""
    numbers = numbers_in(stream).tolist()
    if not 0 <= count <= len(numbers):
        raise ValueError(f"it has {len(numbers)} numbers for {count} changes")
    steps, players, codes, actions = np.full((4, count), -1, np.int64)
    at = done = step = 0
    try:
        while done < count:
            step += numbers[at] // 2
            several = numbers[at] % 2
            size, at, player = numbers[at + 1] + 2 if several else 1, at + 1 + several, 0
            if size > count - done:
                raise ValueError("its changes are not as many as it says")
            for k in range(done, done + size):
                player += numbers[at]
                steps[k], players[k], codes[k] = step, player, numbers[at + 1]
                at += 2
                if codes[k] == escape:
                    actions[k] = numbers[at]
                    at += 1
            done += size
    except (IndexError, OverflowError):
        raise ValueError("its changes are cut short") from None
    if at != len(numbers):
        raise ValueError("something follows its changes")
    return steps, players, codes, actions


# Fields at keyframes ----------------------------------------------------------------------------------


def chained(fields: ArrayLike) -> NDArray[np.uint32]:
    """Fields over time as bits, each combined with those before: what did not change is zeros."""
    bits = np.ascontiguousarray(fields, np.float32).view(np.uint32)
    out = bits.copy()
    out[1:] ^= bits[:-1]
    return out


def unchained(bits: NDArray[np.uint32]) -> NDArray[np.float32]:
    """What :func:`chained` wrote."""
    return np.bitwise_xor.accumulate(bits, axis=0).view(np.float32)


def write_whole(goal: Path, content: bytes) -> Path:
    """Write a file whole or not at all."""
    try:
        with whole_file(goal) as temporary:
            temporary.write_bytes(content)
    except OSError as error:
        raise InvalidRun(f"cannot write {goal}: {error.strerror or error}") from error
    return goal
