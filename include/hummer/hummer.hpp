// The whole public API of Hummer. A job needs no other header.
#pragma once

// First, so that compilers have a short way to tell to an error that begins in them.
#include <hummer/collector.hpp>
#include <hummer/record_type.hpp>

#include <hummer/checks.hpp>
#include <hummer/connected_streams.hpp>
#include <hummer/data_stream.hpp>
#include <hummer/environment.hpp>
#include <hummer/hooks.hpp>
#include <hummer/job.hpp>
#include <hummer/joins.hpp>
#include <hummer/process_checks.hpp>
#include <hummer/split_words.hpp>
#include <hummer/words.hpp>
