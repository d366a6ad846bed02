// SPDX-License-Identifier: BSD-3-Clause
#include "c/entry.hpp"
#include "quadrat/choice/choose_method.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/keyed/methods.hpp"
#include "quadrat/mesh/methods.hpp"
#include "quadrat/search/neighbor_list.hpp"

struct quadrat_choice : quadrat::c::handle {
  quadrat::explanation found;
  std::string text, json;
};

namespace quadrat::c {

namespace {

[[nodiscard]] described_load load_of(const quadrat_load& given) {
  described_load result;
  result.count = given.count;
  std::vector<int> cells;
  for (const int along : given.cells) {
    if (along != 0) cells.push_back(along);
  }
  if (!cells.empty()) result.cells = cells;
  result.order = or_default(given.order, result.order);
  result.uses = or_default(given.uses, result.uses);
  result.keys = given.keys;
  require(given.type == 0 || given.type == QUADRAT_FLOAT32 || given.type == QUADRAT_FLOAT64, "type is ", given.type,
          "; 0, QUADRAT_FLOAT32 (5) and QUADRAT_FLOAT64 (6) are accepted");
  result.wide = given.type == QUADRAT_FLOAT64;
  result.contacts = given.contacts == 0 ? result.contacts : given.contacts;
  return result;
}

template <typename Context>
[[nodiscard]] explanation choice_of(method_task task, const quadrat_load& given, const Context& context) {
  const described_load load = load_of(given);
  if (given.shipped_gpu == 0) return choose_method(task, load, context);
  return choose_method(task, load, shipped_profile(true), context.reproducibility());
}

/// Without the methods that exist only for comparison.
template <typename Method>
[[nodiscard]] std::string names_of(std::span<const Method> methods, bool on_cuda) {
  std::string names;
  for (const Method& method : methods) {
    if constexpr (requires { method.wrong_results; }) {
      if (method.wrong_results) continue;
    }
    if (on_cuda ? method.on_cuda : method.on_cpu) names += std::string(method.name) + "\n";
  }
  return names;
}

[[nodiscard]] std::string names_of(method_task task, bool on_cuda) {
  switch (task) {
    case method_task::spread:
      return names_of(spread_methods(), on_cuda);
    case method_task::reduce:
      return names_of(key_methods(), on_cuda);
    case method_task::neighbors:
      return names_of(neighbor_methods(), on_cuda);
    case method_task::contacts:
      break;
  }
  return names_of(contact_methods(), on_cuda);
}

}  // namespace

extern "C" {

int quadrat_choice_create(quadrat_context* context, const quadrat_load* load, quadrat_choice** choice) {
  return create(context, choice, [&](const auto& backend) {
    const quadrat_load given = taken(load, offsetof(quadrat_load, cells), "load");
    auto made = std::make_unique<quadrat_choice>();
    made->found = choice_of(numbered(given.task, method_task::contacts, "task"), given, backend);
    made->text = made->found.text();
    made->json = made->found.json();
    return made;
  });
}
void quadrat_choice_destroy(quadrat_choice* choice) { destroy(choice); }
int quadrat_choice_explanation(quadrat_choice* choice, quadrat_explanation* explanation) {
  return with(choice, [&](auto& one) {
    give(quadrat_explanation{0, one.found.chosen.c_str(), one.found.reason.c_str(), one.text.c_str(), one.json.c_str()},
         explanation, "explanation");
  });
}

int quadrat_method_names(int device, int task, const char** names) {
  return guarded([&] {
    require(names != nullptr, "the pointer to the names is null");
    static thread_local std::string kept;
    kept = names_of(numbered(task, method_task::contacts, "task"),
                    numbered(device, QUADRAT_CUDA, "device") == QUADRAT_CUDA);
    *names = kept.c_str();
  });
}

}  // extern "C"

}  // namespace quadrat::c
