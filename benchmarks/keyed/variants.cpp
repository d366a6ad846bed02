// SPDX-License-Identifier: BSD-3-Clause
#include "keyed/variants.hpp"

#include "quadrat/keyed/methods.hpp"

namespace quadrat::bench {

key_reducer_options key_variant::options(double uses, int value_bytes, int components) const {
  key_reducer_options chosen;
  chosen.method = method;
  chosen.uses = uses;
  chosen.value_bytes = value_bytes;
  chosen.value_components = components;
  chosen.compensated = compensated;
  return chosen;
}

std::vector<key_variant> key_variants(const session& s, bool in_order, determinism level, bool compensated) {
  std::vector<key_variant> variants;
  const auto add = [&](std::string_view name) {
    if (!s.wants_method(name)) return;
    key_variant variant;
    variant.method = name;
    variant.level = level;
    variant.compensated = compensated;
    variants.push_back(variant);
  };
  add("auto");
  for (const key_method& method : key_methods()) {
    if (!(s.on_cuda() ? method.on_cuda : method.on_cpu) || (!method.any_order && !in_order)) continue;
    if (static_cast<int>(method.reproducible) < static_cast<int>(level) || (compensated && !method.compensates))
      continue;
    add(method.name);
  }
  return variants;
}

bool queues_for_a_key(std::string_view method) { return method == "cas_loop" || method == "linked_lists"; }

row identify_keyed(std::string_view operation, const key_variant& variant, std::string_view type, std::size_t n,
                   std::size_t keys, std::string_view distribution, int components) {
  row identity{{"op", operation}, {"method", variant.method},     {"precision", type},       {"n", n},
               {"keys", keys},    {"distribution", distribution}, {"components", components}};
  if (variant.named_peers) {
    identity["finder"] = detail::peer_finder_names[static_cast<std::size_t>(variant.details.finder)];
    identity["combination"] = detail::peer_combination_names[static_cast<std::size_t>(variant.details.combination)];
  }
  if (variant.level != determinism::none) identity["determinism"] = "run_to_run";
  if (variant.compensated) identity["compensated"] = true;
  return identity;
}

}  // namespace quadrat::bench
