// The bytes of a split of Hadoop's: a file on this machine, or what a FileSystem of Java's gives,
// and what a codec makes of either.
//
//   auto input = open_hadoop_split(platform, settings, stream);    // a batch::SplitInput
//
// Settings: path, begin and length as Hadoop's FileSplit has them; codec, where the file is
// compressed, which is then one split; reader. `stream` null: the path is one of this machine.
//
// Thread: one. Failures: those of the file; where Java reads, its exception, which is pending.
#pragma once

#include <memory>

#include <jni.h>

#include <hummer/batch/record_reader.hpp>

#include "batch/codec.hpp"
#include "platform/platform.hpp"
#include "settings.hpp"

namespace hummer::hadoop {

Result<std::unique_ptr<batch::SplitInput>> open_hadoop_split(Platform& platform, JNIEnv* java,
                                                             const Settings& settings,
                                                             jobject stream);

// What a codec makes of the bytes of another input.
std::unique_ptr<batch::SplitInput> decoded_split(std::unique_ptr<batch::SplitInput> stored,
                                                 batch::Codec codec);

}  // namespace hummer::hadoop
