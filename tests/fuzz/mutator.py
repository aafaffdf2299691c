"""Mutates files: bytes of any file, members of archives with correct checksums, values of TOML and JSON.

Everything is decided by a `random.Random`, so a seed gives the same file again.
"""

import copy
import datetime
import io
import json
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np
import zstandard

INTERESTING = (0, 1, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**40, 10**12, 2**63 - 1, 2**63, 2**64 - 1)
WORDS = (
    b"-1", b"1000000000000", b"9" * 30, b"1e400", b"nan", b"-inf", b"0", b"", b"\0", b"\xff\xfe", b"../../x", b"(", b"|O", b">f4",
    b"[" * 2000, b"{a=" * 500, b"a." * 5000,
)  # fmt: skip

# What nobody expects as a value.
ODD: tuple[Any, ...] = (
    *(True, False, 0, -1, 1, 2**31, -(2**31) - 1, 2**63 - 1, -(2**63), 10**30, 10**400),
    *(0.0, -0.0, 5e-324, 1e-300, 1e-30, 1e30, 1e308, float("inf"), float("-inf"), float("nan")),
    *("", "auto", "..", "../scene.toml", "/etc/passwd", "/dev/zero", "C:\\x.npz", "\\\\server\\share\\x.npz", "CON", "scene.toml"),
    *("a\0b", "\u202e", "\x1b[2J", "x" * 5000, "e\u0301"),
    *([], {}, [[]], [{}], {"kind": "box"}, [1.0] * 3, [1e300] * 3, [0] * 1000),
    *(datetime.date(1, 1, 1), datetime.time(1), datetime.datetime(9999, 12, 31, tzinfo=datetime.UTC)),
)

ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-200, 1e10, 1e30, -1e31, 1e300, float("inf"), float("nan"))


def mutated(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """A file with one to a few wounds."""
    result = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4, 8))):
        random.choice(_WOUNDS)(result, random, others)
    return bytes(result)


def _place(data: bytearray, random: Random, size: int = 1) -> slice:
    start = random.randrange(max(1, len(data) - size + 1))
    return slice(start, start + size)


