// SPDX-License-Identifier: BSD-3-Clause
#include "c/arrays.hpp"
#include "core/backend.hpp"
#include "quadrat/cells/make_cells.hpp"

struct quadrat_cell_list : quadrat::c::handle {
  virtual void build(const quadrat_points* points, bool wait) = 0;
  virtual void check() = 0;
  [[nodiscard]] virtual quadrat_cell_view view() = 0;
  virtual void write(int output, int index_type, void* to, bool wait) = 0;
};

namespace quadrat::c {

using cell_list_handle = std::unique_ptr<quadrat_cell_list>;
cell_list_handle make_cell_list(const cpu_context& context, const quadrat_cell_options& options);
cell_list_handle make_cell_list(const cuda_context& context, const quadrat_cell_options& options);

namespace {

template <typename T, int D>
[[nodiscard]] grid<T, D> grid_of(const quadrat_cell_options& given) {
  const box<T, D> space = box_of<T, D>(given.domain);
  vec<int, D> cells{};
  bool any = false;
  for (int axis = 0; axis < D; ++axis) any = (cells[axis] = given.cells[axis]) != 0 || any;
  return any ? make_grid(space, cells) : make_grid_for_cutoff(space, static_cast<T>(given.cutoff));
}

template <typename T>
[[nodiscard]] cell_list_options<T> cell_options_of(const quadrat_cell_options& given) {
  cell_list_options<T> result;
  result.accept_outside = given.accept_outside != 0;
  return result;
}

template <typename Context, typename T, int D>
class cell_list_on final : public quadrat_cell_list {
 public:
  cell_list_on(const Context& context, const quadrat_cell_options& options)
      : context_(context), cells_(context, grid_of<T, D>(options), cell_options_of<T>(options)) {}

  void build(const quadrat_points* points, bool wait) override {
    const auto places = points_at<T, D>(context_, points);
    built_ = false;
    wait ? cells_.build(places) : cells_.build_async(places);
    if (wait) context_.synchronize();  // the caller may free or change the points from here on
    built_ = true;
  }
  void check() override { cells_.check(); }

  [[nodiscard]] quadrat_cell_view view() override {
    quadrat_cell_view result{};
    result.dimension = D;
    result.count = 1;
    for (int axis = 0; axis < D; ++axis) {
      result.cells[axis] = cells_.space().cells[axis];
      result.count *= static_cast<std::size_t>(result.cells[axis]);
    }
    if (!built_) return result;
    const counting_buckets_view found = cells_.view().buckets;
    result.points = found.count;
    result.offsets = found.offsets;
    result.indices = found.elements;
    return result;
  }

  void write(int output, int index_type, void* to, bool wait) override {
    require(output == QUADRAT_CELL_OFFSETS || output == QUADRAT_CELL_INDICES, "output is ", output,
            "; a value of quadrat_cell_output is needed");
    const counting_buckets_view found = cells_.view().buckets;
    if (output == QUADRAT_CELL_OFFSETS) {
      write_integers(context_, found.offsets, found.bucket_count + 1, index_type, to);
    } else {
      write_integers(context_, found.elements, found.count, index_type, to);
    }
    if (wait) context_.synchronize();
  }
  [[nodiscard]] quadrat_info info() override { return info_of(cells_); }

 private:
  Context context_;
  grid_cells<cell_methods::counting, Context, T, D> cells_;
  bool built_ = false;
};

}  // namespace

cell_list_handle make_cell_list(const backend_context& context, const quadrat_cell_options& options) {
  return with_instance<2>(options.type, options.dimension, [&](auto t, auto d) -> cell_list_handle {
    return std::make_unique<cell_list_on<backend_context, decltype(t), d.value>>(context, options);
  });
}

#if QUADRAT_BACKEND_CPU

extern "C" {

int quadrat_cell_list_create(quadrat_context* context, const quadrat_cell_options* options, quadrat_cell_list** cells) {
  return create(context, cells, [&](const auto& backend) {
    return make_cell_list(backend, taken(options, offsetof(quadrat_cell_options, cells), "options"));
  });
}
void quadrat_cell_list_destroy(quadrat_cell_list* cells) { destroy(cells); }
int quadrat_cell_list_build(quadrat_cell_list* cells, const quadrat_points* points) {
  return with(cells, [&](auto& one) { one.build(points, true); });
}
int quadrat_cell_list_build_async(quadrat_cell_list* cells, const quadrat_points* points) {
  return with(cells, [&](auto& one) { one.build(points, false); });
}
int quadrat_cell_list_check(quadrat_cell_list* cells) {
  return with(cells, [](auto& one) { one.check(); });
}
int quadrat_cell_list_view(quadrat_cell_list* cells, quadrat_cell_view* view) {
  return with(cells, [&](auto& one) { give(one.view(), view, "view"); });
}
int quadrat_cell_list_write(quadrat_cell_list* cells, int output, int index_type, void* to) {
  return with(cells, [&](auto& one) { one.write(output, index_type, to, true); });
}
int quadrat_cell_list_write_async(quadrat_cell_list* cells, int output, int index_type, void* to) {
  return with(cells, [&](auto& one) { one.write(output, index_type, to, false); });
}
int quadrat_cell_list_info(quadrat_cell_list* cells, quadrat_info* to) { return info(cells, to); }

}  // extern "C"

#endif

}  // namespace quadrat::c
