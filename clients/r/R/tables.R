# Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.

# The series: type of the items that record it, its place, and what its fields are.
series_table <- list(
  pillbox_status = list(
    kind = "pillboxes", path = "status", title = "Pill-box status",
    types = c(devicestamp = "time", voltage = "number", powersource = "text", eventcount = "number", batteryseconds = "text", firmwarerevsion = "text", macaddress = "text", nextpanicstart = "time", nextpanicstop = "time")
  ),
  pillbox_events = list(
    kind = "pillboxes", path = "events", title = "Pill-box events",
    types = c(event = "number")
  ),
  wirelesssensor_events = list(
    kind = "wirelesssensors", path = "events", title = "Wireless sensor events",
    types = c(event = "number")
  ),
  wirelesssensor_measures = list(
    kind = "wirelesssensors", path = "measures", title = "Wireless sensor measures",
    types = c(quantity = "text", value = "number", unit = "text")
  ),
  scale_weights = list(
    kind = "scales", path = "weights", title = "Scale weights",
    types = c(weight = "number", fatMass = "number", waterMass = "number", boneMass = "number", muscleMass = "number", batteryLevel = "number")
  ),
  scale_heart = list(
    kind = "scales", path = "heart", title = "Scale heart rates",
    types = c(heartRate = "number")
  ),
  watch_epochs = list(
    kind = "watches", path = "epochs", title = "Watch epochs",
    types = c(duration = "number", distance = "number", steps = "number", walkState = "number", runState = "number", sleepState = "number")
  )
)

# Where each list of records is served: below a subject or a home where the path has {id}.
record_paths <- c(
  homes = "/homes/",
  subjects = "/subjects/",
  project_enrollments = "/subjects/{id}/enrollment/projects/",
  study_enrollments = "/subjects/{id}/enrollment/studies/",
  scheduled_contacts = "/subjects/{id}/scheduled/contacts/",
  phones = "/subjects/{id}/phone/",
  subject_inventory = "/subjects/{id}/inventory/",
  contacts = "/subjects/{id}/contacts/",
  comments = "/subjects/{id}/comments/",
  alerts = "/subjects/{id}/alerts/",
  home_inventory = "/homes/{id}/inventory/",
  notes = "/homes/{id}/notes/",
  projects = "/projects/",
  studies = "/studies/",
  issues = "/issues/",
  consents = "/consents/"
)

# Fields of each record that are times.
record_times <- list(
  items = c("currenthomestart"),
  homes = c(),
  subjects = c("dob", "dod"),
  project_enrollments = c("start", "stop"),
  study_enrollments = c("studystart", "studystop", "studystatestart", "studystatestop"),
  scheduled_contacts = c(),
  phones = c(),
  subject_inventory = c(),
  contacts = c("contactdate"),
  comments = c("stamp"),
  alerts = c(),
  home_inventory = c("start", "stop"),
  notes = c("start", "stop", "said"),
  projects = c("start", "stop"),
  studies = c("studystart", "studystop"),
  issues = c("opened", "closed"),
  consents = c("start", "stop"),
  device_history = c("start", "stop")
)

# Remedies of errors, by code, where its message does not say it.
remedies <- c(
  "0" = "ask again; if it stays, whoever keeps the server finds a line in its log",
  "40101" = "give the token, which `lintel token create NAME` prints",
  "40102" = "ask the server's keeper for a new token: lintel token create NAME",
  "40103" = "look whether the whole token was copied, and whether it is one of this server",
  "40104" = "ask the server's keeper for a token that reads: lintel token create NAME",
  "40401" = "look at the address and its version: /v0.9",
  "40402" = "the list of item types has their names",
  "40403" = "the list of items of that type has their names; a token that is bound sees its own alone",
  "40404" = "the list of these records has their numbers; a token that is bound sees its own alone",
  "41001" = "begin again without a cursor"
)
