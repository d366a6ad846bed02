// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <new>
#include <vector>

#include "cells/crowd.hpp"
#include "harness/report.hpp"
#include "harness/session.hpp"
#include "harness/timing.hpp"
#include "io/temporary_folder.hpp"
#include "topics.hpp"

namespace quadrat::bench {
namespace {

TEST(timing, halves_agree_when_their_medians_do) {
  EXPECT_TRUE(halves_agree(std::array{1.0, 1.0}, 0.02));
  EXPECT_TRUE(halves_agree(std::array{1.0, 9.0, 1.0, 1.0, 1.01, 9.0}, 0.02));
  EXPECT_FALSE(halves_agree(std::array{1.0, 1.0, 1.05, 1.05}, 0.02));
  EXPECT_FALSE(halves_agree(std::array{1.0}, 0.02));
}

TEST(timing, summary_of_known_samples) {
  const timing odd = summarize(std::array{3.0, 1.0, 2.0}, 0.02);
  EXPECT_EQ(odd.median_ms, 2);
  EXPECT_EQ(odd.min_ms, 1);
  EXPECT_EQ(odd.max_ms, 3);
  EXPECT_EQ(odd.samples, 3u);
  EXPECT_FALSE(odd.stable);
  EXPECT_EQ(summarize(std::array{1.0, 2.0, 3.0, 4.0}, 0.02).median_ms, 2.5);
  EXPECT_THROW(static_cast<void>(summarize({}, 0.02)), argument_error);
}

TEST(timing, repeats_until_stable) {
  timing_plan plan;
  plan.least = 4;
  plan.most = 100;
  plan.seconds = 60;
  int calls = 0;
  const timing steady = repeat(plan, [&] { return ++calls <= 4 ? 10.0 : 1.0; });
  EXPECT_TRUE(steady.stable);
  EXPECT_EQ(steady.samples, 4u);
  calls = 0;
  const timing falling = repeat(plan, [&] { return 1.0 / ++calls; });
  EXPECT_FALSE(falling.stable);
  EXPECT_EQ(falling.samples, plan.most);
}

TEST(report, collects_and_saves_rows) {
  const io::temporary_folder folder;
  settings asked;
  asked.topic = "cells";
  asked.json = folder.path() / "result.json";
  report out(asked);
  EXPECT_FALSE(std::filesystem::exists(asked.json));
  const session s(asked, out);
  const row identity = identify("insert", "sorted", "float", 100, 64, "uniform");
  s.attempt(identity, [](row& target) { add_timing(target, summarize(std::array{2.0}, 0.02), "inserts_per_s", 100); });
  s.attempt(identity, [](row&) { throw overflow_error("too small", 3); });
  s.attempt(identity, [](row&) { throw std::bad_alloc(); });
  s.attempt(identity, [](row&) { throw disagreement("they differ"); });
  EXPECT_EQ(out.rows(), 1u);
  EXPECT_EQ(out.failures(), 1u);
  out.save(true);
  const row saved = row::parse(std::ifstream(asked.json));
  EXPECT_EQ(saved["meta"]["topic"], "cells");
  EXPECT_EQ(saved["meta"]["complete"], true);
  EXPECT_EQ(saved["rows"][0]["method"], "sorted");
  EXPECT_EQ(saved["rows"][0]["inserts_per_s"], 50000.0);
  EXPECT_EQ(saved["skipped"].size(), 2u);
  EXPECT_EQ(saved["failed"][0]["reason"], "they differ");
}

TEST(report, refuses_a_file_that_cannot_be_written) {
  const io::temporary_folder folder;
  std::ofstream(folder.path() / "file") << "not a folder";
  settings asked;
  asked.json = folder.path() / "file" / "result.json";
  EXPECT_THROW(report{asked}, io_error);
}

TEST(session, begins_no_row_after_the_limit) {
  settings asked;
  asked.limit_s = 1e-9;
  report out(asked);
  const session s(asked, out);
  s.attempt(identify("insert", "sorted", "float", 1, 1, "uniform"), [](row&) { FAIL(); });
  EXPECT_EQ(out.rows() + out.failures(), 0u);
}

/// A cell list that has lost its first particle.
class forgetful final : public cell_subject<cpu_context, float> {
 public:
  explicit forgetful(std::unique_ptr<cell_subject<cpu_context, float>> whole) : whole_(std::move(whole)) {}
  void build(const points_view<float, 3>& points) override {
    points_view<float, 3> rest = points;
    --rest.count;
    whole_->build(rest);
  }
  void check() override { whole_->check(); }
  [[nodiscard]] std::size_t bytes() const override { return whole_->bytes(); }
  [[nodiscard]] bool carries() const override { return false; }
  void build_and_carry(const points_view<float, 3>&, std::span<const carried_array>) override {}
  void walk(const points_view<float, 3>&, float, walk_result<float>*) override {}
  [[nodiscard]] tally contents() override { return whole_->contents(); }
  [[nodiscard]] tally neighbors(const points_view<float, 3>& points, float cutoff, std::size_t samples) override {
    return whole_->neighbors(points, cutoff, samples);
  }

 private:
  std::unique_ptr<cell_subject<cpu_context, float>> whole_;
};

TEST(crowd, notices_a_lost_particle) {
  const cube room{4};
  crowd<cpu_context, float> people(cpu_context(), room, random_points<float>(500, room.half_side(), 1));
  for (const std::string_view method : cell_list_methods::names)
    EXPECT_NO_THROW(people.verify(method, *people.make(method)));
  forgetful list(people.make("sorted"));
  EXPECT_THROW(people.verify("forgetful", list), disagreement);
}

TEST(topics, unknown_names_are_errors) {
  settings asked;
  asked.topic = "cels";
  EXPECT_THROW(check(asked), argument_error);
  asked.topic = "cells";
  EXPECT_NO_THROW(check(asked));
  asked.figures = {2};
  EXPECT_THROW(check(asked), argument_error);
  asked.figures = {3};
  asked.methods = {"linked"};
  EXPECT_THROW(check(asked), argument_error);
  asked.methods = {"linked_loose"};
  asked.operations = {"dance"};
  EXPECT_THROW(check(asked), argument_error);
}

}  // namespace
}  // namespace quadrat::bench
