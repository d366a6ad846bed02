// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "core/paper_methods.hpp"
#include "mesh/engine.hpp"
#include "mesh/sparse/rows.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

#if QUADRAT_HAS_CUSPARSE
inline constexpr bool cusparse_built = true;
#else
inline constexpr bool cusparse_built = false;
#endif

/// Whether NVIDIA's cuSPARSE and a driver are available to this process. The library is loaded here on first use, not
/// linked: a program linked with it would not start on a machine that has only the driver.
[[nodiscard]] bool cusparse_present();
/// This function, if quadrat::papers is linked.
inline constinit decltype(&cusparse_present) find_cusparse = nullptr;

/// The vendor's counterpart of single mesh: the same rows, built in the same way, multiplied by cusparseSpMV. Complex
/// values are complex vectors with a real matrix; several vectors are multiplied one by one. cuSPARSE needs the same
/// index size for offsets and columns, and doubling the memory of columns is not worth it: beyond 2^31 - 1
/// contributions the method is refused.
template <typename Context, typename T>
class cusparse_engine : public placed_points_engine<Context, T> {
 public:
  /// Throws backend_error when cuSPARSE is missing.
  cusparse_engine(const Context& context, const spread_setup<T>& setup);
  ~cusparse_engine() override;
  [[nodiscard]] std::size_t bytes_needed(std::size_t count) const override;
  /// Synchronizes.
  void set_points(const point_placement<T>& points) override;
  void spread(const value_layout& layout, const T* values, T* mesh, bool accumulate) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  struct descriptors;

  array<std::uint32_t, Context> counts_;
  array<std::uint32_t, Context> offsets_;
  array<std::uint32_t, Context> columns_;
  array<T, Context> weights_;
  workspace<Context> scratch_;
  std::unique_ptr<descriptors> descriptors_;
};

struct cusparse_method : paper_method {
  static constexpr std::string_view name = "cusparse";
  static constexpr std::string_view summary = "the rows of single_mesh, multiplied by NVIDIA's cuSPARSE";
  static constexpr bool on_cpu = false;
  static constexpr bool on_cuda = cusparse_built;
  static constexpr determinism reproducible = determinism::none;
  [[nodiscard]] static bool present() { return find_cusparse != nullptr && find_cusparse(); }
  template <typename Context, typename T>
  using engine = cusparse_engine<Context, T>;
};

}  // namespace quadrat::detail
