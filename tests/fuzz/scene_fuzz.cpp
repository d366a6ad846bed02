// SPDX-License-Identifier: BSD-3-Clause
// For any text, the readers of scenes give a scene that has passed their checks, or a scene_error.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "scenes/all_scenes.hpp"

namespace {

namespace io = quadrat::io;
constexpr std::array<std::string_view, 3> methods{"auto", "sorted", "linked_packed"};

template <typename Scene>
void read(std::string_view text) {
  quadrat::test::expect_sound_or_refused<io::scene_error>("s.toml", [&] {
    auto file = io::parse_scene<Scene>(text, "s.toml");
    if constexpr (requires { check(file.scene, file.places, methods); }) {
      check(file.scene, file.places, methods);
    } else {
      check(file.scene, file.places);
    }
    complete(file.scene, file.places);
    const std::string printed = to_text(file.scene);
    quadrat::test::expect(!io::first_difference(printed, printed), "a scene is equal to itself");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
#define QUADRAT_READ(name) read<io::name##_scene>(text);
  QUADRAT_FOR_EACH_SCENE(QUADRAT_READ)
#undef QUADRAT_READ
  return 0;
}
