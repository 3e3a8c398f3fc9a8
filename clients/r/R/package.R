# The files of a download as data frames, with the types that its datapackage.json tells.

read_package <- function(folder) {
  described <- jsonlite::fromJSON(file.path(folder, "datapackage.json"), simplifyVector = FALSE)
  tables <- lapply(described$resources, table_of, folder = folder)
  names(tables) <- vapply(described$resources, function(table) table$name, "")
  tables
}

table_of <- function(table, folder) {
  fields <- table$schema$fields
  types <- vapply(fields, function(field) field$type, "")
  names(types) <- vapply(fields, function(field) field$name, "")
  path <- file.path(folder, table$path)
  columns <- switch(table$format,
    csv = csv_columns(path),
    ndjson = ndjson_columns(path, names(types)),
    parquet = parquet_columns(path)
  )
  as.data.frame(Map(typed_field, columns[names(types)], types), check.names = FALSE)
}

# A value of a field as R has it. R's own whole numbers are too small for the numbers of a package without identifiers.
typed_field <- function(values, type) {
  switch(type,
    string = as.character(values),
    integer = as.numeric(values),
    number = as.numeric(values),
    boolean = as.logical(values),
    date = as.Date(values),
    datetime = if (inherits(values, "POSIXt")) values else {
      as.POSIXct(as.character(values), format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")
    }
  )
}

csv_columns <- function(path) {
  columns <- utils::read.csv(
    path, colClasses = "character", na.strings = "", check.names = FALSE, encoding = "UTF-8"
  )
  # An apostrophe that CSV has before a text that a spreadsheet would compute.
  guard <- "^'(?=['\"\\s]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|'*[\\t\\r\\n])|(?<=[;\\t\\r\\n])'(?=['\"\\s]*[=+\\-@\uff1d\uff0b\uff0d\uff20])"
  lapply(columns, function(values) gsub(guard, "", values, perl = TRUE))
}

ndjson_columns <- function(path, names) {
  rows <- jsonlite::stream_in(file(path), verbose = FALSE)
  columns <- lapply(names, function(name) if (name %in% names(rows)) rows[[name]] else rep(NA, nrow(rows)))
  stats::setNames(columns, names)
}

parquet_columns <- function(path) {
  for (package in c("arrow", "nanoparquet")) {
    if (requireNamespace(package, quietly = TRUE)) return(getExportedValue(package, "read_parquet")(path))
  }
  stop("a Parquet file needs the package arrow or nanoparquet: install one, or fetch --format csv", call. = FALSE)
}
