// The whole public API of Hummer. A job needs no other header.
#pragma once

#include <hummer/connected_streams.hpp>
#include <hummer/data_stream.hpp>
#include <hummer/environment.hpp>
#include <hummer/job.hpp>
#include <hummer/joins.hpp>
#include <hummer/sources.hpp>
#include <hummer/split_words.hpp>
#include <hummer/text_stream.hpp>
#include <hummer/windowed_stream.hpp>
#include <hummer/words.hpp>
