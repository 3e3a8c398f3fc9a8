# Days of the home's calendar, and what is missing of each.

# The instant that is meant: a POSIXct, or the first one of a day (Date, or "2026-11-01") in a zone.
instant_of <- function(moment, zone) {
  if (inherits(moment, "POSIXt")) return(as.POSIXct(as.numeric(as.POSIXct(moment)), origin = "1970-01-01", tz = "UTC"))
  day <- tryCatch(as.Date(moment, optional = TRUE), error = function(fault) NA)
  if (length(day) != 1 || is.na(day) || (is.character(moment) && !grepl("^\\d{4}-\\d{2}-\\d{2}$", moment))) {
    stop("'", moment, "' is neither a day such as 2026-11-01 nor a POSIXct", call. = FALSE)
  }
  start_of(day, zone)
}

# The first instant of a day in a zone. Where clocks go forward at midnight there is no such time in it, so the first
# quarter of an hour that has that date, or a later one, is looked for.
start_of <- function(day, zone) {
  quarters <- instant(as.numeric(day) * 86400 + seq(-15 * 3600, 15 * 3600, by = 900))
  quarters[which(as.Date(format(quarters, "%Y-%m-%d", tz = zone)) >= day)[1]]
}

missingness <- function(x) {
  first <- as.Date(format(x$since, "%Y-%m-%d", tz = x$timezone))
  last <- as.Date(format(x$until - 1, "%Y-%m-%d", tz = x$timezone))
  days <- if (x$since < x$until) seq(first, max(first, last), by = "day") else as.Date(character())
  starts <- as.numeric(lapply(c(days, if (length(days) > 0) max(days) + 1), start_of, zone = x$timezone))
  # A day that the zone skipped, as Samoa did 2011-12-30, has no time.
  there <- diff(starts) > 0
  days <- days[there]
  stops <- starts[-1][there]
  starts <- starts[-length(starts)][there]
  minutes <- whole(stops - starts)
  known <- x$coverage
  reasons <- sort(unique(known$reason[!is.na(known$reason)]))
  counts <- lapply(c("covered", reasons), function(what) {
    of <- known[if (what == "covered") is.na(known$reason) else !is.na(known$reason) & known$reason == what, ]
    minutes_in(of, starts, stops)
  })
  names(counts) <- c("listened", reasons)
  told <- Reduce(`+`, counts, numeric(length(days)))
  dates <- format(x$readings$stamp, "%Y-%m-%d", tz = x$timezone)
  readings <- as.integer(table(factor(dates, levels = format(days))))
  # None in a day in which nobody listened is not 0: nobody knows.
  readings[readings == 0 & counts$listened == 0] <- NA
  data.frame(day = days, minutes = minutes, counts, unknown = minutes - told, readings = readings)
}

# Minutes of each day that lie in any of the stretches; where one begins and ends is rounded to the minute.
minutes_in <- function(stretches, starts, stops) {
  from <- as.numeric(stretches$start)
  to <- as.numeric(stretches$stop)
  as.numeric(mapply(function(start, stop) {
    sum(whole(pmin(pmax(to, start), stop) - start) - whole(pmin(pmax(from, start), stop) - start))
  }, starts, stops))
}

# Whole minutes, halves up.
whole <- function(seconds) floor(seconds / 60 + 0.5)

# The interface has whole seconds as bounds, neither of them in the window.
window <- function(since, until) {
  c(
    if (!is.null(since)) list(after = floor(as.numeric(since)) - 1),
    if (!is.null(until)) list(before = ceiling(as.numeric(until)))
  )
}

next_second <- function() instant(floor(as.numeric(Sys.time())) + 1)

print.lintel_series <- function(x, ...) {
  days <- missingness(x)
  minutes <- whole(as.numeric(x$until) - as.numeric(x$since))
  told <- setdiff(names(days), c("day", "minutes", "unknown", "readings"))
  sums <- vapply(days[told], sum, 0)
  missing <- sums[names(sums) != "listened" & sums > 0]
  unknown <- minutes - sum(sums)
  if (unknown > 0) missing <- c(missing, unknown = unknown)
  at <- function(time) format(time, "%Y-%m-%d %H:%M %Z", tz = x$timezone)
  share <- if (minutes > 0) sprintf("%.1f %%", 100 * sums[["listened"]] / minutes) else "0 min"
  cat(sep = "", x$item$itemname, ", ", tolower(x$title), ", ", at(x$since), " to ", at(x$until), ": ",
      nrow(x$readings), " readings; listened ", share, " of the time",
      if (length(missing) > 0) paste0(", ", names(missing), " ", missing, " min"), "\n")
  if (nrow(x$readings) > 0) print(utils::tail(x$readings, 6))
  invisible(x)
}

# Readings of each day; what hangs from the top is the part of the day in which nobody listened.
plot.lintel_series <- function(x, ...) {
  days <- missingness(x)
  counts <- ifelse(is.na(days$readings), 0, days$readings)
  top <- max(counts, 1)
  main <- paste0(x$item$itemname, ": ", tolower(x$title))
  middles <- as.vector(
    graphics::barplot(counts, names.arg = format(days$day), ylim = c(0, top), ylab = "readings a day", main = main, ...)
  )
  lost <- top * (1 - days$listened / days$minutes)
  hatched <- lost > 0
  if (any(hatched)) {
    left <- middles[hatched] - 0.5
    graphics::rect(left, top - lost[hatched], left + 1, top, density = 20, col = "grey40", border = NA)
  }
  graphics::mtext("hatched: the part of the day in which nobody listened", side = 1, line = 3, cex = 0.8)
  invisible(days)
}
