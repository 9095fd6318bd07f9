// The sources of a job that need a listing (runtime/source_listing.hpp), and how one is made.
//
// Thread: any; list_source waits for a disk and calls code of the job, whose exceptions it lets
// through. Errors: those of the source, with its name.
#pragma once

#include <string>
#include <vector>

#include "graph/job_graph.hpp"
#include "graph/stream_graph.hpp"
#include "platform/platform.hpp"
#include "runtime/source_listing.hpp"

namespace hummer {

struct ListedSource {
  int vertex = 0;
  std::string uid;
  std::string name;
  const ListingSourceFactory* factory = nullptr;  // of the stream graph
};

std::vector<ListedSource> listed_sources(const StreamGraph& stream, const JobGraph& job);

Result<SourceListing> list_source(Platform& platform, const ListedSource& source);

}  // namespace hummer
