// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_circles.hpp"

#include <tuple>
#include <utility>

#include "core/backend.hpp"
#include "models/circles/ranks/share.hpp"
#include "models/circles/setup.hpp"
#include "models/ranks/share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T, int D>
[[nodiscard]] auto circles_on_ranks(const Context& context, communicator& ranks, const circles_options& options,
                                    std::span<const vec<double, D>> positions) {
  using whole_type = circles<Context, T, D>;
  const bool root = ranks.rank() == 0;
  std::unique_ptr<whole_type> whole;
  std::unique_ptr<detail::model_share<whole_type>> share;
  circles_options completed;
  together(ranks, [&] {
    require(root || positions.empty(), "rank ", ranks.rank(), " gives ", positions.size(), " agents; only rank 0 may");
    completed = detail::complete_circles(context, options);
    require(completed.order == circles_default_order && completed.cell_list == circles_default_cell_list,
            "the order of the Circles model is ", completed.order, " over ", completed.cell_list,
            "; over several ranks it is ", circles_default_order, " over ", circles_default_cell_list);
    if (root) whole = std::make_unique<whole_type>(context, completed, positions);
  });
  const std::size_t count = all_values(ranks, positions.size())[0];
  together(ranks, [&] {
    share = std::make_unique<detail::circles_share<Context, T, D>>(context, ranks,
                                                                   detail::make_circles_setup<T, D>(completed, count));
  });
  return std::tuple(completed, count, std::move(share), std::move(whole));
}

}  // namespace

template <typename Context, typename T, int D>
distributed_circles<Context, T, D>::distributed_circles(const Context& context, communicator& ranks,
                                                        const circles_options& options,
                                                        std::span<const vec<double, D>> positions)
    : distributed_model<circles<Context, T, D>>([&] {
        auto [completed, count, share, whole] = circles_on_ranks<Context, T, D>(context, ranks, options, positions);
        using made = typename distributed_model<circles<Context, T, D>>::implementation;
        return std::make_unique<made>(context, ranks, completed, count, std::move(share), std::move(whole));
      }()) {}

template <typename Context, typename T, int D>
int distributed_circles<Context, T, D>::record(std::size_t steps, const std::function<int()>& wish,
                                               std::vector<circles_record>& records) {
  auto& self = *this->implementation_;
  if (steps > 0) self.present = false;
  const int asked = static_cast<detail::circles_share<Context, T, D>&>(*self.share).record(steps, wish, records);
  this->check();
  return asked;
}

template class distributed_model<circles<backend_context, float, 2>>;
template class distributed_model<circles<backend_context, float, 3>>;
template class distributed_model<circles<backend_context, double, 2>>;
template class distributed_model<circles<backend_context, double, 3>>;
template class distributed_circles<backend_context, float, 2>;
template class distributed_circles<backend_context, float, 3>;
template class distributed_circles<backend_context, double, 2>;
template class distributed_circles<backend_context, double, 3>;

}  // namespace quadrat
