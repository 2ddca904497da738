// The one file of this program that sees the configuration of the whole controller.
#include "api/cli/src/config_check.h"

#include "absl/strings/str_cat.h"
#include "controller/main/config.h"

namespace plimsoll::cli {

absl::StatusOr<std::string> CheckConfig(const std::string& path) {
  const absl::StatusOr<Config> config = LoadConfig(path, Profile::kProduction);
  if (!config.ok()) return absl::DataLossError(std::string(config.status().message()));
  const std::size_t count = config->policies.size();
  return absl::StrCat(path, ": valid, ", count, count == 1 ? " dependency\n" : " dependencies\n");
}

}  // namespace plimsoll::cli
