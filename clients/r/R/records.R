# Lists of records as data frames. Times are POSIXct in UTC.

lintel_item_types <- function(server) jsonlite::fromJSON(get_page(server, paste0(server$base, "/items"))$text)

lintel_items <- function(server, kind) records_of(server, paste0("/inventory/", kind), "items")

lintel_item <- function(server, kind, itemname) {
  text <- get_page(server, paste0(server$base, "/inventory/", kind, "/", curl::curl_escape(itemname)))$text
  timed(jsonlite::fromJSON(paste0("[", text, "]")), record_times[["items"]])
}

lintel_device <- function(server, kind, itemname) {
  device <- jsonlite::fromJSON(get_page(server, paste0(server$base, item_path(kind, itemname, "/device")))$text)
  device$history <- timed(device$history, record_times[["device_history"]])
  device
}

lintel_records <- function(server, name, owner = NULL) {
  path <- record_paths[[one_of(name, names(record_paths), "list of records")]]
  owned <- grepl("{id}", path, fixed = TRUE)
  if (owned && is.null(owner)) stop(name, " belong to somebody: give owner, the number of that subject or home", call. = FALSE)
  if (!owned && !is.null(owner)) stop(name, " are one list: give no owner", call. = FALSE)
  if (owned) path <- sub("{id}", format(owner, scientific = FALSE), path, fixed = TRUE)
  records_of(server, path, name)
}

# A derived measure of one home or several, home after home, each from old to new. NA is unknown, and never zero.
lintel_derived <- function(server, home, name, since = NULL, until = NULL) {
  bound(lapply(home, derived_of, server = server, name = name, since = since, until = until))
}

# Where the items of a home are: rooms, roles, and places in lines of curtain sensors.
lintel_places <- function(server, home) {
  jsonlite::fromJSON(get_page(server, paste0(server$base, "/homes/", format(home, scientific = FALSE), "/places"))$text)
}

derived_of <- function(server, home, name, since, until) {
  zone <- zone_of(server, list(currenthomeid = home))
  start <- if (is.null(since)) NULL else instant_of(since, zone)
  stop <- if (is.null(until)) NULL else instant_of(until, zone)
  path <- paste0("/homes/", format(home, scientific = FALSE), "/derived/", curl::curl_escape(name))
  pages <- lapply(get_pages(server, path, c(list(limit = 1000), window(start, stop))), jsonlite::fromJSON)
  records <- bound(Filter(is.data.frame, pages))
  if (nrow(records) == 0) return(records)
  records <- timed(records[rev(seq_len(nrow(records))), , drop = FALSE], c("stamp", "start", "stop", "at"))
  records$day <- as.Date(records$day)
  rownames(records) <- NULL
  cbind(homeid = home, records)
}

records_of <- function(server, path, name) {
  pages <- lapply(get_pages(server, path), jsonlite::fromJSON, flatten = TRUE)
  records <- bound(Filter(is.data.frame, pages))
  # An item within a record has its fields after its name: item.currenthomestart.
  timed(records, c(record_times[[name]], paste0("item.", record_times[["items"]])))
}

# Data frames of one form below each other.
bound <- function(pages) {
  pages <- Filter(nrow, pages)
  if (length(pages) == 0) return(data.frame())
  do.call(rbind, pages)
}

timed <- function(records, times) {
  for (name in intersect(times, names(records))) records[[name]] <- instant(records[[name]])
  records
}

instant <- function(seconds) as.POSIXct(as.numeric(seconds), origin = "1970-01-01", tz = "UTC")

one_of <- function(name, names, what) {
  if (!is.character(name) || length(name) != 1 || !name %in% names) {
    stop("there is no ", what, " '", name, "': there are ", paste(names, collapse = ", "), call. = FALSE)
  }
  name
}
