-- Facts about this store: epoch (its random name), last_seq, home, timezone.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;

-- Counts of readings: src/store/README.md says how they are used. A head counts the newest ("open") block of
-- a series of an item, `blocks` the older ones; every block holds the keys from its start up to the next start.
CREATE TABLE heads (
  series TEXT NOT NULL,
  item INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  start_stamp INTEGER NOT NULL,
  start_seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  min_seq INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  total INTEGER NOT NULL,
  newest_stamp INTEGER NOT NULL,
  -- How often readings of the series of the item have been changed or joined with others: a place in the order of arrival holds for one revision.
  revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series, item)
) WITHOUT ROWID, STRICT;
CREATE TABLE blocks (
  series TEXT NOT NULL,
  item INTEGER NOT NULL,
  start_stamp INTEGER NOT NULL,
  start_seq INTEGER NOT NULL,
  count INTEGER NOT NULL,
  min_seq INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  PRIMARY KEY (series, item, start_stamp, start_seq)
) WITHOUT ROWID, STRICT;

-- Readings that came in with a stamp below one that their item had already: all others came in the order of their key, so that the
-- two together give the order of arrival. See src/store/README.md.
CREATE TABLE late (
  series TEXT NOT NULL,
  item INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (series, item, seq)
) WITHOUT ROWID, STRICT;

-- The series, as src/series.ts has them (a test compares). Stamps are unix milliseconds; `clock` is a ClockQuality; `device_ms`
-- and `offset_ms` are what a device with a clock of its own said, and what was added to it to get the stamp.
-- Ascending on purpose: SQLite fills pages that grow at the end of a run, and leaves them half empty otherwise.
CREATE TABLE pillbox_status (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  devicestamp INTEGER NOT NULL,
  voltage INTEGER NOT NULL,
  powersource TEXT NOT NULL,
  eventcount INTEGER NOT NULL,
  batteryseconds TEXT NOT NULL,
  firmwarerevsion TEXT NOT NULL,
  macaddress TEXT NOT NULL,
  nextpanicstart INTEGER NOT NULL,
  nextpanicstop INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  device_ms INTEGER,
  offset_ms INTEGER,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE pillbox_events (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  device_ms INTEGER,
  offset_ms INTEGER,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE wirelesssensor_events (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE scale_weights (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  weight INTEGER NOT NULL,
  fatMass INTEGER,
  waterMass INTEGER,
  boneMass INTEGER,
  muscleMass INTEGER,
  batteryLevel INTEGER,
  clock INTEGER NOT NULL,
  device_ms INTEGER,
  offset_ms INTEGER,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE scale_heart (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  heartRate INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  device_ms INTEGER,
  offset_ms INTEGER,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE watch_epochs (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  duration INTEGER NOT NULL,
  distance REAL NOT NULL,
  steps INTEGER NOT NULL,
  walkState INTEGER NOT NULL,
  runState INTEGER NOT NULL,
  sleepState INTEGER NOT NULL,
  clock INTEGER NOT NULL,
  device_ms INTEGER,
  offset_ms INTEGER,
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
