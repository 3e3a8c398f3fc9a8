-- Facts about this store: epoch (its random name), last_seq, home, timezone.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;

-- The inventory. A record is kept whole, as it is served; what is looked up by is derived from it, so that
-- the two cannot disagree. `key` is what readings are stored under: never changed, never used again.
CREATE TABLE items (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  record TEXT NOT NULL CHECK (json_valid(record)),
  address TEXT,
  provisional INTEGER NOT NULL,
  itemid INTEGER NOT NULL GENERATED ALWAYS AS (record ->> '$.itemid') VIRTUAL UNIQUE,
  itemname TEXT NOT NULL GENERATED ALWAYS AS (record ->> '$.itemname') VIRTUAL UNIQUE,
  typename TEXT NOT NULL GENERATED ALWAYS AS (record ->> '$.typename') VIRTUAL
) STRICT;
CREATE UNIQUE INDEX items_by_address ON items (typename, address) WHERE address IS NOT NULL;
CREATE INDEX items_by_type ON items (typename, itemid);

-- What was last learned of a device besides its readings.
CREATE TABLE item_states (
  item INTEGER PRIMARY KEY REFERENCES items (key),
  heard_ms INTEGER NOT NULL,
  battery_percent REAL,
  battery_mv REAL,
  linkquality REAL
) STRICT;

-- What was thrown away since the store was made, by name.
CREATE TABLE dropped (
  name TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  home INTEGER,
  hash BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  last_used_ms INTEGER
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

-- The series, as src/series.ts has them (a test compares). Stamps are unix milliseconds; `clock` is a ClockQuality.
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
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE pillbox_events (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  event INTEGER NOT NULL,
  clock INTEGER NOT NULL,
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
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
CREATE TABLE scale_heart (
  item INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  heartRate INTEGER NOT NULL,
  clock INTEGER NOT NULL,
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
  PRIMARY KEY (item, stamp, seq)
) WITHOUT ROWID, STRICT;
