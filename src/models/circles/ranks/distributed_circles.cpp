// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/models/distributed_circles.hpp"

#include <memory>

#include "core/backend.hpp"
#include "models/circles/ranks/circles_of_rank.hpp"
#include "models/circles/setup.hpp"
#include "models/ranks/model_share.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat {

namespace {

template <typename Context, typename T, int D>
using circles_steps = detail::ranked_steps<detail::circles_of_rank<Context, T, D>>;

template <typename Context, typename T, int D>
[[nodiscard]] auto circles_on_ranks(const Context& context, communicator& ranks, const circles_options& options,
                                    std::span<const vec<double, D>> positions) {
  using whole_type = circles<Context, T, D>;
  detail::parts_of_model<whole_type> parts;
  circles_options& completed = parts.options;
  together(ranks, [&] {
    completed = detail::complete_circles(context, options);
    require(completed.order == circles_default_order && completed.cell_list == circles_default_cell_list,
            "the order of the Circles model is ", completed.order, " over ", completed.cell_list,
            "; over several ranks it is ", circles_default_order, " over ", circles_default_cell_list);
    parts.whole = detail::whole_on_rank_0<whole_type>(ranks, "agents", positions.size(), context, completed, positions);
  });
  parts.size = all_values(ranks, positions.size())[0];
  together(ranks, [&] {
    parts.share = std::make_unique<circles_steps<Context, T, D>>(
        context, ranks, detail::make_circles_setup<T, D>(completed, parts.size));
  });
  return parts;
}

}  // namespace

template <typename Context, typename T, int D>
distributed_circles<Context, T, D>::distributed_circles(const Context& context, communicator& ranks,
                                                        const circles_options& options,
                                                        std::span<const vec<double, D>> positions)
    : distributed_model<circles<Context, T, D>>(context, ranks,
                                                circles_on_ranks<Context, T, D>(context, ranks, options, positions)) {}

template <typename Context, typename T, int D>
int distributed_circles<Context, T, D>::record(std::size_t steps, const std::function<int()>& wish,
                                               std::vector<circles_record>& records) {
  auto& taken = static_cast<circles_steps<Context, T, D>&>(*this->implementation_->share);
  int asked = 0;
  taken.model().keep_records(true);
  for (std::size_t k = 0; k < steps && asked == 0 && !taken.ended(); ++k) {
    double seconds = 0;
    {
      const detail::waiting_time time(seconds);
      asked = this->advance(1, wish);
    }
    records.push_back(taken.model().recorded());
    records.back().step = this->step();
    records.back().milliseconds = 1e3 * seconds;
  }
  taken.model().keep_records(false);
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
