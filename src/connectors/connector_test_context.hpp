// What connector tests share: a ConnectorContext on a simulated platform, and
// files put on its disk. Only tests include this.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>
#include <hummer/detail/connector_context.hpp>

#include "platform/simulation.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class ConnectorTestContext final : public ConnectorContext {
 public:
  explicit ConnectorTestContext(Platform& platform, int subtask = 0, int parallelism = 1,
                                Executor* executor = nullptr)
      : ConnectorContext({.name = "test", .subtask = subtask, .parallelism = parallelism}),
        platform_(platform),
        executor_(executor) {}
  // Of the `attempt`th attempt of a run, that begins with the checkpoint `epoch`.
  void set_attempt(std::uint64_t run, std::uint32_t attempt, std::uint64_t epoch,
                   std::uint64_t superseded_epoch = 0) {
    place_.run = run;
    place_.attempt = attempt;
    place_.epoch = epoch;
    place_.restored = epoch > 0;
    place_.superseded_epoch = superseded_epoch;
  }
  void set_uid(std::string uid) { place_.uid = std::move(uid); }
  const OperatorReport& report() const { return report_; }
  const Status& failure() const { return report_.failure; }
  std::int64_t now() const override { return platform_.now(); }
  void call_at(std::int64_t) override {}
  void wake() override { wake_event_.notify(); }
  Platform& platform() override { return platform_; }
  Executor& executor() override {
    HUMMER_ASSERT(executor_ != nullptr);
    return *executor_;
  }
  WakeEvent& wake_event() override { return wake_event_; }

 private:
  Platform& platform_;
  Executor* executor_;
  WakeEvent wake_event_;
};

inline void put_file(Platform& platform, const std::string& path, std::string_view content) {
  const std::size_t slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    ASSERT_TRUE(platform.files().create_directories(path.substr(0, slash)).ok());
  }
  auto file = platform.files().open_for_writing(path, WriteMode::truncate);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_TRUE((*file)->append(content).ok());
  ASSERT_TRUE((*file)->close().ok());
}

inline std::string get_file(Platform& platform, const std::string& path) {
  auto file = platform.files().open_for_reading(path);
  if (!file.ok()) return file.status().to_string();
  std::string content((*file)->size_bytes(), '\0');
  const auto got = (*file)->read_at(0, content);
  return got.ok() ? content : got.status().to_string();
}

}  // namespace hummer
