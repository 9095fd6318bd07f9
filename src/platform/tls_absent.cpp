// TlsContext in a build without TLS.
#include "platform/tls.hpp"

namespace hummer {

Result<std::shared_ptr<TlsContext>> TlsContext::make(Platform&, TlsOptions, TlsRole) {
  return Status(ErrorCode::invalid_configuration,
                "this program was built without TLS; build it with -DHUMMER_TLS=ON, or leave out "
                "the --tls options");
}

}  // namespace hummer
