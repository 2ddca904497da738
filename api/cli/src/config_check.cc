// The one file of this program that sees the configuration of the whole controller.
#include "api/cli/src/config_check.h"

#include <unistd.h>

#include "controller/main/config_loader.h"

namespace plimsoll::cli {

absl::StatusOr<ConfigVerdict> CheckConfig(const ConfigCheck& check) {
  ConfigRequest request;
  request.path = check.path;
  request.strict = check.strict;
  request.skip_secrets = check.skip_secrets;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    request.environment.emplace_back(*variable);
  }
  const absl::StatusOr<Config> config = LoadLayered(request);
  if (!config.ok()) return absl::DataLossError(std::string(config.status().message()));
  return ConfigVerdict{ValidText(check.path, *config), config->warnings};
}

}  // namespace plimsoll::cli
