#include "plimsoll/middleware/grpc_guard.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include "agent/middleware/grpc/src/metadata.h"
#include "plimsoll/middleware/grpc_client.h"
#include "plimsoll/middleware/grpc_outcome.h"

namespace plimsoll {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kPushbackMax = std::chrono::hours(1);

// TryCancel() may be called at any time of a context's life, by any thread.
struct CancelAttempt {
  grpc::ClientContext& context;
  void operator()() const { context.TryCancel(); }
};

// One attempt of an asynchronous call. Lives until gRPC has told its end.
struct RunningGrpcAttempt {
  explicit RunningGrpcAttempt(const std::stop_token& stop) : cancel(stop, CancelAttempt{context}) {}

  grpc::ClientContext context;
  std::stop_callback<CancelAttempt> cancel;
};

}  // namespace

AttemptEnd EndOfAttempt(const grpc::Status& status, const grpc::ClientContext& context) {
  AttemptEnd end(OutcomeOfStatus(status.error_code()));
  const auto& trailers = context.GetServerTrailingMetadata();
  if (status.ok() || trailers.find("grpc-retry-pushback-ms") == trailers.end()) return end;
  const std::string_view text = internal::MetadataView(trailers, "grpc-retry-pushback-ms");
  int ms = -1;
  const char* const last = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), last, ms);
  end.final = error != std::errc() || read != last || ms < 0;
  if (!end.final) end.retry_after = std::min(milliseconds(ms), kPushbackMax);
  return end;
}

GrpcGuard::GrpcGuard(const GuardLayers& layers, GuardOptions options)
    : name_("the guard" +
            (layers.bulkhead == nullptr ? "" : " of " + layers.bulkhead->dependency())),
      guard_(layers, std::move(options)) {}

GrpcGuardResult GrpcGuard::Call(const CallOptions& options, const Attempt& attempt,
                                const std::stop_token& stop, CallSite site) {
  grpc::Status status;
  const auto once = [&](const plimsoll::Attempt& given) {
    grpc::ClientContext context;
    HandOnBudget(context, given.deadline);
    const std::stop_callback cancel(stop, CancelAttempt{context});
    status = attempt(context);
    TakeRetriesUsed(context);
    return EndOfAttempt(status, context);
  };
  return ResultOf(guard_.Call(options, stop, once, site), status);
}

void GrpcGuard::CallAsync(const CallOptions& options, Start start,
                          std::function<void(const GrpcGuardResult&)> done, AsyncCallOptions async,
                          CallSite site) {
  const auto status = std::make_shared<grpc::Status>();
  const auto once = [start = std::move(start), status, stop = async.stop](
                        const plimsoll::Attempt& given, const AttemptDone& end) {
    const auto running = std::make_shared<RunningGrpcAttempt>(stop);
    HandOnBudget(running->context, given.deadline);
    start(running->context, [running, status, end](grpc::Status ended) {
      *status = std::move(ended);
      end(EndOfAttempt(*status, running->context));
    });
  };
  const auto report = [this, status, done = std::move(done)](const GuardReport& ended) {
    done(ResultOf(ended, *status));
  };
  plimsoll::CallAsync(guard_, options, once, report, std::move(async), site);
}

GrpcGuardResult GrpcGuard::ResultOf(const GuardReport& report, const grpc::Status& status) const {
  GrpcGuardResult result;
  static_cast<GuardReport&>(result) = report;
  result.status = status;
  if (report.refused()) result.status = StatusOf(*report.rejection, name_);
  if (report.attempts == 0 && report.cancelled()) {
    result.status = {grpc::StatusCode::CANCELLED, name_ + ": the caller cancelled"};
  }
  return result;
}

}  // namespace plimsoll
