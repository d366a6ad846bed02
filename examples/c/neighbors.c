/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbors of 1000 points on a simple cubic lattice: each has six. */
#include <quadrat/quadrat.h>
#include <stdio.h>

static int failed(int code) {
  if (code != QUADRAT_OK) fprintf(stderr, "quadrat: %s\n", quadrat_error_message());
  return code;
}

int main(void) {
  enum { side = 10, count = side * side * side };
  static double points[count][3];
  const double box[3][3] = {{side, 0, 0}, {0, side, 0}, {0, 0, side}};
  quadrat_context* context = NULL;
  quadrat_neighbor_list* list = NULL;
  quadrat_neighbor_options options = {0};
  quadrat_neighbor_input input = {0};
  quadrat_neighbor_view view = {0};
  int i;

  for (i = 0; i < count; ++i) {
    points[i][0] = i % side;
    points[i][1] = i / side % side;
    points[i][2] = i / (side * side);
  }
  options.size = sizeof options;
  options.type = QUADRAT_FLOAT64;
  options.dimension = 3;
  options.cutoff = 1.1;
  options.sorted = 1;
  input.size = sizeof input;
  input.points.data = points;
  input.points.count = count;
  input.boxes.vectors = box[0];
  view.size = sizeof view;
  if (failed(quadrat_context_create(NULL, &context)) ||
      failed(quadrat_neighbor_list_create(context, &options, &list)) ||
      failed(quadrat_neighbor_list_build(list, &input)) || failed(quadrat_neighbor_list_view(list, &view))) {
    return 1;
  }
  printf("%lu pairs; point 0 has", (unsigned long)view.entries);
  for (i = 0; i < (int)view.offsets[1]; ++i) printf(" %lu", (unsigned long)view.neighbors[i]);
  printf("\n");
  i = view.entries == 6 * count ? 0 : 1;
  quadrat_neighbor_list_destroy(list);
  quadrat_context_destroy(context);
  return i;
}
