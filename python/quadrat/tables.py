# SPDX-License-Identifier: BSD-3-Clause
"""Reads columns of snapshots (HDF5 of Gadget, AREPO and SWIFT) and of tables (FITS) by name, whole or in chunks."""

import abc
import contextlib
import os
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _command
from ._numbers import shown, whole, word
from ._types import FilePath

__all__ = ["Table", "open"]


class Table(abc.ABC):
    """Columns of a file, or of the files of one snapshot; `open` makes it. It holds no file open and no values.

    columns: name -> what the file says of the column, its unit for example. header: the header of the file. box: (3,)
    float64 lengths of the periodic box in the units of the coordinates, None if the file has none. `len` is the number
    of rows.
    """

    path: pathlib.Path
    columns: dict[str, dict[str, Any]]
    header: dict[str, Any]
    box: np.ndarray | None
    rows: int

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        return f"<Table {self.path}: {self.rows:,} rows; columns: {', '.join(self.columns)}>"

    def read(self, *columns: str) -> list[np.ndarray]:
        """One array for each column, (rows,) or (rows, k), in the type of the file and the byte order of the machine.
        Beside these one chunk is in memory. Raises ValueError as `chunks` does."""
        result: list[np.ndarray] = []
        first = 0
        for parts in self.chunks(*columns):
            if not result:
                result = [np.empty((self.rows, *part.shape[1:]), part.dtype) for part in parts]
            for whole_column, part in zip(result, parts):
                whole_column[first : first + len(part)] = part
            first += len(parts[0])
        return result

    def chunks(self, *columns: str, rows: int = 1 << 18) -> Iterator[list[np.ndarray]]:
        """Yields the columns of at most `rows` rows at a time, in the order of the file: arrays as those of `read`. No
        more than a chunk is in memory. A table without rows gives one empty chunk. Raises ValueError that names the file
        and a column that is missing, cut, of another length than the others, without numbers, or with nulls."""
        rows = whole(rows, "rows", 1)
        if not columns:
            raise ValueError(f"no columns are named; {self.path} has {', '.join(self.columns)}")
        for name in columns:
            if word(name, "a column") not in self.columns:
                raise ValueError(f"{self.path} has no column {shown(name)}; it has {', '.join(self.columns)}")
        return self._chunks(columns, rows)

    @abc.abstractmethod
    def _chunks(self, columns: tuple[str, ...], rows: int) -> Iterator[list[np.ndarray]]: ...


def open(path: FilePath, part: str | int | None = None) -> Table:
    """Opens a table by the ending of its name.

    .hdf5, .h5: a snapshot of Gadget-2, Gadget-4, AREPO or SWIFT, by the package h5py. `path` is its one file, or any of
    its files NAME.0.hdf5, NAME.1.hdf5, ..., which are read as one. `part` : the group, by default "PartType1", dark
    matter. Where all particles have the mass of the header's MassTable, there is a column Masses, too.
    .fits, .fit: a binary table, by the package astropy. `part` : name or number of the extension, by default the first
    table. Scaled columns (TSCAL, TZERO) are float64; unsigned integers keep their type.

    Raises ImportError that says what to install, FileNotFoundError, and ValueError that names the file and the error.
    """
    path = pathlib.Path(path)
    kinds: dict[str, Callable[..., Table]] = {".hdf5": _Snapshot, ".h5": _Snapshot, ".fits": _FitsTable, ".fit": _FitsTable}
    if path.suffix not in kinds:
        raise ValueError(f"{path} ends otherwise than {', '.join(kinds)}")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return kinds[path.suffix](path, part)


@contextlib.contextmanager
def _naming(path: pathlib.Path, kind: str, *errors: type[Exception]) -> Iterator[None]:
    """Makes what a library says of a broken file an error that names it."""
    broken: tuple[type[Exception], ...] = (OSError, RuntimeError, LookupError, TypeError, ValueError, OverflowError, *errors)
    try:
        yield
    except broken as problem:
        if isinstance(problem, ValueError) and str(problem).startswith(str(path)):
            raise
        raise ValueError(f"{path} is not a file of {kind}, or is cut: {problem}") from None


