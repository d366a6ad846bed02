# SPDX-License-Identifier: BSD-3-Clause
"""Reads frames of particles written by `quadrat run` as arrays, and writes them for other programs.

    python3 -m quadrat.frames out/dam_break -o dam_break.gsd         # or .lammpstrj, .xyz, .vtu (one frame)

Reads a folder of a run, one frame (.vtp, .vtu, or .pvtp and .pvtu, which join the pieces of several ranks), or all
frames of an extended .xyz, a .gsd file, a dump of LAMMPS (.lammpstrj, .dump) or a trajectory of ASE (.traj)."""

import argparse
import pathlib
import re
import sys
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from . import _command, _core
from ._frame import Frame, along_axes, bounds, corners
from ._trajectories import ase_trajectory, lammps_dump
from ._types import FilePath
from .scenes import Run

__all__ = ["Frame", "components", "files", "listed", "read", "write"]

Frames: TypeAlias = Run | Iterable[Frame] | Frame

_XYZ_KINDS = {"f": "R", "i": "I", "u": "I", "b": "L", "U": "S"}  # by the kind of NumPy's types
_VTK_TYPES = {"Float32": "<f4", "Float64": "<f8", "UInt32": "<u4", "Int64": "<i8", "UInt8": "u1"}


def listed(frames: Frames) -> Iterable[Frame]:
    """An iterable of frames from a result of `quadrat.run` or `read`, or from one frame."""
    return [frames] if isinstance(frames, Frame) else frames.frames if isinstance(frames, Run) else frames


def components(name: str, values: np.ndarray) -> list[str]:
    """Names for the columns of a field of vectors: NAME_x, NAME_y, NAME_z, or NAME_0, NAME_1, ..."""
    width = values.shape[1]
    return [f"{name}_{axis}" for axis in ("xyz" if width == 3 else range(width))]


def files(path: FilePath) -> list[pathlib.Path]:
    """The files of the frames in a run's folder, in order of time, or the one file. If a run has several formats, the
    first of vtp, vtu, xyz; frames in pieces (pvtp, pvtu) are files of that format. Raises FileNotFoundError if there
    are none."""
    path = pathlib.Path(path)
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise FileNotFoundError(f"there is no {path}")
    for folder in (path / "frames", path):
        for suffix in ("vtp", "vtu", "xyz"):
            # A piece has the name of its frame and the number of its rank.
            found = [
                (len(step), step, file)
                for file in folder.glob(f"frame_*{suffix}")
                for step in re.findall(rf"^frame_(\d+)\.p?{suffix}$", file.name)
            ]
            if found:
                return [file for _, _, file in sorted(found)]
    raise FileNotFoundError(f"{path} holds no frames; a run writes them where its scene has output.frame_every above 0")


def read(path: FilePath) -> Iterator[Frame]:
    """Yields the frames of a run's folder or of one file, in order of time. They are read one by one. If a file does not
    say its step, the step is that of its name, as in frame_00000500.vtp. Raises ValueError that names the file and the
    error."""
    for file in files(path):
        if file.suffix in (".vtp", ".vtu"):
            found = [_read_vtk(file)]
        elif file.suffix in (".pvtp", ".pvtu"):
            found = [_read_pieces(file)]
        elif file.suffix in _FILES_OF_FRAMES:
            found = _FILES_OF_FRAMES[file.suffix](file)
        else:
            raise ValueError(f"{file} is not a frame; those end in .vtp, .vtu, .pvtp, .pvtu, {', '.join(_FILES_OF_FRAMES)}")
        named = re.match(r"frame_(\d+)[._]", file.name)
        for frame in found:
            if frame.step is None and named:
                frame.step = int(named[1])
            yield frame


