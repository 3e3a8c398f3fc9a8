-- How far drivers have read the buffers of devices, in words of their own; moved in the commit of what was read.
CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID, STRICT;
