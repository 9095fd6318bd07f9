// configuration_page: docs/configuration.md, written from the table of options.
#pragma once

#include <string>

namespace hummer {

std::string configuration_page();

}  // namespace hummer