def _read_vtk(file):
    """One frame of VTK XML as `quadrat run` writes it: raw appended arrays with 64-bit lengths."""
    head, found, payload = file.read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    if not found or b'header_type="UInt64"' not in head or b"LittleEndian" not in head:
        raise ValueError(f"{file} is not a frame of quadrat run (VTK XML with raw appended arrays)")
    text = head.decode()
    single = {
        name: np.array(numbers.split(), float)
        for name, numbers in re.findall(r'Name="(\w+)" [^>]*format="ascii">([^<]*)</DataArray>', text)
    }
    (count,) = re.findall(r'NumberOfPoints="(\d+)"', text) or [None]
    arrays = {}
    for kind, name, components, offset in re.findall(
        r'<DataArray type="(\w+)" Name="(\w+)" NumberOfComponents="(\d+)" format="appended" offset="(\d+)"', text
    ):
        start, kind = int(offset) + 8, np.dtype(_VTK_TYPES[kind])
        size = int.from_bytes(payload[start - 8 : start], "little")
        if start + size > len(payload):
            raise ValueError(f"{file} is cut: the array {name} ends before its {size} bytes")
        values = np.frombuffer(payload, kind, size // kind.itemsize, start)
        arrays[name] = values.reshape(-1, int(components)) if components != "1" else values
    positions = arrays.pop("Points", None)
    if count is None or positions is None or len(positions) != int(count) or "TimeValue" not in single:
        raise ValueError(f"{file} is not a frame of quadrat run: points or time are missing")
    for name in ("connectivity", "offsets", "types"):
        arrays.pop(name, None)
    lower, upper = single.get("BoxLower"), single.get("BoxUpper")
    if lower is None or upper is None:
        lower, upper = bounds(positions)
    return Frame(
        float(single["TimeValue"][0]), positions, arrays, lower, upper, single.get("Periodic", np.zeros(3)) != 0
    )


def _read_pieces(file):
    """One frame that several ranks have written, in order of id."""
    names = re.findall(r'<Piece Source="([^"/]+)"/>', file.read_text())
    if not names:
        raise ValueError(f"{file} is not a frame of quadrat run: it lists no pieces in its folder")
    pieces = [_read_vtk(file.parent / name) for name in names]
    first = pieces[0]
    for name, piece in zip(names, pieces):
        if piece.time != first.time or set(piece.fields) != set(first.fields):
            raise ValueError(f"{file.parent / name} is of another time than {names[0]}, or has other fields")
    first.positions = np.concatenate([piece.positions for piece in pieces])
    first.fields = {key: np.concatenate([piece.fields[key] for piece in pieces]) for key in first.fields}
    return first


def _read_frames(file):
    """All frames of an extended XYZ or a GSD file."""
    reader = _core.FramesOfFile(str(file))
    while (found := reader.next()) is not None:
        yield _frame_of(found)


def _frame_of(found):
    positions = found["positions"].astype(np.float32)
    lower, upper, vectors = corners(positions, found["lattice"], found["origin"])
    fields = {"velocity" if one[0] == "velo" else one[0]: _typed(*one) for one in found["fields"]}
    periodic = np.array(found["periodic"])
    return Frame(found["time"] or 0.0, positions, fields, lower, upper, periodic, found["step"], vectors)


_FILES_OF_FRAMES = {
    **dict.fromkeys((".xyz", ".extxyz", ".gsd"), _read_frames),
    **dict.fromkeys((".lammpstrj", ".dump"), lammps_dump),
    ".traj": ase_trajectory,
}


def _typed(name, kind, width, values):
    """The values of a column in the type of frames; ids are uint32 if they fit."""
    if kind == "S":
        values = np.array(values, dtype=str)
        return values if width == 1 else values.reshape(-1, width)
    if kind == "I" and name == "id" and np.all((values >= 0) & (values < 2**32)):
        return values.astype(np.uint32)
    return values if kind == "I" else values.astype({"R": np.float32, "L": bool}[kind])


def write(file: FilePath, frames: Frames) -> int:
    """Writes frames for other programs, by the ending of `file`: .gsd (HOOMD's format, by the package gsd; positions
    relative to the middle of the box), .lammpstrj (LAMMPS' dump, text), .xyz or .extxyz (extended XYZ), .vtu (one
    frame, by the package meshio). `frames` : a result of `quadrat.run` or `read`, a list of frames, or one frame.
    Returns the number of frames. The file is written whole or not at all."""
    file = pathlib.Path(file)
    writers = {".gsd": _write_gsd, ".lammpstrj": _write_lammps, ".xyz": _write_xyz, ".extxyz": _write_xyz,
               ".vtu": _write_vtu}  # fmt: skip
    if file.suffix not in writers:
        raise ValueError(f"{file} ends otherwise than {', '.join(writers)}")
    with _command.whole_file(file) as name:
        return writers[file.suffix](name, listed(frames))


def _write_gsd(file, frames):
    hoomd = _command.needed("gsd.hoomd", "files")
    count = 0
    with hoomd.open(file, "w") as out:
        for frame in frames:
            out.append(_gsd_frame(hoomd.Frame(), frame, count))
            count += 1
    return count


def _gsd_frame(one, frame, number):
    along_axes(frame, ".gsd files are written of")
    one.configuration.step = number if frame.step is None else frame.step
    one.configuration.box = [*(frame.upper - frame.lower), 0, 0, 0]
    one.particles.N = len(frame.positions)
    one.particles.position = (frame.positions - 0.5 * (frame.lower + frame.upper)).astype(np.float32)
    one.particles.types, one.particles.typeid = _types(frame)
    if "velocity" in frame.fields:
        one.particles.velocity = frame.fields["velocity"]
    if "radius" in frame.fields:
        one.particles.diameter = 2 * frame.fields["radius"]
    if "charge" in frame.fields:
        one.particles.charge = frame.fields["charge"]
    one.log["configuration/time"] = np.array([frame.time])
    for name, values in _others(frame):
        one.log[f"particles/{name}"] = np.ascontiguousarray(values)
    return one


def _types(frame):
    """(names of the types, number of each particle's type); particles without a species are of the type X."""
    if "species" not in frame.fields:
        return ["X"], np.zeros(len(frame.positions), np.uint32)
    names, numbers = np.unique(frame.fields["species"], return_inverse=True)
    return names.tolist(), numbers.astype(np.uint32)


def _others(frame):
    """The numeric fields for which the formats have no name."""
    named = {"velocity", "speed", "radius", "charge", "id"}
    return [(name, values) for name, values in frame.numbers().items() if name not in named]


def _columns(frame):
    """(name, values) of all fields but the speed, the species and the id, which the text formats derive or write
    themselves."""
    return [(name, values) for name, values in frame.fields.items() if name not in ("speed", "species", "id")]


def _ids(frame, first):
    """Numbers of the particles, counted from `first`."""
    return frame.fields.get("id", np.arange(len(frame.positions))).astype(np.int64) + first


def _words(values):
    """The text of each value: reals so that they read back as the same float32."""
    if values.dtype.kind == "b":
        return np.where(values, "T", "F").tolist()
    return list(map(str, values.astype(np.float32) if values.dtype.kind == "f" else values.tolist()))


def _lines(frame, columns):
    """The text of each particle: its position and its columns."""
    every = [frame.positions, *(values for _, values in columns)]
    words = [_words(column) for values in every for column in (values.T if values.ndim > 1 else [values])]
    return map(" ".join, zip(*words))


def _lammps_names(name, values):
    """The name of a field in LAMMPS: a standard name, or c_NAME as for computed values."""
    if values.ndim == 1:
        return [{"radius": "radius", "charge": "q"}.get(name, f"c_{name}")]
    return ["vx", "vy", "vz"] if name == "velocity" else [f"c_{one}" for one in components(name, values)]


def _write_lammps(file, frames):
    """Ids count from 1, types too, in the order of the names of species."""
    count = 0
    with open(file, "w", encoding="utf-8") as out:
        for count, frame in enumerate(frames, 1):
            along_axes(frame, "dumps of LAMMPS are written of")
            columns = [(name, values) for name, values in _columns(frame) if name in frame.numbers()]
            columns = [(name, values.astype(int) if values.dtype.kind == "b" else values) for name, values in columns]
            names = " ".join(["id type x y z", *(one for column in columns for one in _lammps_names(*column))])
            sides = " ".join("pp" if one else "ff" for one in frame.periodic)
            bounds = "".join(f"{low!r} {high!r}\n" for low, high in zip(frame.lower.tolist(), frame.upper.tolist()))
            step = count - 1 if frame.step is None else frame.step
            out.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(frame.positions)}\n")
            out.write(f"ITEM: BOX BOUNDS {sides}\n{bounds}ITEM: ATOMS {names}\n")
            particles = zip(_ids(frame, 1), _types(frame)[1] + 1, _lines(frame, columns))
            out.writelines(f"{one} {kind} {line}\n" for one, kind, line in particles)
    return count


