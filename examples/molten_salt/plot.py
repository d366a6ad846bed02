#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the radial distribution functions of molten NaCl that molten_salt has written, beside published distances:

    python3 plot.py rdf.csv rdf.png

Published: X-ray diffraction of the melt by S. Urakawa, N. Igawa, O. Shimomura and H. Ohno, American Mineralogist 84
(1999) 341. The distance of first neighbors, of unlike ions, is about 2.7 angstroms; that of second neighbors, of like
ions, 1.4 to 1.5 times that."""

import csv
import sys

FIRST, SECOND = 2.7, (1.4 * 2.7, 1.5 * 2.7)


def main(table: str = "rdf.csv", picture: str = "rdf.png") -> None:
    with open(table, newline="") as file:
        rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    curves = {name: [row[name] for row in rows] for name in rows[0]}
    r = curves.pop("r")
    for name, g in curves.items():
        height, at = max(zip(g, r))
        published = "about 2.7" if name == "NaCl" else "3.8 to 4.05"
        print(f"{name}: highest, {height:.2f}, at {at:.2f} angstroms; published: {published}")

    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    axes.axvline(FIRST, color="0.6", linestyle="--", label="unlike ions, published")
    axes.axvspan(*SECOND, color="0.9", label="like ions, published")
    for name, g in curves.items():
        axes.plot(r, g, label=f"{name[:2]}-{name[2:]}")
    axes.set(xlabel="r (angstroms)", ylabel="g(r)", title="Molten NaCl at 1200 K", xlim=(0, r[-1]), ylim=(0, None))
    axes.legend()
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:])
