// The connectors that come with the engine, as the API hands them to a job.
//
// Each function makes a factory that the engine calls once per subtask; nothing
// is opened before the job runs. Errors are those of the job: a missing file
// fails `execute()` with E4000 and the path.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/connectors.hpp>
#include <hummer/operator.hpp>
#include <hummer/two_phase_store.hpp>

namespace hummer {

// Where formatted lines go: one per sink subtask, used by TextSinkOperator
// (hummer/detail/operators/text_sink.hpp). Calls come in the order open, write*, commit, close;
// close without commit means that the job failed: leave nothing that looks complete.
class TextWriter {
 public:
  virtual ~TextWriter() = default;
  virtual Status open(OperatorContext& context) = 0;
  // Whole lines. blocked: nothing was taken, call again with the same text.
  virtual OperatorResult write(std::string_view lines) = 0;
  virtual Status commit() = 0;
  virtual void close() = 0;
};

// A store of lines that can hold them back (two_phase_store.hpp): used by TwoPhaseSinkOperator
// (hummer/detail/operators/two_phase_sink.hpp), one per sink subtask.
class TwoPhaseWriter : public TwoPhaseStore {
 public:
  // Whole lines, into the open transaction. blocked: nothing was taken, call again.
  virtual OperatorResult write(std::string_view lines) = 0;
};

class TextWriterFactory {
 public:
  virtual ~TextWriterFactory() = default;
  virtual std::unique_ptr<TextWriter> make() const = 0;
};

class TwoPhaseWriterFactory {
 public:
  virtual ~TwoPhaseWriterFactory() = default;
  virtual std::unique_ptr<TwoPhaseWriter> make() const = 0;
};

// Records: TextBlock. `path`: a file, a directory (its files, recursively, without those whose
// name begins with '.' or '_') or a glob pattern.
std::shared_ptr<const OperatorFactory> make_file_source(std::string path,
                                                        FileSourceOptions options = {});
// Records: TextBlock. Connects to host:port and reads lines until the peer closes.
std::shared_ptr<const OperatorFactory> make_socket_source(std::string address,
                                                          std::size_t max_line_bytes = 64 << 20);

// Files in the directory `path`: part-<subtask>-<epoch>-<sink>, each of which appears whole, once,
// when the checkpoint of its epoch is complete. Several sinks and jobs may share it. `head`: what
// each file begins with.
std::shared_ptr<const TwoPhaseWriterFactory> make_two_phase_file_writer(std::string path,
                                                                        std::string head = {});

// To standard output, whole lines at a time.
std::shared_ptr<const TextWriterFactory> make_print_writer();
// Parallelism 1: the file `path`; else files part-00000 … in the directory `path`. Written under a
// temporary name and renamed at the end, so that a failed job leaves nothing under the real name.
std::shared_ptr<const TextWriterFactory> make_file_writer(std::string path);

}  // namespace hummer
