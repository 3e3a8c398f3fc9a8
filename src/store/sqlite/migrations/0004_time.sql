-- Runs of the machine, in order. `timeline` is how monotonic time becomes unix time, as JSON; a boot that has not
-- learned the time has none.
CREATE TABLE boots (
  ordinal INTEGER PRIMARY KEY AUTOINCREMENT,
  boot TEXT NOT NULL UNIQUE,
  timeline TEXT CHECK (json_valid(timeline)),
  -- When the boot was last known to run, monotonic.
  seen_ms REAL NOT NULL,
  -- Of a boot that was put between its neighbours: how far its time may be off, to either side.
  bound_ms REAL
) STRICT;

-- What was taken in while the time was not known, as JSON: durable, without stamp or number.
CREATE TABLE waiting (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  boot TEXT NOT NULL,
  monotonic_ms REAL NOT NULL,
  fact TEXT NOT NULL CHECK (json_valid(fact))
) STRICT;
CREATE INDEX waiting_in_order ON waiting (boot, monotonic_ms, id);

-- Devices with a clock of their own: what it said, and what was added to it to get the stamp.
ALTER TABLE pillbox_status ADD COLUMN device_ms INTEGER;
ALTER TABLE pillbox_status ADD COLUMN offset_ms INTEGER;
ALTER TABLE pillbox_events ADD COLUMN device_ms INTEGER;
ALTER TABLE pillbox_events ADD COLUMN offset_ms INTEGER;
ALTER TABLE scale_weights ADD COLUMN device_ms INTEGER;
ALTER TABLE scale_weights ADD COLUMN offset_ms INTEGER;
ALTER TABLE scale_heart ADD COLUMN device_ms INTEGER;
ALTER TABLE scale_heart ADD COLUMN offset_ms INTEGER;
ALTER TABLE watch_epochs ADD COLUMN device_ms INTEGER;
ALTER TABLE watch_epochs ADD COLUMN offset_ms INTEGER;

-- Coverage is kept as what lasts, in one row that is extended, and its interruptions. Listeners are the gateway
-- itself and its drivers; devices are listened for from first_ms to heard_ms.
CREATE TABLE listeners (
  name TEXT PRIMARY KEY,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
CREATE TABLE outages (
  listener TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  PRIMARY KEY (listener, start_ms)
) WITHOUT ROWID, STRICT;
ALTER TABLE item_states ADD COLUMN first_ms INTEGER;
ALTER TABLE item_states ADD COLUMN listener TEXT;
CREATE TABLE silences (
  item INTEGER NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  PRIMARY KEY (item, start_ms)
) WITHOUT ROWID, STRICT;

-- Stretches of time that a device or driver knows to be incomplete, as told: the end not included.
CREATE TABLE gaps (
  item INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  reason TEXT NOT NULL,
  lost INTEGER,
  PRIMARY KEY (item, from_ms, to_ms, reason)
) WITHOUT ROWID, STRICT;
