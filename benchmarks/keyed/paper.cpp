// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "keyed/operations.hpp"
#include "keyed/paper_size.hpp"
#include "keyed/times.hpp"

namespace quadrat::bench {

namespace {

/// The methods of the paper on this device; `warp_peers` once for each variant of finding and combining peers.
std::vector<key_variant> paper_variants(const session& s) {
  constexpr std::array<std::string_view, 5> names{"atomic", "cas_loop", "shared_bins", "linked_lists", "warp_peers"};
  std::vector<key_variant> variants;
  for (key_variant variant : key_variants(s, false)) {
    if (std::ranges::find(names, variant.method) == names.end()) continue;
    if (variant.method != "warp_peers") {
      variants.push_back(variant);
      continue;
    }
    variant.named_peers = true;
    for (const detail::peer_combination combination :
         {detail::peer_combination::tree, detail::peer_combination::switched}) {
      for (const detail::peer_finder finder :
           {detail::peer_finder::vote, detail::peer_finder::match, detail::peer_finder::hash}) {
        variant.details.finder = finder;
        variant.details.combination = combination;
        variants.push_back(variant);
      }
    }
  }
  return variants;
}

template <typename T, typename Context>
void time_paper(const session& s, const Context& context, std::string_view order) {
  const paper_problem size = paper_problem_for(s);
  keyed_problem<Context, T> problem(context, paper_keys(s, order), size.keys);
  for (const key_variant& variant : paper_variants(s)) {
    time_keyed(s, context, problem, variant,
               identify_keyed("paper", variant, value_type_name<T>(), size.n, size.keys, order, 1));
  }
}

}  // namespace

void run_keyed_paper(const session& s) {
  with_context(s, [&](const auto& context) {
    for (const std::string_view order : paper_orders) {
      time_paper<float>(s, context, order);
      time_paper<double>(s, context, order);
    }
  });
}

}  // namespace quadrat::bench
