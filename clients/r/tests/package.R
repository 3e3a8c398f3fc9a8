# Packages that `lintel fetch` has written: LINTEL_PACKAGES names the directory with one of each format.
library(lintel)

# That of the vignette.
home <- read_package(system.file("extdata", "home", package = "lintel"))
stopifnot(nrow(home$places) == 17, inherits(home$derived_doses$day, "Date"), anyNA(home$derived_room_days$visits))

text <- function(lines) {
  folder <- tempfile()
  dir.create(folder)
  fields <- '[{"name":"itemname","type":"string"},{"name":"active","type":"boolean"}]'
  described <- sprintf('{"resources":[{"name":"items","path":"items.csv","format":"csv","schema":{"fields":%s}}]}', fields)
  writeLines(described, file.path(folder, "datapackage.json"))
  writeLines(lines, file.path(folder, "items.csv"), sep = "\r\n")
  read_package(folder)$items
}
read <- text(c("itemname,active", "'=1+1,true", "NA,", "0012,false", "\"a;'+b\",true", "it's,true"))
stopifnot(
  identical(read$itemname, c("=1+1", "NA", "0012", "a;+b", "it's")),
  identical(read$active, c(TRUE, NA, FALSE, TRUE, TRUE))
)

packages <- Sys.getenv("LINTEL_PACKAGES")
if (packages != "") {
  classes <- c(string = "character", integer = "numeric", number = "numeric", boolean = "logical", datetime = "POSIXct", date = "Date")
  check <- function(format) {
    folder <- file.path(packages, format)
    tables <- read_package(folder)
    described <- jsonlite::fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE)
    for (table in described$resources) {
      frame <- tables[[table$name]]
      told <- vapply(table$schema$fields, function(field) classes[[field$type]], "")
      found <- vapply(frame, function(values) class(values)[1], "")
      stopifnot(nrow(frame) == table$rows, identical(unname(found), told))
      stopifnot(names(frame) == vapply(table$schema$fields, function(field) field$name, ""))
    }
    tables[sub("\\.\\w+$", "", unlist(described$lintel$lasting))]
  }
  stopifnot(isTRUE(all.equal(check("csv"), check("ndjson"), tolerance = 0)))
}
