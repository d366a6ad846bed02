# SPDX-License-Identifier: BSD-3-Clause
"""MACE's calculator for ASE with this package's neighbor list: one line exchanges the list, nothing else.

    pip install mace-torch
    python3 examples/mace_calculator/mace_calculator.py [--model FILE] [--repeat 6 6 7]

Rock salt, 2,016 atoms. Without the file of a model a small one with random weights serves. Prints the energy, and the
milliseconds of the list and of energy and forces, with the list of matscipy that MACE comes with and with this one.
"""

import argparse
import importlib
import time
from typing import Any, NamedTuple

import numpy as np
import quadrat.matscipy


class Step(NamedTuple):
    energy: float
    forces: Any
    list_ms: float
    step_ms: float


def small_model() -> Any:
    """A model of sodium and chlorine with random weights."""
    modules: Any = importlib.import_module("mace.modules")
    o3: Any = importlib.import_module("e3nn.o3")
    torch: Any = importlib.import_module("torch")
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    block = modules.interaction_classes["RealAgnosticResidualInteractionBlock"]
    few = o3.Irreps("4x0e")
    return modules.MACE(
        r_max=4.0,
        num_bessel=4,
        num_polynomial_cutoff=5,
        max_ell=1,
        interaction_cls=block,
        interaction_cls_first=block,
        num_interactions=2,
        num_elements=2,
        hidden_irreps=few,
        MLP_irreps=few,
        atomic_energies=np.zeros(2),
        avg_num_neighbors=20.0,
        atomic_numbers=[11, 17],
        correlation=2,
        gate=torch.nn.functional.silu,
    )


def compare(atoms: Any, model: Any, cutoff: float) -> dict[str, Step]:
    """A step with each list, by its name. `model` : a model, or the file of one."""
    calculators: Any = importlib.import_module("mace.calculators")
    neighborhood: Any = importlib.import_module("mace.data.neighborhood")
    own = {"model_paths": model} if isinstance(model, str) else {"models": [model]}
    steps: dict[str, Step] = {}
    lists = {"matscipy": neighborhood.neighbour_list, "quadrat": quadrat.matscipy.neighbour_list}
    for name, neighbour_list in lists.items():
        neighborhood.neighbour_list = neighbour_list  # the line
        atoms.calc = calculators.MACECalculator(**own, device="cpu", default_dtype="float64")
        atoms.get_forces()  # warms up
        atoms.calc.reset()
        start = time.perf_counter()
        neighbour_list("ijS", atoms, cutoff)
        listed = time.perf_counter()
        energy, forces = atoms.get_potential_energy(), atoms.get_forces()
        end = time.perf_counter()
        steps[name] = Step(energy, forces, 1e3 * (listed - start), 1e3 * (end - listed))
    neighborhood.neighbour_list = lists["matscipy"]
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="the file of a model that knows sodium and chlorine")
    parser.add_argument("--repeat", type=int, nargs=3, default=[6, 6, 7], help="cells of 8 atoms along each axis")
    parser.add_argument("--cutoff", type=float, default=4.0, help="of the list whose time is shown; that of the model")
    given = parser.parse_args()
    build: Any = importlib.import_module("ase.build")
    atoms = build.bulk("NaCl", "rocksalt", a=5.64, cubic=True).repeat(given.repeat)
    atoms.rattle(0.1, seed=1)
    for name, step in compare(atoms, given.model or small_model(), given.cutoff).items():
        print(f"{name:<9} {step.energy:.10f} eV, list {step.list_ms:.1f} ms, energy and forces {step.step_ms:.1f} ms")


if __name__ == "__main__":
    main()
