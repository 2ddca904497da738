#include "tests/unit/api/cli/fake_rest.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace plimsoll::cli {
namespace {

class Transport final : public RestTransport {
 public:
  // Of another controller, targets begin with its address.
  explicit Transport(FakeRest& rest, std::string url = "") : rest_(rest), url_(std::move(url)) {}

  absl::StatusOr<RestResponse> Send(const RestRequest& request) override {
    RestRequest there = request;
    there.target = url_ + request.target;
    return rest_.Respond(there);
  }
  absl::StatusOr<std::unique_ptr<RestTransport>> To(const std::string& url) const override {
    return std::make_unique<Transport>(rest_, url);
  }
  absl::StatusOr<RestResponse> Stream(
      const RestRequest& request, const std::function<bool(std::string_view)>& on_bytes) override {
    return rest_.Respond(request, on_bytes);
  }

 private:
  FakeRest& rest_;
  const std::string url_;
};

// 2026-11-29T17:20:23Z.
constexpr Instant kNow{1'795'972'823'000'000'000};

}  // namespace

void FakeRest::Answer(const std::string& what, int status, const std::string& body,
                      std::map<std::string, std::string> headers) {
  answers_[what].push_back({status, body, std::move(headers)});
}

std::string FakeRest::last() const {
  if (requests_.empty()) return "";
  const RestRequest& request = requests_.back();
  return absl::StrCat(request.method, " ", request.target, request.body.empty() ? "" : " ",
                      request.body);
}

absl::StatusOr<RestResponse> FakeRest::Respond(const RestRequest& request) {
  requests_.push_back(request);
  if (away_) return absl::UnavailableError("http://127.0.0.1:7480 cannot be reached");
  const auto found = answers_.find(absl::StrCat(request.method, " ", request.target));
  if (found == answers_.end()) {
    return RestResponse{
        404, R"({"code":"NOT_FOUND","detail":"no such thing","request_id":"r1"})", {}};
  }
  std::vector<RestResponse>& queue = found->second;
  const RestResponse response = queue.front();
  if (queue.size() > 1) queue.erase(queue.begin());
  return response;
}

absl::StatusOr<RestResponse> FakeRest::Respond(
    const RestRequest& request, const std::function<bool(std::string_view)>& on_bytes) {
  if (streams_.empty()) return Respond(request);
  requests_.push_back(request);
  const std::vector<std::string> pieces = streams_.front();
  streams_.erase(streams_.begin());
  for (const std::string& piece : pieces) {
    if (!on_bytes(piece)) break;
  }
  return RestResponse{200, "", {}};
}

FakeTerminal::FakeTerminal() : clock(kNow) {}

int FakeTerminal::Run(const std::vector<std::string>& arguments) {
  out.clear();
  error.clear();
  const Context context{
      .out = [this](const std::string& text) { out += text; },
      .error = [this](const std::string& text) { error += text; },
      .out_is_terminal = out_is_terminal,
      .out_size = [this] { return size; },
      .in_is_terminal = in_is_terminal,
      .read_line = [this] { return typed; },
      .read_file = [this](const std::string& path) -> absl::StatusOr<std::string> {
        const auto found = files.find(path);
        if (found == files.end()) return absl::NotFoundError(path + " is not there");
        return found->second;
      },
      .environment = [this](const std::string& name) { return environment[name]; },
      .connect = [this](const Connection& to) -> absl::StatusOr<std::unique_ptr<RestTransport>> {
        connection = to;
        return std::make_unique<Transport>(rest);
      },
      .pause =
          [this](absl::Duration span) {
            ++pauses;
            clock.Advance(span);
          },
      .check_config = [](const ConfigCheck& check) -> absl::StatusOr<ConfigVerdict> {
        if (check.path != "good.yaml") {
          return absl::DataLossError(check.path + ":1:1: /celing: unknown key");
        }
        return ConfigVerdict{
            absl::StrCat(check.path, ": valid", check.skip_secrets ? " without secrets\n" : "\n"),
            check.strict ? std::vector<std::string>{}
                         : std::vector<std::string>{"unknown variable"}};
      },
      .simulate =
          [this](const std::vector<std::string>& rest_of) {
            out += absl::StrCat("simulate ", rest_of.size());
            return 0;
          },
      .clock = clock,
      .version = "1.2.3"};
  return RunCommandLine(arguments, context);
}

std::string Golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(PLIMSOLL_TESTS_DIR) + "/golden/" + name;
  if (std::getenv("PLIMSOLL_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << actual;
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace plimsoll::cli
