// The whole public API of Hummer. A job needs no other header.
#pragma once

// First, so that the way to them is short where a compiler tells it ahead of an error in them.
#include <hummer/collector.hpp>
#include <hummer/detail/hooks.hpp>
#include <hummer/detail/process_checks.hpp>
#include <hummer/keyed_states.hpp>

#include <hummer/connected_streams.hpp>
#include <hummer/data_stream.hpp>
#include <hummer/detail/sources.hpp>
#include <hummer/environment.hpp>
#include <hummer/job.hpp>
#include <hummer/joins.hpp>
#include <hummer/keyed_stream.hpp>
#include <hummer/metrics.hpp>
#include <hummer/split_words.hpp>
#include <hummer/text_stream.hpp>
#include <hummer/windowed_stream.hpp>
#include <hummer/words.hpp>
