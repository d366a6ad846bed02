# SPDX-License-Identifier: BSD-3-Clause
"""Makes one HTML page of a run, which needs no network: rotate, play, scrub, color by any field, cut slices.

    python3 -m quadrat.view out/dam_break                       # writes out/dam_break/view.html

Reads the inputs of quadrat.frames: a run's folder or a file of frames. Drops frames beyond --frames and particles
beyond --particles evenly, and more frames until the page has at most --megabytes. The page and a line on stdout say so.
Positions are stored to 1/65535 of the whole, values of fields to 1/255 of the range of 99 % of them."""

import argparse
import base64
import html
import json
import os
import pathlib
import sys
import zlib
from typing import Any

import numpy as np

from . import _command, frames
from ._frame import along_axes
from ._types import Array, FilePath

__all__ = ["page", "write"]

_SAMPLE = 20_000  # particles of a frame that determine the range of a field


class _Survey:
    """The results of the first pass over the frames: numbers, bounds, and the range of each field."""

    def __init__(self, name, every):
        self.times, self.samples, self.count = [], {}, None
        self.constant, self.first, self.flat = {}, None, True
        for frame in every():
            self.add(name, along_axes(frame, "pages show"))
        if not self.times:
            raise ValueError(f"{name} holds no frames")
        if self.count == 0:
            raise ValueError(f"the frames of {name} hold no particles")
        if not np.isfinite(self.low).all() or not np.isfinite(self.high).all():
            raise ValueError(f"{name} has particles at positions that are not finite")

    def add(self, source, frame):
        fields = _scalars(frame)
        if self.count is None:
            self.count, self.first, self.lower, self.upper = len(frame.positions), fields, frame.lower, frame.upper
            self.low, self.high = frame.lower.copy(), frame.upper.copy()
            self.constant = dict.fromkeys(fields, True)
        if len(frame.positions) != self.count or set(fields) != set(self.first):
            raise ValueError(f"frame {len(self.times)} of {source} has other particles or fields than the first")
        if self.count:
            self.low = np.minimum(self.low, frame.positions.min(axis=0))
            self.high = np.maximum(self.high, frame.positions.max(axis=0))
        self.flat = self.flat and not frame.positions[:, 2].any()
        self.times.append(frame.time)
        some = slice(None, None, 1 + self.count // _SAMPLE)
        for name, values in fields.items():
            self.samples.setdefault(name, []).append(np.asarray(values[some], np.float32))
            self.constant[name] = self.constant[name] and np.array_equal(values, self.first[name], equal_nan=True)

    def range_of(self, name):
        values = np.concatenate(self.samples[name])
        values = values[np.isfinite(values)]
        if len(values) == 0:
            return [0.0, 1.0]
        low, high = np.percentile(values, [0.5, 99.5])
        if low >= 0 and low < 0.2 * high:
            low = 0.0  # ranges that start near zero begin at zero
        return [float(low), float(high)] if high > low else [float(low), float(low) + (abs(float(low)) or 1.0)]


def _scalars(frame):
    """Every field as scalars; vectors as components."""
    result = {}
    for name, values in frame.numbers().items():
        if name == "id":
            continue
        if values.ndim == 1:
            result[name] = values
        else:
            result.update(zip(frames.components(name, values), values.T, strict=True))
    return result


def _byte_values(values, bounds):
    low, high = bounds
    scaled = np.nan_to_num((np.asarray(values, np.float64) - low) * (255 / (high - low)))
    return np.clip(np.rint(scaled), 0, 255).astype(np.uint8)


def _packed(data):
    return base64.b64encode(zlib.compress(bytes(data), 6)).decode()


class _Encoder:
    """Encodes frames as differences from the previous frame; view.html has the inverse."""

    def __init__(self, survey, kept):
        self.survey, self.kept = survey, kept
        self.step = (survey.high - survey.low) / 65535
        self.step[self.step == 0] = 1
        self.ranges = {name: survey.range_of(name) for name in survey.first}
        self.varying = [name for name in survey.first if not survey.constant[name]]
        self.before = None

    def frame(self, frame):
        positions = np.rint((frame.positions[self.kept] - self.survey.low) / self.step).clip(0, 65535).astype(np.uint16)
        fields = _scalars(frame)
        values = [_byte_values(fields[name][self.kept], self.ranges[name]) for name in self.varying]
        now = (positions, values)
        if self.before is not None:
            positions = positions - self.before[0]
            values = [one - last for one, last in zip(values, self.before[1])]
        self.before = now
        parts = [(positions & 255).astype(np.uint8), (positions >> 8).astype(np.uint8), *values]
        return _packed(b"".join(part.tobytes() for part in parts))

    def header(self):
        constant = [name for name in self.survey.first if self.survey.constant[name]]
        fields = [{"name": name, "range": self.ranges[name], "varying": k} for k, name in enumerate(self.varying)]
        fields += [{"name": name, "range": self.ranges[name], "fixed": k} for k, name in enumerate(constant)]
        fields += [
            {"name": axis, "range": [float(self.survey.low[k]), float(self.survey.high[k])], "axis": k}
            for k, axis in enumerate("xyz")
        ]
        fixed = [_byte_values(self.survey.first[name][self.kept], self.ranges[name]) for name in constant]
        return {
            "count": len(self.kept),
            "fields": fields,
            "first": "speed" if "speed" in self.ranges else fields[0]["name"],
            "varying": len(self.varying),
            "fixed": _packed(b"".join(one.tobytes() for one in fixed)),
            "low": self.survey.low.tolist(),
            "step": self.step.tolist(),
            "lower": self.survey.lower.tolist(),
            "upper": self.survey.upper.tolist(),
        }


def _evenly(count, most):
    """Indices of at most `most` of `count` things, evenly spread, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def _encoded(every, survey, kept, chosen, room):
    """Header and packed frames of the chosen frames; if they take more than `room` bytes, the number that fits."""
    encoder, packed, chosen = _Encoder(survey, kept), [], set(chosen.tolist())
    for index, frame in enumerate(every()):
        if index not in chosen:
            continue
        packed.append(encoder.frame(frame))
        room -= len(packed[-1])
        if room < 0 and len(chosen) > 1:
            return len(packed) - 1
    return encoder.header() | {"frames": packed, "times": [f"{survey.times[k]:.6g}" for k in sorted(chosen)]}


def page(
    source: frames.Frames | FilePath,
    title: str | None = None,
    most_frames: int = 200,
    most_particles: int = 100_000,
    megabytes: float = 64.0,
    gravity: Array = None,
) -> tuple[str, str]:
    """The page as text, and a line that describes it.

    source : a result of `quadrat.run`, a list of frames, or a path for `quadrat.frames.read`
    gravity : three numbers, the direction that is down; by default the run's
    The others are the options of the command.

    Raises ValueError and OSError for a source that cannot be shown."""
    for name, value in (("--frames", most_frames), ("--particles", most_particles), ("--megabytes", megabytes)):
        if not value >= 1:
            raise ValueError(f"{name} is {value}; it must be at least 1")
    if gravity is not None and np.shape(gravity) != (3,):
        raise ValueError(f"gravity is {gravity!r}; three numbers are accepted")
    k3d = _command.needed("k3d", "view")
    name, down, every = _about(source)
    survey = _Survey(source if isinstance(source, (str, os.PathLike)) else name, every)
    kept = _evenly(survey.count, most_particles)
    chosen = _evenly(len(survey.times), most_frames)
    data = _encoded(every, survey, kept, chosen, megabytes * 1e6)
    while isinstance(data, int):
        # Frames that are farther apart differ more.
        chosen = _evenly(len(survey.times), max(1, int(0.95 * data)))
        data = _encoded(every, survey, kept, chosen, megabytes * 1e6)
    about = f"{len(kept):,} particles, {len(chosen)} frame{'s' if len(chosen) > 1 else ''}"
    if len(kept) < survey.count or len(chosen) < len(survey.times):
        about += f", evenly from {survey.count:,} particles and {len(survey.times)} frames"
    title = title or name
    text = (pathlib.Path(__file__).parent / "_pages" / "view.html").read_text(encoding="utf-8")
    text = text.replace("[[TITLE]]", html.escape(title)).replace("[[ABOUT]]", html.escape(about))
    text = text.replace("[[DATA]]", json.dumps(data).replace("</", "<\\/"))
    return _with_library(k3d, survey, kept, text, title, down if gravity is None else gravity), about


def write(file: FilePath, source: frames.Frames | FilePath, **options: Any) -> str:
    """Writes the page of `source` into a file, whole or not at all; see `page`. Returns the line that describes it."""
    text, about = page(source, **options)
    _command.write_whole(file, text)
    return f"{about}, {len(text) / 1e6:.1f} MB"


def _about(source):
    """(name, direction of gravity, function that returns the frames at each call): from the run; for a path from the
    summary in the folder, or its name and no direction."""
    if not isinstance(source, (str, os.PathLike)):
        listed = list(frames.listed(source))
        facts = getattr(source, "facts", {})
        return facts.get("name", "frames").replace("_", " "), facts.get("gravity"), lambda: iter(listed)
    path = pathlib.Path(source).resolve()
    name, down = path.stem, None
    try:
        settings = json.loads((path / "summary.json").read_text())["settings"]
        name, down = settings["scene"]["name"], settings["physics"].get("gravity")
    except (OSError, ValueError, KeyError, TypeError):
        pass  # a run without a summary: it was stopped, or this is a file
    return name.replace("_", " "), down, lambda: frames.read(source)


def _camera(survey, down):
    """Position, target and up vector: up against gravity, two dimensions from above."""
    extent, middle = survey.upper - survey.lower, 0.5 * (survey.lower + survey.upper)
    distance = 1.35 * (np.linalg.norm(extent) or 1.0)
    if survey.flat:
        return [*(middle + [0, 0, distance]), *middle, 0, 1, 0]
    axis = int(np.argmax(np.abs(down))) if down is not None and np.any(down) else 2
    up = np.eye(3)[axis] * (-np.sign(down[axis]) if down is not None and np.any(down) else 1)
    front, right = np.roll(np.eye(3)[axis], 1), np.roll(np.eye(3)[axis], 2)
    azimuth, elevation = np.radians([25, 18])
    toward = np.cos(elevation) * (np.cos(azimuth) * front + np.sin(azimuth) * right) + np.sin(elevation) * up
    return [float(one) for one in (*(middle + distance * toward), *middle, *up)]


def _with_library(k3d, survey, kept, text, title, down):
    """k3d's page, which holds the library, with the points of the first frame and the box; ours goes into its body."""
    extent = survey.upper - survey.lower
    radii = survey.first.get("radius")
    spacing = (np.prod(extent[extent > 0]) / survey.count) ** (1 / max(1, np.count_nonzero(extent > 0)))
    look = {"point_size": float(spacing * 0.8), "shader": "3d"}
    if radii is not None:
        look["point_sizes"] = 2 * np.asarray(radii[kept], np.float32)
    plot = k3d.plot(name=title, menu_visibility=False, grid_visible=False, camera_auto_fit=False, camera_fov=45,
                    axes_helper=0.6, colorbar_object_id=0, snapshot_type="full")  # fmt: skip
    plot.camera = _camera(survey, down)
    corners = np.array(
        [[survey.lower, survey.upper][b][a] for c in range(8) for a, b in enumerate((c & 1, c >> 1 & 1, c >> 2))]
    )
    corners = corners.reshape(8, 3).astype(np.float32)
    edges = [[c, c | 1 << axis] for c in range(8) for axis in range(3) if not c >> axis & 1]
    plot += k3d.lines(corners, edges, indices_type="segment", color=0x808890, shader="simple", name="box")
    start = np.resize(corners, (len(kept), 3))
    plot += k3d.points(start, attribute=np.zeros(len(kept), np.float32), color_range=[0, 1],
                       color_map=k3d.matplotlib_color_maps.Viridis, name="particles", **look)  # fmt: skip
    whole = plot.get_snapshot(additional_js_code="quadratView(K3DInstance);")
    head, _, body = whole.partition("<body>")
    before, _, rest = head.partition("<title>")
    device = '<meta name="viewport" content="width=device-width, initial-scale=1">'
    head = f"{before}{device}<title>{html.escape(title)}</title>{rest.partition('</title>')[2]}"
    return head + "<body>" + text + body


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser("python3 -m quadrat.view", description=__doc__.split("\n")[0])
    endings = ".vtp, .vtu, .pvtp, .pvtu, .xyz, .extxyz, .gsd"
    parser.add_argument("path", help=f"a run's folder, or a file of frames ({endings})")
    parser.add_argument("-o", "--output", help="the page; default: view.html in the folder, or beside the file")
    parser.add_argument("--title", help="default: the folder's name")
    parser.add_argument("--frames", type=int, default=200, help="at most so many (default 200)")
    parser.add_argument("--particles", type=int, default=100_000, help="at most so many (default 100000)")
    parser.add_argument("--megabytes", type=float, default=64, help="of data in the page, at most (default 64)")
    axes = ("X", "Y", "Z")
    parser.add_argument("--gravity", type=float, nargs=3, metavar=axes, help="down; default: the run's, or -z")
    options = parser.parse_args(arguments)
    path = pathlib.Path(options.path)
    output = options.output or (path / "view.html" if path.is_dir() else path.with_suffix(".html"))
    limits = {"most_frames": options.frames, "most_particles": options.particles, "megabytes": options.megabytes}
    print(f"{output}: {write(output, path, title=options.title, gravity=options.gravity, **limits)}")


if __name__ == "__main__":
    sys.exit(_command.run("quadrat.view", main, sys.argv[1:]))
