#pragma once

#include <string>

#include "absl/status/status.h"
#include "api/cli/src/api_client.h"
#include "api/cli/src/context.h"
#include "api/cli/src/exit_status.h"
#include "api/cli/src/listing.h"
#include "api/cli/src/verb.h"

namespace plimsoll::cli {

// One call of a command that talks to the controller.
struct Session {
  const Invocation& call;
  const Context& context;
  ApiClient& client;
};

// The commands. Each returns an error for the last line on stderr, or the exit status.
using Command = absl::StatusOr<int> (*)(Session& session);
absl::StatusOr<int> RunStatus(Session& session);
absl::StatusOr<int> RunGet(Session& session);
absl::StatusOr<int> RunDescribe(Session& session);
absl::StatusOr<int> RunWhy(Session& session);
absl::StatusOr<int> RunTop(Session& session);
absl::StatusOr<int> RunWatch(Session& session);
absl::StatusOr<int> RunSetOverride(Session& session);
absl::StatusOr<int> RunUnsetOverride(Session& session);
absl::StatusOr<int> RunSetQuota(Session& session);
absl::StatusOr<int> RunApply(Session& session);
absl::StatusOr<int> RunDiff(Session& session);
absl::StatusOr<int> RunReset(Session& session);
absl::StatusOr<int> RunEvict(Session& session);
absl::StatusOr<int> RunReload(Session& session);
absl::StatusOr<int> RunCheckLimits(Session& session);
absl::StatusOr<int> RunCheckQuotas(Session& session);
absl::StatusOr<int> RunSize(Session& session);
absl::StatusOr<int> RunApi(Session& session);
absl::StatusOr<int> RunVersion(Session& session);

// Shared by them: whether to use colours, and how to show a list.
bool UsesColour(const Session& session);
ListingOptions ListingOptionsOf(const Session& session);
// The quotas of all dependencies that have one, or of `dependency`, as {"items": […]}.
absl::StatusOr<Json> FetchQuotas(ApiClient& client, const std::string& dependency);
// Prints a value by --output: text by `write`, json or yaml as it is.
template <typename Write>
void PrintStory(const Session& session, const Json& value, Write write) {
  const std::string format = session.call.Text("--output", "text");
  session.context.out(format == "text"   ? write()
                      : format == "yaml" ? ToYaml(value)
                                         : ToPretty(value));
}
// Follows what changes about these topics until the connection, or --count, ends it.
absl::StatusOr<int> Follow(Session& session, const std::string& topics);

}  // namespace plimsoll::cli
