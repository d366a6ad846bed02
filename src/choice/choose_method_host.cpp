// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/choice/choose_method.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "contacts/choice.hpp"
#include "keyed/choice.hpp"
#include "mesh/choice.hpp"
#include "quadrat/core/error.hpp"
#include "search/choice.hpp"

namespace quadrat {

namespace {

/// A checked load on a device.
struct placed_load {
  const described_load& given;
  const device_profile& profile;
  determinism level;
  int threads;
  double cells = 1, keys = 0;

  [[nodiscard]] bool cuda() const { return profile.device.cuda; }
  [[nodiscard]] int dimension() const { return static_cast<int>(given.cells.size()); }
  [[nodiscard]] int number_bytes() const { return given.wide ? 8 : 4; }
};

[[nodiscard]] placed_load placed(const described_load& load, const device_profile& profile, determinism level,
                                 int threads) {
  require(load.count >= 0 && load.count <= 1e15 && load.count == std::floor(load.count), "n is ", load.count,
          "; it must be a whole number from 0 to 1e15");
  require(!load.cells.empty() && load.cells.size() <= 3, "cells have ", load.cells.size(),
          " axes; 1 to 3 are possible");
  require(load.order >= 1 && load.order <= 8, "order is ", load.order, "; it must be from 1 to 8");
  require(load.uses >= 1 && std::isfinite(load.uses), "uses is ", load.uses, "; it must be 1 or more");
  require(load.keys >= 0 && load.keys < 2147483648.0, "keys is ", load.keys, "; it must be below 2^31");
  require(std::isfinite(load.contacts), "contacts of a body are ", load.contacts, "; their number must be finite");
  require(threads >= 0, "threads is ", threads, "; it must be 0 or more");
  placed_load result{load, profile, level, threads};
  for (const int along : load.cells) {
    require(along > 0, "cells along an axis are ", along, "; there must be at least 1");
    result.cells *= along;
  }
  if (threads == 0) result.threads = std::max(1, profile.device.cuda ? 1 : profile.device.cores);
  if (level != determinism::none) result.threads = detail::usual_threads;
  result.keys = load.keys > 0 ? load.keys : result.cells;
  return result;
}

[[nodiscard]] explanation choose_spreading(const placed_load& load) {
  detail::spread_request request{};
  request.cuda = load.cuda();
  request.level = load.level;
  request.points = load.given.count;
  request.nodes = load.cells;
  request.bytes = load.cells * load.number_bytes();
  request.footprint = std::pow(load.given.order, load.dimension());
  request.work = request.points * request.footprint / 216;
  request.uses = load.given.uses;
  request.width = load.given.order;
  request.threads = load.threads;
  request.dimension = load.dimension();
  request.row = load.given.order;
  request.asynchronous = true;  // plans do not wait by default
  return detail::explain_spread_method(request, load.profile);
}

[[nodiscard]] explanation choose_reduction(const placed_load& load) {
  detail::key_request request{};
  request.cuda = load.cuda();
  request.threads = load.threads;
  request.level = load.level;
  request.free_bytes = ~std::size_t{0};
  request.elements = load.given.count;
  request.keys = load.keys;
  request.row_bytes = load.number_bytes();
  request.uses = load.given.uses;
  const auto distinct = [](double keys, double drawn) {
    return -keys * std::expm1(drawn * std::log1p(-1 / (keys + 1e-9)));
  };
  request.sample.seen = 0;
  request.sample.same = request.sample.commonest = 1 / load.keys;
  request.sample.descending = 0.5;
  request.sample.warp_keys = std::max(1.0, distinct(load.keys, 32));
  request.sample.warp_sectors = std::max(1.0, distinct(std::max(1.0, load.keys / 8), 32));
  request.sample.block_keys = std::max(1.0, distinct(load.keys, 4096));
  request.sample.span = request.sample.block_span = load.keys;
  return detail::explain_key_method(request, load.profile);
}

[[nodiscard]] explanation choose_list(const placed_load& load) {
  detail::neighbor_request request{load.cuda(), static_cast<std::size_t>(load.given.count), true};
  request.threads = load.threads;
  request.dimension = std::max(2, load.dimension());
  request.number_bytes = load.number_bytes();
  request.box_cells = load.cells;
  return detail::explain_neighbor_method(request, load.profile);
}

[[nodiscard]] explanation choose_contacts(const placed_load& load) {
  detail::pair_request request{static_cast<std::size_t>(load.given.count)};
  request.cuda = load.cuda();
  request.threads = load.threads;
  request.number_bytes = load.number_bytes();
  if (load.cuda() && load.given.contacts >= 0) request.found = load.given.contacts * load.given.count;
  return detail::explain_contact_method({"contact method", load.cuda(), load.level}, request, load.profile);
}

}  // namespace

explanation choose_method(method_task task, const described_load& load, const device_profile& profile,
                          determinism level, int threads) {
  const placed_load there = placed(load, profile, level, threads);
  switch (task) {
    case method_task::spread:
      return choose_spreading(there);
    case method_task::reduce:
      return choose_reduction(there);
    case method_task::neighbors:
      return choose_list(there);
    case method_task::contacts:
      break;
  }
  return choose_contacts(there);
}

explanation choose_method(method_task task, const described_load& load, const cpu_context& context) {
  return choose_method(task, load, profile_of(context), context.reproducibility(), context.threads());
}

explanation choose_method(method_task task, const described_load& load, const cuda_context& context) {
  return choose_method(task, load, profile_of(context), context.reproducibility());
}

}  // namespace quadrat
