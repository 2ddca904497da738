#pragma once

#include <string>
#include <vector>

#include "api/http/src/http_message.h"
#include "api/http/src/paging.h"

namespace plimsoll::internal {

// One page of the audit records. Pure. Thread-safe.

// How many records, from the newest on, must be read for it.
int AuditRecordsFor(const PageRequest& page);

// `records` are the newest, newest first, AuditRecordsFor(page) of them or all there are. A token
// finds its place again although newer records have come meanwhile; if the record that it stands
// behind has been dropped since, all that would follow has been, too, and the page is empty.
HttpResponse AuditPage(const PageRequest& page, const std::vector<std::string>& records);

}  // namespace plimsoll::internal