def _flip(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _overwrite(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    size = random.choice((1, 2, 4, 8))
    number = random.choice(INTERESTING) % 2 ** (8 * size)
    data[_place(data, random, size)] = number.to_bytes(size, random.choice(("little", "big")))


def _truncate(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    del data[random.randrange(len(data) + 1) :]


def _remove(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    del data[_place(data, random, random.randrange(1, 64))]


def _insert(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    start = _place(data, random).start
    data[start:start] = random.choice((random.randbytes(random.randrange(1, 64)), random.choice(WORDS), b"\0" * 1000))


def _repeat(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    piece = bytes(data[_place(data, random, random.randrange(1, 256))])
    start = _place(data, random).start
    data[start:start] = piece * random.choice((1, 2, 50))


def _exchange(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    size = random.randrange(1, 64)
    first, second = _place(data, random, size), _place(data, random, size)
    data[first], data[second] = bytes(data[second]), bytes(data[first])


def _splice(data: bytearray, random: Random, others: Sequence[bytes]) -> None:
    other = random.choice(others) if others else bytes(data)
    data[_place(data, random).start :] = other[random.randrange(len(other) + 1) :]


def _renumber(data: bytearray, random: Random, _others: Sequence[bytes]) -> None:
    """Put another word where digits are."""
    starts = [place for place, letter in enumerate(data[:4000]) if letter in b"0123456789"]
    if starts:
        start = end = random.choice(starts)
        while end < len(data) and data[end] in b"0123456789.":
            end += 1
        data[start:end] = random.choice((*WORDS, str(random.choice(INTERESTING)).encode()))


_WOUNDS: tuple[Callable[[bytearray, Random, Sequence[bytes]], None], ...] = (
    _flip, _overwrite, _truncate, _remove, _insert, _repeat, _exchange, _splice, _renumber, _renumber,
)  # fmt: skip


def mutated_container(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """A file of a cache with wrong words or sections and right checksums; sometimes wrong as bytes."""
    if random.random() < 0.2:
        return mutated(data, random, others)
    packer = zstandard.ZstdCompressor(level=1, write_checksum=True, write_content_size=True)
    end = 12 + int.from_bytes(data[8:12], "little")
    header, sections = json.loads(zstandard.decompress(data[12:end])), []
    for size, _ in header["sections"]:
        sections.append(zstandard.decompress(data[end : end + size]))
        end += size
    change = random.randrange(4)
    if change == 0 and sections:
        place = random.randrange(len(sections))
        sections[place] = mutated(sections[place], random, sections)
    elif change == 1 and sections:
        place = random.randrange(len(sections))
        sections[place] = random.choice((b"", bytes(10_000_000), sections[0], sections[place] * 2))
    else:
        header = mutated_tree(header, random)
    packed = [packer.compress(section) for section in sections]
    if isinstance(header, dict) and random.random() < 0.9:
        header["sections"] = [[len(small), len(section)] for small, section in zip(packed, sections, strict=True)]
    text = packer.compress(json.dumps(header, default=str).encode())
    return b"".join((b"MPMCACHE", len(text).to_bytes(4, "little"), text, *packed))


def mutated_json(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """JSON, in one text or a line each, with wrong values and the right checksum where it had one; sometimes wrong as bytes."""
    if random.random() < 0.25:
        return mutated(data, random, others)
    if random.random() < 0.2:
        lines = data.splitlines()
        return b"\n".join(random.choices(lines, k=random.randrange(1, len(lines) + 2)))
    try:
        return _resealed(json.loads(data), random)
    except ValueError:
        lines = data.splitlines()
        place = random.randrange(len(lines))
        lines[place] = _resealed(json.loads(lines[place]), random)
        return b"\n".join(lines) + b"\n"


def _resealed(table: Any, random: Random) -> bytes:
    is_sealed = table.pop("crc32", None) is not None
    table = mutated_tree(table, random)
    if is_sealed and isinstance(table, dict):
        text = json.dumps(table, default=str)
        # as whoever checks it reads it back
        table["crc32"] = zlib.crc32(json.dumps(json.loads(text)).encode())
    return json.dumps(table, default=str).encode()


def mutated_archive(data: bytes, random: Random, others: Sequence[bytes] = ()) -> bytes:
    """A zip archive whose members are wrong and whose checksums are right; sometimes wrong as bytes."""
    choice = random.random()
    if choice < 0.2:
        return mutated(data, random, others)
    if choice < 0.6:
        return _other_arrays(data, random)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    pool = [content for _, content in members]
    for _ in range(random.choice((1, 1, 2))):
        index = random.randrange(len(members))
        name, content = members[index]
        change = random.randrange(6)
        if change <= 2:
            members[index] = name, mutated(content, random, pool)
        elif change == 3:
            members[index] = name, random.choice(pool)
        elif change == 4:
            members[index] = (
                random.choice(("", "x", "../x.npy", "/x.npy", "\x1b.npy", "é" * 99 + ".npy", ".hidden.npy", members[0][0])),
                content,
            )
        else:
            members[index : index + 1] = random.choice(([], [members[index]] * 2, [members[index]] * 1001))
        if not members:
            break
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", random.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_BZIP2 if random.random() < 0.02 else None)
    return target.getvalue()


def _other_arrays(data: bytes, random: Random) -> bytes:
    """A right archive whose arrays have other values, types or shapes."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    for _ in range(random.choice((1, 1, 2))):
        name = random.choice(list(arrays))
        arrays[name] = _other_array(arrays[name], random)
    target = io.BytesIO()
    random.choice((np.savez, np.savez_compressed))(target, **arrays)
    return target.getvalue()


def _other_array(array: Any, random: Random) -> Any:
    if array.dtype.kind not in "fiub":
        return array
    change = random.randrange(6)
    with np.errstate(all="ignore"):
        if change <= 1 and array.size:
            array = array.copy()
            values = (0, 1, -1, 2**31 - 1, 100) if array.dtype.kind in "iub" else ODD_NUMBERS
            array.flat[random.randrange(array.size)] = np.array(random.choice(values)).astype(array.dtype)
            return array
        if change == 2:
            return array.astype(random.choice(("f2", ">f4", "f8", "g", "i1", ">i8", "u8", "?", "c16", "S3", "U2", "M8[s]", "O", "V8")))
        if change == 3:
            return np.asfortranarray(array) if random.random() < 0.5 else array * random.choice((-1, 0, 1e3, 1e30, 1e200))
        if change == 4:
            return array[: random.randrange(len(array) + 1)] if array.ndim else array
        shapes = (array.shape[::-1], (array.size,), (1, *array.shape), (*array.shape, 1), (0, *array.shape[1:]), (0, 10**6, 10**6))
        return np.resize(array, random.choice(shapes))


def mutated_tree(value: Any, random: Random, odd: Sequence[Any] = ODD) -> Any:
    """Nested tables and lists with a few values, keys or branches changed."""
    result = copy.deepcopy(value)
    for _ in range(random.choice((1, 1, 1, 2))):
        places = _places(result)
        if not places:
            break
        holder, key = random.choice(places)
        change = random.randrange(10)
        if change >= 8 and isinstance(holder[key], (int, float)):
            holder[key] = holder[key] * random.choice((-1, 0, 10, 1000, 0.1, 1e-6, 1e6, 1e-12, 1e12, 1e-25, 1e25))
        elif change <= 3 or change >= 8:
            holder[key] = copy.deepcopy(random.choice(odd))
        elif change == 4:
            other, other_key = random.choice(places)
            holder[key] = copy.deepcopy(other[other_key])
        elif change == 5:
            del holder[key]
        elif change == 6:
            holder[key] = _deep(random.choice((2, 20, 40)), holder[key], random)
        elif isinstance(holder, dict):
            holder[random.choice(("", "a.b", "name", "\x7f", "x" * 300, "kind", "é"))] = holder.pop(key)
        else:
            holder *= random.choice((2, 30))
    return result


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) in a tree."""
    found, open_ends = [], [value]
    while open_ends:
        holder = open_ends.pop()
        for key in holder if isinstance(holder, dict) else range(len(holder)):
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                open_ends.append(holder[key])
    return found


def _deep(depth: int, value: Any, random: Random) -> Any:
    for _ in range(depth):
        value = [value] if random.random() < 0.5 else {"a": value}
    return value
