# A running server, such as that of `lintel demo`: LINTEL_URL and LINTEL_TOKEN name it.
library(lintel)
if (Sys.getenv("LINTEL_URL") == "") {
  message("LINTEL_URL names no server: NOT tried")
  quit("no")
}
server <- lintel()
sensor <- "kitchen-wall"
refusal <- function(asked) tryCatch(asked, error = identity)

# A series comes with its coverage, from old to new.
found <- lintel_series(server, "wirelesssensor_events", sensor)
stopifnot(
  nrow(found$readings) > 100, !is.unsorted(found$readings$stamp), found$item$itemname == sensor,
  !is.unsorted(c(t(sapply(found$coverage[c("start", "stop")], as.numeric))))
)
days <- missingness(found)
told <- setdiff(names(days), c("day", "minutes", "readings"))
stopifnot(rowSums(days[told]) == days$minutes)
plotted <- plot(found)
stopifnot(identical(plotted, days))

# A derived measure is one frame.
home <- lintel_records(server, "homes")$homeid[1]
doses <- lintel_derived(server, home, "doses")
known <- unique(doses$day)
some <- lintel_derived(server, home, "doses", since = known[2], until = known[4])
stopifnot(
  !is.unsorted(doses$stamp), "taken" %in% doses$status, all(is.na(doses$at[doses$status == "missed"])),
  identical(some$day, doses$day[doses$day %in% known[2:3]]), inherits(refusal(lintel_derived(server, home, "nothing")), "lintel_error"),
  nrow(lintel_derived(server, home, "doses", until = "2000-01-01")) == 0
)

# So are a series of many items, and a measure of many homes.
day <- as.numeric(86400)
names <- lintel_items(server, "wirelesssensors")$itemname[1:3]
some <- lintel_frame(server, "wirelesssensor_events", names, since = Sys.time() - 2 * day, until = Sys.time() - day)
scales <- lintel_frame(server, "scale_weights")
both <- lintel_derived(server, c(home, home), "doses", until = known[4])
stopifnot(
  identical(names(some), c("itemname", "stamp", "event")), some$itemname %in% names, length(unique(some$itemname)) > 1,
  setequal(scales$itemname, lintel_items(server, "scales")$itemname),
  both$homeid == home, nrow(both) == 2 * nrow(lintel_derived(server, home, "doses", until = known[4]))
)

# Where items are is known.
places <- lintel_places(server, home)
stopifnot(places$room[places$itemname == sensor] == "kitchen", identical(sort(places$order[places$line %in% "hall"]), 1:4))

# All pages are walked.
until <- Sys.time() - 86400
middle <- until - 3.3 * 86400
whole <- lintel_series(server, "wirelesssensor_events", sensor, until = until)$readings
first <- lintel_series(server, "wirelesssensor_events", sensor, until = middle)$readings
second <- lintel_series(server, "wirelesssensor_events", sensor, since = middle, until = until)$readings
stopifnot(all.equal(rbind(first, second), whole), nrow(lintel_series(server, "scale_heart", "scale-bathroom", until = "2000-01-01")$readings) == 0)
arrived <- lintel_arrivals(server, "wirelesssensor_events", sensor)
old <- arrived$readings[arrived$readings$stamp < until, ]
stopifnot(identical(sort(as.numeric(old$stamp)), as.numeric(whole$stamp)))
again <- lintel_arrivals(server, "scale_weights", "scale-bathroom", lintel_arrivals(server, "scale_weights", "scale-bathroom")$cursor)
stopifnot(nrow(again$readings) <= 1)

# So are readings as they arrive, until it is enough.
followed <- list()
cursor <- lintel_follow(server, "wirelesssensor_events", sensor, function(readings, cursor) {
  followed[[length(followed) + 1]] <<- readings
  sum(vapply(followed, nrow, 1)) < nrow(arrived$readings)
})
followed <- do.call(rbind, followed)
stopifnot(
  all.equal(followed[seq_len(nrow(arrived$readings)), ], arrived$readings), nchar(cursor) > 10,
  refusal(lintel_follow(server, "wirelesssensor_events", "nobody", stop))$code == 40403
)

# Times have one form.
status <- lintel_series(server, "pillbox_status", "pillbox-morning")$readings
stopifnot(sapply(status[c("stamp", "devicestamp", "nextpanicstart")], inherits, "POSIXct"))
inventory <- lintel_records(server, "home_inventory", lintel_records(server, "homes")$homeid[1])
stopifnot(inherits(inventory$start, "POSIXct"), inherits(inventory$item.currenthomestart, "POSIXct"))

# The inventory is known.
types <- lintel_item_types(server)
stopifnot(nrow(lintel_items(server, "scales")) == types$count[types$typename == "scales"])
device <- lintel_device(server, "wirelesssensors", sensor)
stopifnot(device$driver == "zigbee", inherits(device$history$start, "POSIXct"))

# What is wrong is said, and what to do.
unknown <- refusal(lintel_item(server, "scales", "no/body"))
stopifnot(inherits(unknown, "lintel_error"), unknown$status == 404, unknown$code == 40403)
stopifnot(grepl("No item of type scales is named no/body (code 40403): the list of items", conditionMessage(unknown), fixed = TRUE))
stopifnot(grepl("code 40103.*whole token", conditionMessage(refusal(lintel_item_types(lintel(token = "x"))))))
down <- refusal(lintel_item_types(lintel("http://127.0.0.1:9", "x")))
stopifnot(inherits(down, "lintel_not_reached"), grepl("http://127.0.0.1:9 cannot be reached: .*: look whether it runs", conditionMessage(down)))
stopifnot(grepl("there are pillbox_status, ", conditionMessage(refusal(lintel_series(server, "foo", sensor)))))
stopifnot(!any(grepl(Sys.getenv("LINTEL_TOKEN"), capture.output(print(server)), fixed = TRUE)))
