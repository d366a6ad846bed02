// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/in_process.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "distributed/device_parcels.hpp"
#include "distributed/direct_ranks.hpp"

namespace quadrat {

namespace {

using detail::parcel;

/// What the ranks of one process share. Everything that another rank reads is held here or by shared pointers, so that
/// a rank that fails takes nothing away from the others.
class hub {
 public:
  explicit hub(int size)
      : size_(size),
        looks_(static_cast<unsigned>(4 * size) <= std::thread::hardware_concurrency()),
        mail_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
        marks_(static_cast<std::size_t>(size)) {
    for (auto& round : given_) round.resize(static_cast<std::size_t>(size));
  }

  [[nodiscard]] int size() const { return size_; }

  /// Waits until all ranks are here. Returns what each has given; valid until this rank comes here again.
  [[nodiscard]] const std::vector<std::vector<std::byte>>& meet(int rank, std::span<const std::byte> mine) {
    std::unique_lock lock(mutex_);
    const std::uint64_t round = round_;
    // Two sets by turns: nobody comes to the next round but one before all have come to, and so read, this one.
    auto& given = given_[round % 2];
    given[static_cast<std::size_t>(rank)].assign(mine.begin(), mine.end());
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      notify();
    } else {
      wait(lock, [&] { return round_ != round; });
    }
    return given;
  }

  void post(int from, const std::shared_ptr<parcel>& one) {
    const std::lock_guard lock(mutex_);
    box(from, one->to).push_back(one);
    notify();
  }
  [[nodiscard]] std::shared_ptr<parcel> next(int from, int to) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return !box(from, to).empty(); });
    auto one = box(from, to).front();
    box(from, to).pop_front();
    return one;
  }
  void mark_taken(parcel& one) {
    const std::lock_guard lock(mutex_);
    one.taken = true;
    notify();
  }
  void wait_until_taken(const parcel& one) {
    std::unique_lock lock(mutex_);
    wait(lock, [&] { return one.taken; });
  }

  /// Remembers the first failure and wakes all who wait.
  void fail(int rank, const std::exception_ptr& problem, const std::string& words) {
    const std::lock_guard lock(mutex_);
    if (failed_ < 0) {
      failed_ = rank;
      problem_ = problem;
      words_ = words;
    }
    notify();
  }
  [[nodiscard]] const std::exception_ptr& problem() const { return problem_; }
  /// Of a rank. Here, because others may still look at those of one that has ended.
  [[nodiscard]] detail::stream_marks& marks(int rank) { return marks_[static_cast<std::size_t>(rank)]; }

 private:
  [[nodiscard]] std::deque<std::shared_ptr<parcel>>& box(int from, int to) {
    return mail_[static_cast<std::size_t>(from) * static_cast<std::size_t>(size_) + static_cast<std::size_t>(to)];
  }
  void notify() {
    changes_.fetch_add(1, std::memory_order_release);
    changed_.notify_all();
  }
  /// Looks for a change for a while first, where there are cores enough: to be woken takes ten times as long as most
  /// waits between ranks that have a device each.
  template <typename Condition>
  void wait(std::unique_lock<std::mutex>& lock, const Condition& condition) {
    using clock = std::chrono::steady_clock;
    constexpr std::chrono::microseconds patience(200);
    const auto over = [&] { return failed_ >= 0 || condition(); };
    for (const auto begin = clock::now(); looks_ && !over() && clock::now() - begin < patience;) {
      const std::uint64_t seen = changes_.load(std::memory_order_acquire);
      lock.unlock();
      while (changes_.load(std::memory_order_acquire) == seen && clock::now() - begin < patience) {
      }
      lock.lock();
    }
    changed_.wait(lock, over);
    if (failed_ >= 0) throw rank_error(failed_, words_);
  }

  int size_;
  bool looks_;
  std::atomic<std::uint64_t> changes_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::vector<std::byte>> given_[2];  ///< at even and at odd rounds, by rank
  int arrived_ = 0;
  std::uint64_t round_ = 0;
  std::vector<std::deque<std::shared_ptr<parcel>>> mail_;  ///< [from][to]
  std::vector<detail::stream_marks> marks_;
  int failed_ = -1;
  std::exception_ptr problem_;
  std::string words_;
};

