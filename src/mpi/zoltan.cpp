// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/zoltan.hpp"

#if QUADRAT_HAS_ZOLTAN

#include <zoltan.h>

#include <cstddef>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// The weighted points of this rank in the form in which Zoltan queries them.
struct weighted_places {
  int dimensions;
  std::span<const double> places;
  std::span<const float> weights;

  [[nodiscard]] static const weighted_places& of(void* data) { return *static_cast<const weighted_places*>(data); }
};

int count_places(void* data, int* status) {
  *status = ZOLTAN_OK;
  return static_cast<int>(weighted_places::of(data).weights.size());
}

void list_places(void* data, int /*global_length*/, int /*local_length*/, ZOLTAN_ID_PTR global, ZOLTAN_ID_PTR local,
                 int /*weight_length*/, float* weights, int* status) {
  const weighted_places& all = weighted_places::of(data);
  for (std::size_t k = 0; k < all.weights.size(); ++k) {
    global[k] = local[k] = static_cast<ZOLTAN_ID_TYPE>(k);  // not used to look anything up
    weights[k] = all.weights[k];
  }
  *status = ZOLTAN_OK;
}

int count_dimensions(void* data, int* status) {
  *status = ZOLTAN_OK;
  return weighted_places::of(data).dimensions;
}

void give_places(void* data, int /*global_length*/, int /*local_length*/, int count, ZOLTAN_ID_PTR /*global*/,
                 ZOLTAN_ID_PTR local, int dimensions, double* places, int* status) {
  const weighted_places& all = weighted_places::of(data);
  const auto width = static_cast<std::size_t>(dimensions);
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    for (std::size_t axis = 0; axis < width; ++axis) places[k * width + axis] = all.places[local[k] * width + axis];
  }
  *status = ZOLTAN_OK;
}

void check_zoltan(int status, const char* action) {
  if (status == ZOLTAN_OK || status == ZOLTAN_WARN) return;
  throw backend_error(message("Zoltan: ", action, ": error ", status));
}

/// Zoltan's state for one partition.
class zoltan_state {
 public:
  explicit zoltan_state(MPI_Comm comm) {
    float version = 0;
    check_zoltan(Zoltan_Initialize(0, nullptr, &version), "initializing");
    state_ = Zoltan_Create(comm);
    require_state();
    constexpr const char* parameters[][2] = {
        {"DEBUG_LEVEL", "0"},     {"LB_METHOD", "RCB"}, {"NUM_GID_ENTRIES", "1"},        {"NUM_LID_ENTRIES", "1"},
        {"OBJ_WEIGHT_DIM", "1"},  {"KEEP_CUTS", "1"},   {"RCB_RECTILINEAR_BLOCKS", "1"}, {"AVERAGE_CUTS", "1"},
        {"RETURN_LISTS", "NONE"}, {"REMAP", "0"}};
    for (const auto& [name, value] : parameters) check_zoltan(Zoltan_Set_Param(state_, name, value), name);
  }
  ~zoltan_state() { Zoltan_Destroy(&state_); }
  zoltan_state(const zoltan_state&) = delete;
  zoltan_state& operator=(const zoltan_state&) = delete;

  [[nodiscard]] Zoltan_Struct* get() const { return state_; }

 private:
  void require_state() const {
    if (state_ == nullptr) throw backend_error("Zoltan: no memory for its state");
  }

  Zoltan_Struct* state_ = nullptr;
};

void partition(const zoltan_state& state) {
  int changes = 0, global_length = 0, local_length = 0, coming = 0, leaving = 0;
  ZOLTAN_ID_PTR coming_global = nullptr, coming_local = nullptr, leaving_global = nullptr, leaving_local = nullptr;
  int *coming_ranks = nullptr, *coming_parts = nullptr, *leaving_ranks = nullptr, *leaving_parts = nullptr;
  check_zoltan(Zoltan_LB_Partition(state.get(), &changes, &global_length, &local_length, &coming, &coming_global,
                                   &coming_local, &coming_ranks, &coming_parts, &leaving, &leaving_global,
                                   &leaving_local, &leaving_ranks, &leaving_parts),
               "partitioning");
}

}  // namespace

std::vector<part_box> partition_by_zoltan(MPI_Comm comm, int dimensions, std::span<const double> places,
                                          std::span<const float> weights) {
  weighted_places given{dimensions, places, weights};
  const zoltan_state state(comm);
  Zoltan_Set_Num_Obj_Fn(state.get(), count_places, &given);
  Zoltan_Set_Obj_List_Fn(state.get(), list_places, &given);
  Zoltan_Set_Num_Geom_Fn(state.get(), count_dimensions, &given);
  Zoltan_Set_Geom_Multi_Fn(state.get(), give_places, &given);
  partition(state);
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  std::vector<part_box> boxes(static_cast<std::size_t>(ranks));
  for (int part = 0; part < ranks; ++part) {
    part_box& box = boxes[static_cast<std::size_t>(part)];
    int found = 0;
    check_zoltan(Zoltan_RCB_Box(state.get(), part, &found, &box.lower[0], &box.lower[1], &box.lower[2], &box.upper[0],
                                &box.upper[1], &box.upper[2]),
                 "asking for a box");
  }
  return boxes;
}

}  // namespace quadrat::detail

#else

namespace quadrat::detail {

std::vector<part_box> partition_by_zoltan(MPI_Comm, int, std::span<const double>, std::span<const float>) { return {}; }

}  // namespace quadrat::detail

#endif
