// SourceListing: what all subtasks of a source must agree on before they read, such as which files
// there are. Two that look at different moments, or on different machines, may see different
// things; so one process looks, once in a run of the job, and every subtask is made with what it
// saw, in all attempts. Checkpoints hold it, so that whoever begins with one goes on with the same.
//
// A factory whose sources need that is a ListingSourceFactory. Its make() alone gives a source that
// looks by itself, for one that has no others beside it.
//
// Thread: list() from one that may wait for a disk; make_with() as make(). Errors: those of the
// job.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <hummer/operator.hpp>

namespace hummer {

class Platform;

using SourceListing = std::shared_ptr<const std::string>;     // bytes of the source's own
using SourceListings = std::map<std::string, SourceListing>;  // by operator uid

class ListingSourceFactory : public OperatorFactory {
 public:
  virtual Result<std::string> list(Platform& platform) const = 0;
  virtual std::unique_ptr<Operator> make_with(SourceListing listing) const = 0;
};

}  // namespace hummer
