# Days and minutes, without a server.
library(lintel)
internal <- function(name) getFromNamespace(name, "lintel")
start_of <- internal("start_of")
utc <- function(text) as.POSIXct(text, tz = "UTC")

recorded <- function(zone, since, until, stamps = NULL, start = NULL, stop = NULL, reason = NULL) {
  reason <- as.character(reason)
  coverage <- data.frame(
    start = as.POSIXct(start), stop = as.POSIXct(stop),
    state = ifelse(is.na(reason), "covered", "not_listening"), reason = reason, lost = rep(NA_real_, length(reason))
  )
  readings <- data.frame(stamp = as.POSIXct(stamps), event = rep(1, length(stamps)))
  structure(
    list(title = "Wireless sensor events", item = list(itemname = "hall-wall"), timezone = zone, since = since,
         until = until, readings = readings, coverage = coverage),
    class = "lintel_series"
  )
}

# Days add up, also where the clocks change.
since <- start_of(as.Date("2026-03-28"), "Europe/Berlin")
until <- start_of(as.Date("2026-10-27"), "Europe/Berlin")
half <- since + as.numeric(until - since, units = "secs") / 2
days <- missingness(recorded("Europe/Berlin", since, until, NULL, c(since, half), c(half, until), c(NA, "gateway_down")))
stopifnot(
  identical(as.numeric(table(days$minutes)), c(1, 211, 1)),
  days$listened + days$gateway_down + days$unknown == days$minutes,
  sum(days$unknown) == 0
)

# A day without a listener has no count, and not 0.
since <- utc("2026-11-01")
day <- 86400
x <- recorded("UTC", since, since + 4 * day, since + 3.5 * day, since + c(0, day), since + c(1, 2) * day, c(NA, "gateway_down"))
days <- missingness(x)
stopifnot(identical(days$readings, c(0L, NA, NA, 1L)), identical(days$unknown, c(0, 0, 1440, 1440)))

# Silence is rest only where somebody listened.
stopifnot(
  isTRUE(happened(x, since + 3 * day, since + 4 * day)),
  isFALSE(happened(x, since, since + day)),
  is.na(happened(x, since, since + 2 * day)),
  is.na(happened(x, "2026-11-03", "2026-11-04"))
)
stopifnot(any(grepl("1 readings; listened 25.0 % of the time, gateway_down 1440 min, unknown 2880 min", capture.output(print(x)))))

# A zone that skipped a day does not have it; one whose clocks go forward at midnight begins its day at one.
apia <- missingness(recorded("Pacific/Apia", utc("2011-12-29 12:00"), utc("2011-12-31 12:00")))
stopifnot(identical(format(apia$day), c("2011-12-29", "2011-12-31", "2012-01-01")))
stopifnot(start_of(as.Date("2023-10-01"), "America/Asuncion") == utc("2023-10-01 04:00"))

# Coverage has no overlaps, and ends where it was asked to.
at <- as.numeric(utc("2026-11-01")) + 3600 * 0:5
newest_first <- data.frame(
  start = at[c(4, 3, 3, 1)], stop = at[c(6, 4, 4, 3)], state = c("covered", "silent", "silent", "covered"),
  reason = c(NA, "device_silent", "device_silent", NA), lost = NA
)
found <- internal("in_order")(newest_first, at[2], at[5])
stopifnot(identical(as.numeric(found$start), at[2:4]), identical(as.numeric(found$stop), at[3:5]))

# A moment is a day of the home or an instant.
instant_of <- internal("instant_of")
stopifnot(
  instant_of("2026-11-01", "Europe/Berlin") == utc("2026-10-31 23:00"),
  instant_of(utc("2026-11-01 08:00"), "Europe/Berlin") == utc("2026-11-01 08:00"),
  grepl("neither a day", tryCatch(instant_of("yesterday", "UTC"), error = conditionMessage))
)
