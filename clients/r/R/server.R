# What a server is asked: one request at a time, with a token that goes nowhere else.

lintel <- function(url = Sys.getenv("LINTEL_URL"),
                   token = Sys.getenv("LINTEL_TOKEN"),
                   certificate = Sys.getenv("LINTEL_CERTIFICATE"),
                   timeout_s = 60) {
  if (url == "") stop("no url is given: pass url = ..., or set LINTEL_URL", call. = FALSE)
  if (token == "") stop("no token is given: pass token = ..., or set LINTEL_TOKEN", call. = FALSE)
  if (!grepl("^https?://[^/]+", url)) {
    stop("'", url, "' is no address of a server, such as https://gateway.local:8080", call. = FALSE)
  }
  if (certificate != "" && !file.exists(certificate)) {
    stop("there is no certificate at ", certificate, call. = FALSE)
  }
  url <- sub("/+$", "", url)
  origin <- sub("^(https?://[^/]+).*$", "\\1", url)
  base <- if (url == origin) paste0(url, "/v0.9") else url
  structure(
    list(base = base, origin = origin, token = token, certificate = certificate, timeout_s = timeout_s),
    class = "lintel"
  )
}

print.lintel <- function(x, ...) {
  # Not the token: what is printed ends up in notebooks.
  cat("Lintel at", x$base, "\n")
  invisible(x)
}

# A page, asked for again where the server is busy and says when to come back.
get_page <- function(server, url, waits = 5) {
  tryCatch(ask_page(server, url), lintel_error = function(refused) {
    wait_s <- refused$retry_after_s
    if (waits == 0 || refused$status != 429 || is.na(wait_s) || wait_s > 60) stop(refused)
    Sys.sleep(wait_s)
    get_page(server, url, waits - 1)
  })
}

# A request of a server, before it is sent.
request_to <- function(server, accept) {
  handle <- curl::new_handle()
  curl::handle_setheaders(handle, Authorization = paste("bearer", server$token), Accept = accept)
  curl::handle_setopt(handle, followlocation = FALSE, connecttimeout = server$timeout_s)
  if (server$certificate != "") {
    # The only one that is trusted: not those of the machine besides.
    curl::handle_setopt(handle, cainfo = server$certificate, capath = no_certificates())
  }
  handle
}

# The body of an answer as text, and the address of the page that follows, or NULL.
ask_page <- function(server, url) {
  handle <- request_to(server, "application/json")
  curl::handle_setopt(handle, accept_encoding = "gzip", timeout = server$timeout_s)
  answer <- tryCatch(curl::curl_fetch_memory(url, handle), error = function(fault) not_reached(server, fault))
  headers <- curl::parse_headers_list(answer$headers)
  text <- text_of(answer$content)
  if (answer$status_code != 200) refused(answer$status_code, text, headers)
  list(text = text, following = following(headers$link, server))
}

# Hands each message of a stream of server-sent events to `take`, as its id and its data, until it answers FALSE. FALSE
# then; TRUE where the stream has ended, broken, or said nothing for `silent_s`: the server says something every 15 s.
take_messages <- function(server, url, take, silent_s = 60) {
  handle <- request_to(server, "application/json, text/event-stream")
  stream <- curl::curl(url, handle = handle)
  on.exit(close(stream))
  tryCatch(open(stream, "rbf", blocking = FALSE), error = function(fault) not_reached(server, fault))
  answer <- curl::handle_data(handle)
  is_refused <- answer$status_code != 200
  heard <- proc.time()[["elapsed"]]
  bytes <- raw()
  repeat {
    part <- tryCatch(readBin(stream, raw(), 65536), error = function(fault) NULL)
    is_over <- is.null(part) || (length(part) == 0 && !isIncomplete(stream))
    if (is_over && is_refused) refused(answer$status_code, text_of(bytes), curl::parse_headers_list(answer$headers))
    if (is_over) return(TRUE)
    if (length(part) == 0) {
      if (proc.time()[["elapsed"]] - heard > silent_s) return(TRUE)
      Sys.sleep(0.1)
      next
    }
    heard <- proc.time()[["elapsed"]]
    bytes <- c(bytes, part)
    # A message ends with an empty line.
    ends <- which(bytes[-1] == 10 & bytes[-length(bytes)] == 10)
    if (is_refused || length(ends) == 0) next
    whole <- seq_len(max(ends) + 1)
    for (message in strsplit(text_of(bytes[whole]), "\n\n", fixed = TRUE)[[1]]) {
      fields <- regmatches(message, regexec("^id: ([^\n]*)\ndata: ([^\n]*)$", message))[[1]]
      if (length(fields) == 3 && isFALSE(take(fields[2], fields[3]))) return(FALSE)
    }
    bytes <- bytes[-whole]
  }
}

text_of <- function(bytes) {
  text <- rawToChar(bytes)
  Encoding(text) <- "UTF-8"
  text
}

# An empty directory, made once.
no_certificates <- function() {
  directory <- file.path(tempdir(), "lintel-no-certificates")
  dir.create(directory, showWarnings = FALSE)
  directory
}

following <- function(link, server) {
  if (is.null(link)) return(NULL)
  target <- regmatches(link, regexec("<([^>]*)>; *rel=\"?next\"?", link))[[1]][2]
  if (is.na(target)) return(NULL)
  if (startsWith(target, "/")) target <- paste0(server$origin, target)
  if (!startsWith(target, paste0(server$origin, "/"))) {
    stop_with("lintel_not_reached", paste0("the next page is on another server, which is not asked: ", target))
  }
  target
}

# Texts of all pages.
get_pages <- function(server, path, query = NULL) {
  url <- paste0(server$base, path, if (length(query) > 0) "?", query_text(query))
  texts <- list()
  while (!is.null(url)) {
    page <- get_page(server, url)
    texts[[length(texts) + 1]] <- page$text
    url <- page$following
  }
  texts
}

query_text <- function(query) {
  values <- vapply(query, function(value) curl::curl_escape(format(value, scientific = FALSE)), "")
  paste(names(query), values, sep = "=", collapse = "&")
}

item_path <- function(kind, itemname, ...) paste0("/items/", kind, "/", curl::curl_escape(itemname), ...)

not_reached <- function(server, fault) {
  reason <- conditionMessage(fault)
  remedy <- if (grepl("certificate|SSL|TLS", reason)) {
    "name its certificate (certificate = ..., or LINTEL_CERTIFICATE), and reach it by a name that is in it"
  } else {
    "look whether it runs, and at the address"
  }
  stop_with("lintel_not_reached", paste0(server$origin, " cannot be reached: ", reason, ": ", remedy))
}

# A condition of class lintel_error with status, code, remedy and retry_after_s, each NA where there is none.
refused <- function(status, text, headers) {
  body <- tryCatch(jsonlite::fromJSON(text), error = function(fault) NULL)
  ours <- is.list(body) && is.numeric(body$code) && is.character(body$message)
  code <- if (ours) body$code else NA
  remedy <- if (ours) unname(remedies[as.character(code)]) else NA
  said <- if (ours) paste0(body$message, " (code ", code, ")") else paste0("the server answers with status ", status)
  after <- headers[["retry-after"]]
  stop_with(
    "lintel_error",
    if (is.na(remedy)) said else paste0(said, ": ", remedy),
    status = status, code = code, remedy = remedy,
    retry_after_s = if (is.null(after)) NA else suppressWarnings(as.numeric(after))
  )
}

stop_with <- function(class, message, ...) {
  stop(structure(class = c(class, "error", "condition"), list(message = message, call = NULL, ...)))
}