def _write_xyz(file, frames):
    count = 0
    with open(file, "w", encoding="utf-8") as out:
        for count, frame in enumerate(frames, 1):
            columns = _columns(frame)
            kinds = "".join(
                f":{'velo' if name == 'velocity' else name}:{_XYZ_KINDS[values.dtype.kind]}:"
                f"{1 if values.ndim == 1 else values.shape[1]}"
                for name, values in columns
            )
            vectors = np.diag(frame.upper - frame.lower) if frame.vectors is None else frame.vectors
            cell = " ".join(map(repr, vectors.ravel().tolist()))
            origin = " ".join(map(repr, frame.lower.tolist()))
            sides = " ".join("T" if one else "F" for one in frame.periodic)
            out.write(f'{len(frame.positions)}\nLattice="{cell}" Origin="{origin}" pbc="{sides}" ')
            out.write(f"Properties=species:S:1:pos:R:3{kinds}:id:I:1 Time={frame.time!r}\n")
            species = frame.fields.get("species", np.full(len(frame.positions), "X"))
            particles = zip(species, _lines(frame, columns), _ids(frame, 0))
            out.writelines(f"{name} {line} {one}\n" for name, line, one in particles)
    return count


def _write_vtu(file, frames):
    meshio = _command.needed("meshio", "files")
    frames = list(frames)
    if len(frames) != 1:
        raise ValueError(f".vtu holds one frame, not {len(frames)}; choose it with --frame")
    (frame,) = frames
    vertices = np.arange(len(frame.positions)).reshape(-1, 1)
    meshio.Mesh(frame.positions, [("vertex", vertices)], point_data=frame.numbers()).write(file)
    return 1


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("python3 -m quadrat.frames", description=__doc__.split("\n")[0])
    parser.add_argument("path", help="a run's folder, or a file of frames")
    parser.add_argument("-o", "--output", required=True, help="what to write: .gsd, .lammpstrj, .xyz or .vtu")
    parser.add_argument("--frame", type=int, help="only this frame, counted from 0; -1 is the last")
    options = parser.parse_args(arguments)
    frames: Iterable[Frame] = read(options.path)
    if options.frame is not None:
        every = list(frames)
        if not -len(every) <= options.frame < len(every):
            raise ValueError(f"--frame is {options.frame}; {options.path} has {len(every)} frames")
        frames = [every[options.frame]]
    count = write(options.output, frames)
    print(f"{options.output}: {count} frame{'' if count == 1 else 's'}")


if __name__ == "__main__":
    sys.exit(_command.run("quadrat.frames", main, sys.argv[1:]))
