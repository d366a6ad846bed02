// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>

#include "mesh/engine.hpp"
#include "mesh/particle/gather.hpp"
#include "mesh/particle/particle.hpp"
#include "mesh/particle/racing.hpp"
#include "mesh/particle/threads.hpp"
#include "mesh/sparse/cusparse.hpp"
#include "mesh/sparse/group_mesh_engine.hpp"
#include "mesh/sparse/hybrid_mesh.hpp"
#include "mesh/sparse/single_mesh.hpp"
#include "mesh/tiles/cpu/engine.hpp"
#include "mesh/tiles/cpu/multicolor.hpp"
#include "mesh/tiles/cuda/engine.hpp"
#include "quadrat/core/config.hpp"
#include "quadrat/core/method_list.hpp"
#include "quadrat/core/types.hpp"

namespace quadrat::detail {

namespace spread_method_types {

struct particle {
  static constexpr std::string_view name = "particle";
  static constexpr std::string_view summary = "a thread a particle, atomic additions";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = particle_engine<Context, T>;
};

struct particle_threads {
  static constexpr std::string_view name = "particle_threads";
  static constexpr std::string_view summary = "several threads a particle, atomic additions";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = particle_threads_engine<Context, T>;
};

struct particle_racing {
  static constexpr std::string_view name = "particle_racing";
  static constexpr std::string_view summary = "particle without atomic operations: wrong, to be timed only";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = true;
  template <typename Context, typename T>
  using engine = particle_racing_engine<Context, T>;
};

struct gather {
  static constexpr std::string_view name = "gather";
  static constexpr std::string_view summary =
      "one particle a mesh point, gathered by mesh points; the others by atomic additions";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = true;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = gather_engine<Context, T>;
};

struct single_mesh {
  static constexpr std::string_view name = "single_mesh";
  static constexpr std::string_view summary = "weights as sparse rows (CSR), 1 to 32 threads a mesh point";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::canonical;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = single_mesh_engine<Context, T>;
};

struct group_mesh {
  static constexpr std::string_view name = "group_mesh";
  static constexpr std::string_view summary = "weights in groups of mesh points, summed in shared memory";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = group_mesh_engine<Context, T>;
};

struct hybrid_mesh {
  static constexpr std::string_view name = "hybrid_mesh";
  static constexpr std::string_view summary = "weights as rows of equal length (ELL) and a list of the rest (COO)";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = hybrid_mesh_engine<Context, T>;
};

struct cusparse {
  static constexpr std::string_view name = "cusparse";
  static constexpr std::string_view summary = "the rows of single_mesh, multiplied by NVIDIA's cuSPARSE";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = cusparse_built;
  static constexpr determinism reproducible = determinism::none;
  static constexpr bool wrong_results = false;
  [[nodiscard]] static bool present() { return cusparse_present(); }
  template <typename Context, typename T>
  using engine = cusparse_engine<Context, T>;
};

struct tiles {
  static constexpr std::string_view name = "tiles";
  static constexpr std::string_view summary = "points sorted by tile, footprints added up in a tile before the mesh";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = QUADRAT_HAS_CUDA != 0;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = std::conditional_t<std::is_same_v<Context, cpu_context>, cpu_tiles_engine<T>, cuda_tiles_engine<T>>;
};

struct multicolor {
  static constexpr std::string_view name = "multicolor";
  static constexpr std::string_view summary = "blocks of points that cannot collide, color after color";
  static constexpr bool on_cpu = true;
  static constexpr bool on_cuda = false;
  static constexpr determinism reproducible = determinism::run_to_run;
  static constexpr bool wrong_results = false;
  template <typename Context, typename T>
  using engine = multicolor_engine<T>;
};

}  // namespace spread_method_types

/// All methods of spreading. A new one is an engine in a file of its own, and its type and line here. `on_cuda` must be
/// false where the build has no CUDA backend if the engine has kernels of its own, because these are then not there.
using spread_method_list =
    method_list<spread_method_types::particle, spread_method_types::particle_threads,
                spread_method_types::particle_racing, spread_method_types::gather, spread_method_types::single_mesh,
                spread_method_types::group_mesh, spread_method_types::hybrid_mesh, spread_method_types::cusparse,
                spread_method_types::tiles, spread_method_types::multicolor>;

}  // namespace quadrat::detail
