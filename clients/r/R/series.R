# A series with what is known of the time between its readings.

lintel_series <- function(server, series, itemname, since = NULL, until = NULL) {
  of <- series_table[[one_of(series, names(series_table), "series")]]
  item <- lintel_item(server, of$kind, itemname)
  zone <- zone_of(server, item)
  start <- if (is.null(since)) NULL else instant_of(since, zone)
  stop <- if (is.null(until)) next_second() else instant_of(until, zone)
  query <- c(list(precision = "ms", limit = 1000), window(start, stop))
  pages <- lapply(get_pages(server, item_path(of$kind, itemname, "/", of$path), query), readings_of, of = of)
  readings <- do.call(rbind, pages)
  readings <- readings[rev(seq_len(nrow(readings))), , drop = FALSE]
  readings <- readings[readings$stamp < stop & (if (is.null(start)) TRUE else readings$stamp >= start), , drop = FALSE]
  rownames(readings) <- NULL
  coverage <- lintel_coverage(server, of$kind, itemname, start, stop)
  firsts <- c(as.numeric(coverage$start[1]), as.numeric(readings$stamp[1]))
  begin <- if (!is.null(start)) start else if (all(is.na(firsts))) stop else instant(min(firsts, na.rm = TRUE))
  structure(
    list(
      series = series, title = of$title, item = item, timezone = zone, since = begin, until = stop,
      readings = readings, coverage = coverage
    ),
    class = "lintel_series"
  )
}

# A series of many items as one data frame, item after item from old to new; without names, of all items of its kind.
lintel_frame <- function(server, series, itemnames = NULL, since = NULL, until = NULL) {
  of <- series_table[[one_of(series, names(series_table), "series")]]
  if (is.null(itemnames)) itemnames <- lintel_items(server, of$kind)$itemname
  readings <- lapply(itemnames, function(itemname) {
    own <- lintel_series(server, series, itemname, since, until)$readings
    if (nrow(own) == 0) own else cbind(itemname = itemname, own)
  })
  bound(readings)
}

lintel_coverage <- function(server, kind, itemname, since = NULL, until = NULL) {
  stop <- if (is.null(until)) next_second() else until
  query <- c(list(limit = 1000), window(since, stop))
  pages <- lapply(get_pages(server, item_path(kind, itemname, "/coverage"), query), jsonlite::fromJSON)
  in_order(bound(Filter(is.data.frame, pages)), since, stop)
}

# What has arrived after a cursor, late readings too; `cursor` leads to what arrives later.
lintel_arrivals <- function(server, series, itemname, since = "") {
  of <- series_table[[one_of(series, names(series_table), "series")]]
  query <- list(since = since, precision = "ms", limit = 1000)
  url <- paste0(server$base, item_path(of$kind, itemname, "/", of$path), "?", query_text(query))
  pages <- list()
  cursor <- since
  repeat {
    page <- get_page(server, url)
    pages[[length(pages) + 1]] <- readings_of(page$text, of)
    if (is.null(page$following)) break
    url <- page$following
    cursor <- curl::curl_unescape(sub(".*[?&]since=([^&]*).*", "\\1", url))
  }
  list(readings = do.call(rbind, pages), cursor = cursor)
}

# The same, and then what arrives from now on, within a second: `take` gets readings and the cursor behind them, and ends
# it by FALSE. A stream that breaks goes on where it was. The last cursor.
lintel_follow <- function(server, series, itemname, take, since = "") {
  of <- series_table[[one_of(series, names(series_table), "series")]]
  cursor <- since
  take_page <- function(id, data) {
    cursor <<- id
    take(readings_of(data, of), id)
  }
  repeat {
    query <- query_text(list(since = cursor, precision = "ms", limit = 1000))
    url <- paste0(server$base, item_path(of$kind, itemname, "/", of$path), "?", query)
    if (!take_messages(server, url, take_page)) return(invisible(cursor))
    # Before a stream that has ended is asked for again.
    Sys.sleep(1)
  }
}

# Readings of a page as a data frame whose columns have their types also where there are none.
readings_of <- function(text, of) {
  page <- jsonlite::fromJSON(text)
  if (!is.data.frame(page)) page <- list()
  typed <- function(values, type) {
    switch(type, time = instant(values), number = as.numeric(values), text = as.character(values))
  }
  stamp <- instant(as.numeric(page$stamp) / 1000)
  fields <- Map(function(name, type) typed(page[[name]], type), names(of$types), of$types)
  data.frame(c(list(stamp = stamp), fields), check.names = FALSE)
}

# Stretches from old to new, cut at both ends. One that changed between two pages may have come twice: none begins
# before the one before it ends.
in_order <- function(newest_first, since, until) {
  columns <- list(start = numeric(), stop = numeric(), state = character(), reason = character(), lost = numeric())
  if (nrow(newest_first) == 0) newest_first <- as.data.frame(columns)
  old <- newest_first[rev(seq_len(nrow(newest_first))), ]
  end <- if (is.null(since)) -Inf else as.numeric(since)
  kept <- logical(nrow(old))
  start <- stop <- numeric(nrow(old))
  for (at in seq_len(nrow(old))) {
    start[at] <- max(old$start[at], end)
    stop[at] <- min(old$stop[at], as.numeric(until))
    cut <- start[at] > old$start[at] || stop[at] < old$stop[at]
    kept[at] <- start[at] < stop[at] || (start[at] == stop[at] && !cut)
    if (kept[at]) end <- stop[at]
  }
  data.frame(
    start = instant(start), stop = instant(stop), state = as.character(old$state),
    reason = as.character(old$reason), lost = as.numeric(old$lost)
  )[kept, , drop = FALSE]
}

# TRUE where a reading lies from `start` until before `stop`, FALSE where there is none and somebody listened all that
# time, NA where nobody knows.
happened <- function(x, start, stop) {
  start <- instant_of(start, x$timezone)
  stop <- instant_of(stop, x$timezone)
  if (any(x$readings$stamp >= start & x$readings$stamp < stop)) return(TRUE)
  covered <- x$coverage[x$coverage$state == "covered", ]
  overlap <- pmin(as.numeric(covered$stop), as.numeric(stop)) - pmax(as.numeric(covered$start), as.numeric(start))
  if (sum(pmax(overlap, 0)) == as.numeric(stop) - as.numeric(start)) FALSE else NA
}

as.data.frame.lintel_series <- function(x, ...) x$readings

zone_of <- function(server, item) {
  if (is.na(item$currenthomeid)) return("UTC")
  home <- tryCatch(
    jsonlite::fromJSON(get_page(server, paste0(server$base, "/homes/", item$currenthomeid))$text),
    # A bound token may not see the home.
    lintel_error = function(fault) if (fault$status == 404) NULL else stop(fault)
  )
  zone <- home$timezone
  if (is.null(zone) || !zone %in% OlsonNames()) "UTC" else zone
}