class _Snapshot(Table):
    def __init__(self, path, part):
        self.path, self.group = path, "PartType1" if part is None else word(part, "part")
        self._h5py = _command.needed("h5py", "files")
        with self._file(path) as file:
            if "Header" not in file:
                raise ValueError(f"{path} has no group Header; snapshots of Gadget, AREPO and SWIFT have one")
            self.header = dict(file["Header"].attrs)
        self.files = self._parts()
        self.box = self._box()
        self.columns, self.counts, groups = {}, [], set()
        for one in self.files:
            with self._file(one) as file:
                groups |= {name for name in file if name.startswith("PartType")}
                self.counts.append(self._describe(one, file))
        self.rows = sum(self.counts)
        if not self.columns and self.group not in groups:
            raise ValueError(f"{path} has no group {shown(self.group)}; it has {', '.join(sorted(groups)) or 'none'}")
        wanted = self._of_type("NumPart_Total", 0) + (self._of_type("NumPart_Total_HighWord", 0) << 32)
        if "NumPart_Total" in self.header and wanted != self.rows:
            raise ValueError(f"{path} has {self.rows} particles of {self.group}; its header says {wanted}")
        self.mass = float(self._of_type("MassTable", 0.0))
        if self.mass > 0 and "Masses" not in self.columns:
            self.columns["Masses"] = {"MassTable": self.mass}

    @contextlib.contextmanager
    def _file(self, path):
        with _naming(path, "HDF5"), self._h5py.File(path, "r") as file:
            yield file

    def _parts(self):
        count = int(np.ravel(self.header.get("NumFilesPerSnapshot", 1))[0])
        if count <= 1:
            return [self.path]
        found = re.fullmatch(r"(.*)\.\d+", self.path.stem)
        if not found:
            raise ValueError(f"{self.path} is one of {count} files, but has no number in its name, as NAME.0.hdf5 has")
        for k in range(count):
            part = self.path.with_name(f"{found[1]}.{k}{self.path.suffix}")
            if not part.is_file():
                raise ValueError(f"{part} is missing; the snapshot has {count} files")
        return [self.path.with_name(f"{found[1]}.{k}{self.path.suffix}") for k in range(count)]

    def _box(self):
        lengths = np.ravel(np.asarray(self.header.get("BoxSize", 0.0), dtype=float))
        if not lengths.any():
            return None
        if lengths.size not in (1, 3) or not (np.isfinite(lengths) & (lengths > 0)).all():
            raise ValueError(f"{self.path}: BoxSize is {shown(lengths)}; one or three positive lengths are accepted")
        return np.broadcast_to(lengths, 3).copy()

    def _of_type(self, name, default):
        """The value for the group's type of particles in an attribute that has one for each type."""
        number = re.fullmatch(r"PartType(\d+)", self.group)
        values = np.ravel(self.header.get(name, []))
        return values[int(number[1])].item() if number and int(number[1]) < len(values) else default

    def _describe(self, path, file):
        """The number of rows in a file; its columns are added to those of the table."""
        if self.group not in file:
            return 0
        lengths = {}
        if not isinstance(file[self.group], self._h5py.Group):
            raise ValueError(f"{path}: {self.group} is not a group")
        for name, values in file[self.group].items():
            if isinstance(values, self._h5py.Dataset) and isinstance(name, str):  # names that are no text are bytes
                self.columns.setdefault(name, dict(values.attrs))
                if values.ndim not in (1, 2):
                    raise ValueError(f"{path}: {self.group}/{name} has the shape {values.shape}; (N,) or (N, k) is accepted")
                lengths[name] = len(values)
        if len(set(lengths.values())) > 1:
            raise ValueError(f"{path}: the datasets of {self.group} have different lengths: {lengths}")
        return next(iter(lengths.values()), 0)

    def _chunks(self, columns, rows):
        kinds = {}
        for path, count in sorted(zip(self.files, self.counts), key=lambda one: one[1] == 0):  # empty ones last
            if count == 0 and kinds:
                continue
            with self._file(path) as file:
                for first in range(0, max(count, 1), rows):
                    yield [self._values(path, file, name, first, min(count, first + rows), kinds) for name in columns]

    def _values(self, path, file, name, first, end, kinds):
        data = file.get(f"{self.group}/{name}")
        if data is None and name == "Masses" and self.mass > 0:
            kinds.setdefault(name, (np.dtype(float), ()))
            return np.full(end - first, self.mass)
        if data is None and first == end:
            return np.empty(0)
        if data is None:
            raise ValueError(f"{path} has no dataset {self.group}/{name}; other files of the snapshot have it")
        if data.dtype.kind not in "iuf":
            raise ValueError(f"{path}: {self.group}/{name} has the type {data.dtype}; numbers are accepted")
        kind = data.dtype.newbyteorder("="), data.shape[1:]
        if kinds.setdefault(name, kind) != kind:
            raise ValueError(f"{path}: {self.group}/{name} is {data.dtype} {data.shape}, unlike that of other files")
        return data[first:end].astype(kind[0], copy=False)


