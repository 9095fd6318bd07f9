// What nearly every test of an operator ends with: its harness found nothing.
#pragma once

#include <gtest/gtest.h>

#include <hummer/testing/operator_harness.hpp>

namespace hummer {

inline void expect_ok(const HarnessReport& report) { EXPECT_TRUE(report.ok()) << report.text(); }

}  // namespace hummer
