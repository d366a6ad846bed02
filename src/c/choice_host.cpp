// SPDX-License-Identifier: BSD-3-Clause
#include "c/entry.hpp"
#include "quadrat/choice/choose_method.hpp"

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

}  // namespace

extern "C" {

int quadrat_choice_create(quadrat_context* context, const quadrat_load* load, quadrat_choice** choice) {
  return create(context, choice, [&](const auto& backend) {
    const quadrat_load given = taken(load, offsetof(quadrat_load, cells), "load");
    auto made = std::make_unique<quadrat_choice>();
    made->found = choose_method(numbered(given.task, method_task::contacts, "task"), load_of(given), backend);
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

}  // extern "C"

}  // namespace quadrat::c
