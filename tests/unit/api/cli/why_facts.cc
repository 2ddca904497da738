#include "tests/unit/api/cli/why_facts.h"

namespace plimsoll::cli {

const char kDependencyBody[] =
    R"({"name":"payments-db","origin":"FILE","description":"Orders Postgres, primary","mode":"ENFORCE","scope":"INSTANCE",
"algorithm":"GRADIENT2","floor":5,"ceiling":200,"initial":20,"call_deadline":"30s",
"quota":{"capacity":120,"policy":"FAIR_SHARE"},
"status":{"health":"LIMITED","instances":3,"not_enforcing":0,"in_flight":96,"enforced":118,"granted":120,"reserved":120,
"wanted":171,"admitted_per_second":640.5,"rejected_per_second":14.2,"latency_p50_seconds":0.012,"latency_p99_seconds":0.412,
"baseline_latency_seconds":0.011,"learning":false,"breaker":null,
"last_decision":{"event_id":"417-9","time":"2026-11-29T17:20:20Z","age_seconds":3,"outcome":"USED","from":61,"to":61,
"reason":"LATENCY_FELL","message":"payments-db, checkout-0: 61. 90th percentile latency 12 ms is 1.1 times the baseline 11 ms; held."}},
"override":null})";

const char kQuotaBody[] =
    R"({"dependency":"payments-db","capacity":120,"policy":"FAIR_SHARE","granted":120,"reserved":120,"draining":0,
"orphaned":0,"unallocated":0,"wanted":171,"shares":[
{"service":"checkout","instance_id":"checkout-0","granted":38,"reserved":38,"wanted":61,"in_flight":38,"silent_seconds":0.4},
{"service":"checkout","instance_id":"checkout-1","granted":42,"reserved":42,"wanted":60,"in_flight":40,"silent_seconds":0.2},
{"service":"orders","instance_id":"orders-0","granted":40,"reserved":40,"wanted":50,"in_flight":18,"silent_seconds":0.9}]})";

const char kLimitsBody[] =
    R"({"items":[
{"dependency":"payments-db","service":"checkout","instance_id":"checkout-0","session":"7-1","enforced":38,"algorithm_limit":61,
"quota_share":38,"floor":5,"ceiling":200,"in_flight":38,"binding_constraint":"QUOTA","in_flight_max":38,"granted":38,
"reserved":38,"wanted":61,"mode":"ENFORCE","lease_stage":"LEASE","age_seconds":0.4,"fenced":false,
"last_change":{"event_id":"418-3","reason":"QUOTA_REBALANCED","time":"2026-11-29T17:20:11Z"},"last_decision":null},
{"dependency":"payments-db","service":"checkout","instance_id":"checkout-1","session":"7-2","enforced":42,"algorithm_limit":60,
"quota_share":42,"floor":5,"ceiling":200,"in_flight":40,"binding_constraint":"QUOTA","in_flight_max":41,"granted":42,
"reserved":42,"wanted":60,"mode":"ENFORCE","lease_stage":"LEASE","age_seconds":0.2,"fenced":false,
"last_change":{"event_id":"418-2","reason":"QUOTA_REBALANCED","time":"2026-11-29T17:20:11Z"},"last_decision":null},
{"dependency":"payments-db","service":"orders","instance_id":"orders-0","session":"7-3","enforced":40,"algorithm_limit":50,
"quota_share":40,"floor":5,"ceiling":200,"in_flight":18,"binding_constraint":"QUOTA","in_flight_max":20,"granted":40,
"reserved":40,"wanted":50,"mode":"ENFORCE","lease_stage":"LEASE","age_seconds":0.9,"fenced":false,
"last_change":{"event_id":"400-1","reason":"INITIAL","time":"2026-11-28T17:20:11Z"},"last_decision":null}],
"next_page_token":"","revision":"limits.418"})";

const char kEventsBody[] =
    R"({"items":[
{"id":"418-3","type":"LIMIT_CHANGED","time":"2026-11-29T17:20:11Z","dependency":"payments-db","service":"checkout",
"instance_id":"checkout-0","from":42,"to":38,"reason":"QUOTA_REBALANCED","binding_constraint":"QUOTA",
"message":"checkout-0: 42 → 38 (QUOTA_REBALANCED), its share of 120; it could use 61, all together 171."},
{"id":"417-9","type":"DECISION","time":"2026-11-29T17:20:20Z","dependency":"payments-db","service":"checkout",
"instance_id":"checkout-0","from":61,"to":61,"reason":"LATENCY_FELL","message":"held",
"inputs":{"algorithm":"GRADIENT2","baseline_latency_seconds":0.011,"window_latency_seconds":0.012,"gradient":0.96,
"in_flight_max":40,"samples":212,"failed":0,"rejected":9}},
{"id":"410-1","type":"LIMIT_CHANGED","time":"2026-11-29T17:18:00Z","dependency":"payments-db","service":"checkout",
"instance_id":"checkout-0","from":40,"to":42,"reason":"LATENCY_FELL","binding_constraint":"ALGORITHM","message":"up"},
{"id":"300-1","type":"LIMIT_CHANGED","time":"2026-11-29T15:00:00Z","dependency":"payments-db","service":"checkout",
"instance_id":"checkout-0","from":90,"to":40,"reason":"ERRORS","binding_constraint":"ALGORITHM","message":"old"}],
"next_page_token":""})";

WhyFacts QuotaBinds() {
  WhyFacts facts;
  facts.dependency = Json::parse(kDependencyBody);
  facts.quota = Json::parse(kQuotaBody);
  const Json limits = Json::parse(kLimitsBody);
  facts.limits.assign(limits["items"].begin(), limits["items"].end());
  const Json events = Json::parse(kEventsBody);
  facts.events.assign(events["items"].begin(), events["items"].end() - 1);
  facts.now = absl::FromUnixSeconds(1'795'972'823);
  return facts;
}

}  // namespace plimsoll::cli