class thread_communicator final : public communicator, public detail::direct_ranks {
 public:
  thread_communicator(hub& all, int rank) : hub_(all), rank_(rank) {}

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return hub_.size(); }
  [[nodiscard]] std::string name() const override { return "threads"; }

  void barrier() override { static_cast<void>(hub_.meet(rank_, {})); }
  void all_gather(const void* mine, void* all, std::size_t bytes) override {
    auto* place = static_cast<std::byte*>(all);
    for (const auto& one : hub_.meet(rank_, {static_cast<const std::byte*>(mine), bytes})) {
      require(one.size() == bytes, "a rank gathers ", one.size(), " bytes, but rank ", rank_, " gathers ", bytes);
      if (bytes > 0) std::memcpy(place, one.data(), bytes);
      place += bytes;
    }
  }
  void all_to_all(const void* sent, void* received, std::size_t bytes) override {
    auto* place = static_cast<std::byte*>(received);
    const std::size_t all_bytes = bytes * static_cast<std::size_t>(size());
    for (const auto& one : hub_.meet(rank_, {static_cast<const std::byte*>(sent), all_bytes})) {
      require(one.size() == all_bytes, "a rank sends ", one.size(), " bytes to all, but rank ", rank_, " sends ",
              all_bytes);
      if (bytes > 0) std::memcpy(place, one.data() + static_cast<std::size_t>(rank_) * bytes, bytes);
      place += bytes;
    }
  }
  void add_up(std::uint64_t* values, std::size_t count) override {
    const std::size_t bytes = count * sizeof(std::uint64_t);
    const auto& all = hub_.meet(rank_, std::as_bytes(std::span(values, count)));
    for (std::size_t i = 0; i < count; ++i) values[i] = 0;
    for (const auto& one : all) {
      require(one.size() == bytes, "a rank adds up ", one.size(), " bytes, but rank ", rank_, " adds up ", bytes);
      for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t value = 0;
        std::memcpy(&value, one.data() + i * sizeof(value), sizeof(value));
        values[i] += value;
      }
    }
  }

  /// Host memory is copied at once, so that the sender need not wait.
  void start(const cpu_context&, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    expect(sends, receives);
    for (const outgoing_message& one : sends) {
      auto posted = std::make_shared<parcel>(one.to, one.data, one.bytes);
      const auto* const first = static_cast<const std::byte*>(one.data);
      posted->copy.assign(first, first + one.bytes);
      hub_.post(rank_, posted);
    }
  }
  void finish(const cpu_context&) override {
    receive([](const parcel& one, void* to) { std::memcpy(to, one.copy.data(), one.bytes); });
  }
  void start(const cuda_context& context, std::span<const outgoing_message> sends,
             std::span<const incoming_message> receives) override {
    expect(sends, receives);
    for (const outgoing_message& one : sends) {
      sent_.push_back(std::make_shared<parcel>(one.to, one.data, one.bytes));
      detail::mark_ready(context, *sent_.back());
      hub_.post(rank_, sent_.back());
    }
  }
  void finish(const cuda_context& context) override {
    receive([&](parcel& one, void* to) {
      detail::take_parcel(context, one, to);
      hub_.mark_taken(one);
    });
    for (const auto& one : sent_) {
      hub_.wait_until_taken(*one);
      detail::wait_until_copied(context, *one);
    }
    sent_.clear();
  }

  [[nodiscard]] bool reach(const cuda_context& context) override {
    int open = 1;
    for (const int device : all_values(*this, context.device())) {
      if (!detail::open_memory(context, device)) open = 0;
    }
    const auto all = all_values(*this, open);
    return std::find(all.begin(), all.end(), 0) == all.end();
  }
  void count_written(std::size_t bytes) override {
    const outgoing_message to_another{rank_ == 0 ? 1 : 0, nullptr, bytes};
    if (size() > 1) count({&to_another, 1});
  }
  void mark(const cuda_context& context) override { hub_.marks(rank_).set(context); }
  void pass_marks(const cuda_context& context, const void* mine, void* all, std::size_t bytes) override {
    std::vector<std::byte> sent(sizeof(void*) + bytes);
    void* const last = hub_.marks(rank_).last();
    std::memcpy(sent.data(), &last, sizeof(last));
    if (bytes > 0) std::memcpy(sent.data() + sizeof(last), mine, bytes);
    auto* place = static_cast<std::byte*>(all);
    int rank = 0;
    for (const auto& one : hub_.meet(rank_, sent)) {
      require(one.size() == sent.size(), "a rank gathers ", one.size(), " bytes, but rank ", rank_, " gathers ",
              sent.size());
      void* mark = nullptr;
      std::memcpy(&mark, one.data(), sizeof(mark));
      if (rank++ != rank_) detail::wait_for_mark(context, mark);
      if (bytes > 0) std::memcpy(place, one.data() + sizeof(mark), bytes);
      place += bytes;
    }
  }

 private:
  void expect(std::span<const outgoing_message> sends, std::span<const incoming_message> receives) {
    for (const outgoing_message& one : sends) {
      require(one.to >= 0 && one.to < size(), "a message is for rank ", one.to, "; there are ", size());
    }
    for (const incoming_message& one : receives) {
      require(one.from >= 0 && one.from < size(), "a message is from rank ", one.from, "; there are ", size());
    }
    count(sends);
    expected_.assign(receives.begin(), receives.end());
  }
  template <typename Take>
  void receive(const Take& take) {
    for (const incoming_message& one : expected_) {
      const auto arrived = hub_.next(one.from, rank_);
      require(arrived->bytes == one.bytes, "a message of rank ", one.from, " has ", arrived->bytes, " bytes; rank ",
              rank_, " expects ", one.bytes);
      take(*arrived, one.data);
    }
    expected_.clear();
  }

  hub& hub_;
  int rank_;
  std::vector<std::shared_ptr<parcel>> sent_;
  std::vector<incoming_message> expected_;
};

void run_one(hub& all, int rank, const std::function<void(communicator&)>& body) {
  thread_communicator ranks(all, rank);
  try {
    body(ranks);
  } catch (const std::exception& problem) {
    all.fail(rank, std::current_exception(), problem.what());
  } catch (...) {
    all.fail(rank, std::current_exception(), "an exception without words");
  }
}

}  // namespace

void run_ranks(int count, const std::function<void(communicator&)>& body) {
  constexpr int most = 4096;
  require(count >= 1 && count <= most, "the number of ranks is ", count, "; 1 to ", most, " are possible");
  hub all(count);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  try {
    for (int rank = 0; rank < count; ++rank) threads.emplace_back(run_one, std::ref(all), rank, std::cref(body));
  } catch (const std::exception& problem) {
    all.fail(static_cast<int>(threads.size()), std::current_exception(), problem.what());
  }
  for (std::thread& one : threads) one.join();
  if (all.problem() != nullptr) std::rethrow_exception(all.problem());
}

}  // namespace quadrat
