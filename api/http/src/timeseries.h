#pragma once

#include "absl/status/statusor.h"
#include "api/http/src/history.h"
#include "api/http/src/router.h"
#include "api/http/src/views.h"

namespace plimsoll::internal {

// A point in time, or how long ago it was, as a parameter of that name has it. kInvalidArgument
// with what to do if it is neither.
absl::StatusOr<Instant> ReadTime(const std::string& name, const std::string& text,
                                 const TimeBase& time);

// What /v1/timeseries is asked for. Returns kInvalidArgument, with what to do, for a parameter that
// does not fit.
absl::StatusOr<History::Query> ReadHistoryQuery(const RoutedRequest& routed, const History& history,
                                                const TimeBase& time);

// The answer: columns of one length, null where nothing was measured.
HttpResponse TimeseriesResponse(const History::Query& query, const History::Table& table,
                                const History& history, const TimeBase& time);

}  // namespace plimsoll::internal