def _or_default(value, default):
    return default if value in (None, "") else float(value)


class _FitsTable(Table):
    def __init__(self, path, part):
        fits = _command.needed("astropy.io.fits", "files")
        self.path, self.box = path, None
        with _naming(path, "FITS", fits.VerifyError), fits.open(path, memmap=True) as file:
            self._describe(fits, file, part)

    def _describe(self, fits, file, part):
        tables = [k for k, one in enumerate(file) if isinstance(one, fits.BinTableHDU)]
        try:
            table = file[tables[0] if part is None and tables else part if part is not None else -1]
        except (KeyError, IndexError):
            table = None
        if not isinstance(table, fits.BinTableHDU) or isinstance(table, fits.CompImageHDU):
            names = [f"{k} {file[k].name}".strip() for k in tables]
            raise ValueError(f"{self.path} has no binary table {shown(part)}; it has {', '.join(names) or 'none'}")
        self.header, self.rows = dict(table.header), int(table.header["NAXIS2"])
        self.start, self.row = table.fileinfo()["datLoc"], table.columns.dtype.newbyteorder(">")
        self._fields = {
            one.name: (one.format, one.null, _or_default(one.bscale, 1.0), _or_default(one.bzero, 0.0)) for one in table.columns
        }
        self.columns = {one.name: {"unit": one.unit, "format": one.format} for one in table.columns}
        if self.row.itemsize != table.header["NAXIS1"]:
            raise ValueError(f"{self.path}: columns take {self.row.itemsize} bytes; NAXIS1 is {table.header['NAXIS1']}")
        size, needed = os.path.getsize(self.path), self.start + self.row.itemsize * self.rows
        if size < needed:
            raise ValueError(f"{self.path} is cut, or compressed: its table ends at byte {needed}, the file at {size}")

    def _chunks(self, columns, rows):
        for name in columns:
            if not re.fullmatch(r"\d*[BIJKED]", self._fields[name][0]):
                raise ValueError(f"{self.path}: column {name} has the format {self._fields[name][0]}; numbers are accepted")
        for first in range(0, max(self.rows, 1), rows):
            count = min(rows, self.rows - first)
            offset = self.start + first * self.row.itemsize
            table = np.fromfile(self.path, self.row, count, offset=offset) if count else np.empty(0, self.row)
            yield [self._values(name, table[name], first) for name in columns]

    def _values(self, name, stored, first):
        _, null, scale, zero = self._fields[name]
        values = stored.astype(stored.dtype.newbyteorder("="))
        if null is not None and values.dtype.kind in "iu" and (nulls := values == null).any():
            row = first + int(np.argwhere(nulls)[0, 0])
            raise ValueError(f"{self.path}: column {name} has no value (TNULL) in row {row}, counted from 0")
        if scale == 1 and zero == 0:
            return values
        lowest = 2 ** (8 * values.dtype.itemsize - 1)
        if values.dtype.kind == "i" and scale == 1 and zero == lowest:  # how FITS stores unsigned integers
            unsigned = np.dtype(f"u{values.dtype.itemsize}")
            return values.view(unsigned) ^ unsigned.type(lowest)
        return values * scale + zero
