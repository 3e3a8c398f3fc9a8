-- Stretches of time that a device or driver knows to be incomplete, as told: unix milliseconds, the end not included.
CREATE TABLE gaps (
  item INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  reason TEXT NOT NULL,
  lost INTEGER,
  PRIMARY KEY (item, from_ms, to_ms, reason)
) WITHOUT ROWID, STRICT;
