/* SPDX-License-Identifier: BSD-3-Clause */
/* Madelung's constant of rock salt, 1.7475646: the energy of 8 ions in a periodic cell. */
#include <math.h>
#include <quadrat/quadrat.h>
#include <stdio.h>

static int failed(int code) {
  if (code != QUADRAT_OK) fprintf(stderr, "quadrat: %s\n", quadrat_error_message());
  return code;
}

int main(void) {
  double points[8][3], charges[8], energy = 0;
  const double cell[3][3] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
  quadrat_context* context = NULL;
  quadrat_electrostatics* sums = NULL;
  quadrat_ewald_options options = {0};
  quadrat_ewald_input input = {0};
  quadrat_ewald_output output = {0};
  int i, axis;

  for (i = 0; i < 8; ++i) {
    charges[i] = 1;
    for (axis = 0; axis < 3; ++axis) {
      points[i][axis] = i >> axis & 1;
      if (i >> axis & 1) charges[i] = -charges[i];
    }
  }
  options.size = sizeof options;
  options.type = QUADRAT_FLOAT64;
  options.accuracy = 1e-8;
  input.size = sizeof input;
  input.points.data = points;
  input.points.count = 8;
  input.charges = charges;
  input.cells.vectors = cell[0];
  output.size = sizeof output;
  output.energy = &energy;
  if (failed(quadrat_context_create(NULL, &context)) ||
      failed(quadrat_electrostatics_create(context, &options, &sums)) ||
      failed(quadrat_electrostatics_compute(sums, &input, &output))) {
    return 1;
  }
  printf("%.7f\n", -energy / 4);
  quadrat_electrostatics_destroy(sums);
  quadrat_context_destroy(context);
  return fabs(-energy / 4 - 1.7475646) < 1e-6 ? 0 : 1;
}
