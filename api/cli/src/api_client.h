#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "api/cli/src/json.h"
#include "api/cli/src/rest_transport.h"

namespace plimsoll::cli {

// What is wrong, in one line and, if the body had several faults, one more for each: detail, hint
// or next step, code and request id. ExitOf() knows its status code. Pure.
absl::Status ToStatus(const RestResponse& response);

// One segment of a path, or a value of a query, with % where it needs one.
std::string Escaped(std::string_view text);
// "?a=b&c=d", without those that have no value; "" if there are none.
std::string Query(const std::vector<std::pair<std::string, std::string>>& parameters);
std::string DependencyPath(const std::string& name);

// The REST API of the controller: answers are values, problems are errors as of ToStatus().
// Thread-compatible.
class ApiClient {
 public:
  // `transport` must outlive the client.
  explicit ApiClient(RestTransport& transport) : transport_(transport) {}

  absl::StatusOr<Json> Get(const std::string& target);
  // All pages of a list as one, at most `items_max` items. The body of a single page stays as it
  // is. If the controller leads a part of the shards only, the others are asked for theirs; who of
  // them does not answer is left in `elsewhere`, with why.
  absl::StatusOr<Json> List(const std::string& path,
                            std::vector<std::pair<std::string, std::string>> parameters,
                            std::size_t items_max = 1'000'000);
  // Likewise, of this controller only.
  absl::StatusOr<Json> ListHere(const std::string& path,
                                std::vector<std::pair<std::string, std::string>> parameters,
                                std::size_t items_max);
  // What came of a request that every controller answers for the shards that it leads.
  struct Gathered {
    std::vector<RestResponse> answers;  // 2xx and 404; that of this controller is the first
    // The shards that no answer is for, as [{"shard", "api", "why"}].
    Json missing = Json::array();
    // Of the first controller that gave no answer, or refused.
    absl::Status failure;

    // OK if nothing is missing. Else which shards, and why: kUnavailable if nobody leads them, or
    // as `failure` is.
    absl::Status Whole() const;
  };
  // To this controller, and to those that its answer names as leaders of other shards, each once.
  // Returns the error if this one does not answer, or refuses.
  absl::StatusOr<Gathered> SendEverywhere(const RestRequest& request);
  // Null for an answer without a body.
  absl::StatusOr<Json> Send(RestRequest request, int* status = nullptr);

  RestTransport& transport() { return transport_; }

 private:
  RestTransport& transport_;
};

}  // namespace plimsoll::cli
