// SPDX-License-Identifier: BSD-3-Clause
// For any text, the readers of scenes give a scene that has passed their checks, or a scene_error.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/expect.hpp"
#include "quadrat/io/brownian_scene.hpp"
#include "quadrat/io/circles_scene.hpp"
#include "quadrat/io/electrolyte_scene.hpp"
#include "quadrat/io/friction_scene.hpp"
#include "quadrat/io/granular_scene.hpp"
#include "quadrat/io/srd_scene.hpp"

namespace {

namespace io = quadrat::io;
constexpr std::array<std::string_view, 3> methods{"auto", "sorted", "linked_packed"};

template <typename Parse, typename Check>
void read(Parse&& parse, Check&& check) {
  quadrat::test::expect_sound_or_refused<io::scene_error>("s.toml", [&] {
    auto file = parse();
    check(file);
    complete(file.scene, file.places);
    const std::string text = to_text(file.scene);
    quadrat::test::expect(!io::first_difference(text, text), "a scene is equal to itself");
  });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto check_it = [](auto& file) { check(file.scene, file.places); };
  read([&] { return io::parse_scene<io::granular_scene>(text, "s.toml"); },
       [](auto& file) { check(file.scene, file.places, methods); });
  read([&] { return io::parse_scene<io::friction_scene>(text, "s.toml"); }, check_it);
  read([&] { return io::parse_scene<io::brownian_scene>(text, "s.toml"); }, check_it);
  read([&] { return io::parse_scene<io::circles_scene>(text, "s.toml"); }, check_it);
  read([&] { return io::parse_scene<io::srd_scene>(text, "s.toml"); }, check_it);
  read([&] { return io::parse_scene<io::electrolyte_scene>(text, "s.toml"); }, check_it);
  return 0;
}
