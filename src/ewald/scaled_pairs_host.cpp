// SPDX-License-Identifier: BSD-3-Clause
#include "ewald/scaled_pairs.hpp"

#include <algorithm>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

template <typename T>
scaled_partner_rows<T> make_scaled_partners(std::span<const scaled_pair> pairs, std::size_t points) {
  require(pairs.size() <= max_count / 2, "there are ", pairs.size(), " scaled pairs; at most ", max_count / 2,
          " are possible");
  scaled_partner_rows<T> rows;
  rows.offsets.assign(points + 1, 0);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const scaled_pair& pair = pairs[k];
    for (const particle_id point : {pair.first, pair.second}) {
      require(point < points, "scaled pair ", k, " has point ", point, "; there are ", points, " points");
      ++rows.offsets[point + 1];
    }
    require(pair.first != pair.second, "scaled pair ", k, " is point ", pair.first, " with itself");
    require(std::isfinite(pair.scale), "the scale of pair ", k, " is ", pair.scale, "; it must be finite");
  }
  for (std::size_t i = 0; i < points; ++i) rows.offsets[i + 1] += rows.offsets[i];
  rows.partners.resize(2 * pairs.size());
  std::vector<std::uint32_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  for (const scaled_pair& pair : pairs) {
    rows.partners[next[pair.first]++] = {pair.second, static_cast<T>(pair.scale)};
    rows.partners[next[pair.second]++] = {pair.first, static_cast<T>(pair.scale)};
  }
  for (std::size_t i = 0; i < points; ++i) {
    const auto row = std::span(rows.partners).subspan(rows.offsets[i], rows.offsets[i + 1] - rows.offsets[i]);
    std::ranges::sort(row, {}, &scaled_partner<T>::id);
    const auto twice = std::ranges::adjacent_find(row, {}, &scaled_partner<T>::id);
    require(twice == row.end(), "the pair of points ", i, " and ", twice == row.end() ? 0 : twice->id,
            " is given twice among the scaled pairs");
  }
  return rows;
}

template scaled_partner_rows<float> make_scaled_partners(std::span<const scaled_pair>, std::size_t);
template scaled_partner_rows<double> make_scaled_partners(std::span<const scaled_pair>, std::size_t);

}  // namespace quadrat::detail
