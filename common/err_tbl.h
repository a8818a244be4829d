/*
 * One row per class of failure: name, its spelling, HTTP status, exit code of the command
 * line tool, title. REST, the CLI and the log read the same row, so they always tell the
 * same story.
 */
ERR(INVALID, "invalid", 400, 2, "The request is not valid")
ERR(AUTH, "auth", 401, 4, "A valid token is needed")
ERR(FORBIDDEN, "forbidden", 403, 4, "This token may not do that")
ERR(NOTFOUND, "notfound", 404, 3, "No such thing")
ERR(METHOD, "method", 405, 2, "This method is not offered here")
ERR(STATE, "state", 409, 1, "Not possible in the present state")
ERR(UNSAFE, "unsafe", 409, 5, "Refused to protect data on a drive")
ERR(CHANGED, "changed", 412, 8, "It was changed in the meantime")
ERR(LIMIT, "limit", 413, 2, "Too large")
ERR(MEDIA, "media", 415, 2, "Only application/json is accepted")
ERR(PRECONDITION, "precondition", 428, 2, "If-Match is needed")
ERR(RATE, "rate", 429, 1, "Too many requests")
ERR(INTERNAL, "internal", 500, 1, "An error in ssdlab itself")
ERR(IO, "io", 500, 1, "Input or output failed")
ERR(STORE, "store", 500, 1, "The database failed")
ERR(NET, "net", 502, 1, "The other side could not be reached")
ERR(BUSY, "busy", 503, 1, "Too busy just now")
ERR(TIMEOUT, "timeout", 504, 9, "It took too long")
ERR(FULL, "full", 507, 1, "No space left")
