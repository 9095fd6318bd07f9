#include "connectors/file/file_listing.hpp"

#include <algorithm>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/record_framing.hpp>

namespace hummer {
namespace {

constexpr std::uint8_t listing_version = 1;
constexpr std::size_t sample_bytes = 4096;

Status changed(const std::string& path, const std::string& what) {
  return {ErrorCode::file_changed,
          "'" + path + "' is not the file that this run of the job began to read: " + what};
}

Result<std::uint64_t> sample_of(ReadableFile& file, std::uint64_t size_bytes) {
  std::string sample(2 * sample_bytes, '\0');
  const Result<std::size_t> first = file.read_at(0, std::span(sample).first(sample_bytes));
  if (!first.ok()) return first.status();
  const std::uint64_t last_at = size_bytes - std::min<std::uint64_t>(size_bytes, sample_bytes);
  const Result<std::size_t> last =
      file.read_at(last_at, std::span(sample).subspan(*first, sample_bytes));
  if (!last.ok()) return last.status();
  return hash_bytes(sample.data(), *first + *last);
}

bool is_one_split(CompressionFormat format) { return format != CompressionFormat::none; }

Status look_into(Files& files, const FileSourceOptions& options, InputFile& file) {
  if (file.size_bytes > 0) {
    auto opened = files.open_for_reading(file.path);
    if (!opened.ok()) return opened.status();
    const Result<CompressionFormat> format = compression_of(**opened, options);
    if (!format.ok()) return format.status();
    // A smaller one is one split anyway.
    const bool compressed = is_one_split(*format) &&
                            (options.compression != FileSourceOptions::Compression::automatic ||
                             file.size_bytes > options.split_size_bytes);
    const bool unmarked = options.framing != nullptr && options.framing->mark_bytes() == 0;
    file.one_split = compressed || options.quote != 0 || unmarked;
    const Result<std::uint64_t> sample = sample_of(**opened, file.size_bytes);
    if (!sample.ok()) return sample.status();
    file.sample = *sample;
  }
  return {};
}

std::size_t shared_prefix(std::string_view a, std::string_view b) {
  const std::size_t most = std::min({a.size(), b.size(), std::size_t{UINT16_MAX}});
  std::size_t shared = 0;
  while (shared < most && a[shared] == b[shared]) ++shared;
  return shared;
}

}  // namespace

Result<CompressionFormat> compression_of(ReadableFile& file, const FileSourceOptions& options) {
  using Compression = FileSourceOptions::Compression;
  switch (options.compression) {
    case Compression::none: return CompressionFormat::none;
    case Compression::gzip: return CompressionFormat::gzip;
    case Compression::zstd: return CompressionFormat::zstd;
    case Compression::automatic: break;
  }
  char first[compression_magic_bytes];
  const Result<std::size_t> got = file.read_at(0, first);
  if (!got.ok()) return got.status();
  return detect_compression({first, *got});
}

Result<FileListing> make_listing(Files& files, const std::string& path,
                                 const FileSourceOptions& options) {
  auto found = list_input_files(files, path);
  if (!found.ok()) return found.status();
  for (InputFile& file : *found) HUMMER_TRY(look_into(files, options, file));
  return FileListing{path, options.split_size_bytes, std::move(*found)};
}

// Paths are sorted, and most begin as the one before.
std::string to_bytes(const FileListing& listing) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(listing_version);
  out.put_text(listing.path);
  out.put_value(listing.split_size_bytes);
  out.put_value(static_cast<std::uint64_t>(listing.files.size()));
  std::string_view before;
  for (const InputFile& file : listing.files) {
    const std::size_t shared = shared_prefix(before, file.path);
    out.put_value(static_cast<std::uint16_t>(shared));
    out.put_text(std::string_view(file.path).substr(shared));
    out.put_value(file.size_bytes);
    out.put_value(static_cast<std::uint8_t>(file.one_split));
    out.put_value(file.modified_ms);
    out.put_value(file.sample);
    before = file.path;
  }
  return std::string(out.view());
}

Result<FileListing> listing_from(std::string_view bytes) {
  ByteReader in(bytes);
  FileListing listing;
  std::uint8_t version = 0;
  std::uint64_t count = 0;
  std::string_view text;
  bool valid = in.get_value(version) && version == listing_version && in.get_text(text);
  if (valid) listing.path = text;
  valid = valid && in.get_value(listing.split_size_bytes) && listing.split_size_bytes > 0 &&
          in.get_value(count);
  for (std::uint64_t i = 0; valid && i < count; ++i) {
    InputFile file;
    std::uint16_t shared = 0;
    std::uint8_t one_split = 0;
    if (i > 0) file.path = listing.files.back().path;
    valid = in.get_value(shared) && shared <= file.path.size() && in.get_text(text) &&
            in.get_value(file.size_bytes) && in.get_value(one_split) &&
            in.get_value(file.modified_ms) && in.get_value(file.sample);
    if (!valid) break;
    file.path.resize(shared);
    file.path += text;
    file.one_split = one_split != 0;
    listing.files.push_back(std::move(file));
  }
  if (!valid || in.left() != 0) {
    return Status(ErrorCode::corrupt_record, "the list of the files to read cannot be decoded");
  }
  return listing;
}

Status check_listed(Files& files, ReadableFile& opened, const InputFile& listed) {
  // Behind opening it, so that what is opened is what is looked at.
  HUMMER_TRY(check_unchanged(files, listed));
  if (opened.size_bytes() != listed.size_bytes) return changed(listed.path, "it was replaced");
  const Result<std::uint64_t> sample = sample_of(opened, listed.size_bytes);
  if (!sample.ok()) return sample.status();
  if (*sample != listed.sample) {
    return changed(listed.path, "size and time are the same, but not what it begins and ends with");
  }
  return {};
}

Status check_unchanged(Files& files, const InputFile& listed) {
  const Result<FileInformation> now = files.stat(listed.path);
  if (!now.ok()) return now.status();
  if (now->size_bytes != listed.size_bytes) {
    return changed(listed.path, "it has " + std::to_string(now->size_bytes) + " bytes instead of " +
                                    std::to_string(listed.size_bytes));
  }
  if (now->modified_ms != listed.modified_ms) {
    return changed(listed.path, "it was changed at " + std::to_string(now->modified_ms) +
                                    " ms since 1970, not at " + std::to_string(listed.modified_ms) +
                                    " (copies keep their time with cp -p or rsync -t)");
  }
  return {};
}

}  // namespace hummer
