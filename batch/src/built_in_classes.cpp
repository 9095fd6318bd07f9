#include "class_libraries.hpp"
#include "word_count.hpp"

namespace hummer::batch {

void add_built_in_classes(ClassLibrary& library) {
  library.add<IdentityMapper>("IdentityMapper");
  library.add<IdentityReducer>("IdentityReducer");
  library.add<HashPartitioner>("HashPartitioner");
  library.add<WordMapper>("WordMapper");
  library.add<SumCombiner>("SumCombiner");
  library.add<SumReducer>("SumReducer");
  library.add<SumFolder>("SumFolder");
}

}  // namespace hummer::batch
