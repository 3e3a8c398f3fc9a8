-- What was thrown away since the store was made, by name.
CREATE TABLE dropped (
  name TEXT PRIMARY KEY,
  count INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

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

-- Coverage is kept as what lasts, in one row that is extended, and its interruptions. Listeners are the gateway
-- itself and its drivers; devices are listened for from first_ms to heard_ms. Each home has its own, so that listeners of one don't mix
-- with those of another; a gateway's own is under 0.
CREATE TABLE listeners (
  home INTEGER NOT NULL,
  name TEXT NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (home, name)
) WITHOUT ROWID, STRICT;
CREATE TABLE outages (
  home INTEGER NOT NULL,
  listener TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  note INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (home, listener, start_ms)
) WITHOUT ROWID, STRICT;
-- What was last learned of a device besides its readings.
CREATE TABLE stream_states (
  stream INTEGER NOT NULL REFERENCES streams (key),
  home INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  heard_ms INTEGER NOT NULL,
  listener TEXT,
  battery_percent REAL,
  battery_mv REAL,
  linkquality REAL,
  -- src/domain/device-facts.ts, as JSON.
  facts TEXT,
  PRIMARY KEY (stream, home)
) WITHOUT ROWID, STRICT;
CREATE TABLE silences (
  stream INTEGER NOT NULL,
  home INTEGER NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  note INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, home, start_ms)
) WITHOUT ROWID, STRICT;

-- Stretches of time that a device or driver knows to be incomplete, as told: the end not included.
CREATE TABLE gaps (
  stream INTEGER NOT NULL,
  home INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  to_ms INTEGER NOT NULL,
  reason TEXT NOT NULL,
  lost INTEGER,
  note INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, from_ms, to_ms, reason, home)
) WITHOUT ROWID, STRICT;

-- Every interruption that this gateway has kept has a number, a new one whenever it is told, moved or given to another stream: so that
-- whoever has read up to a number finds what is new without reading all.
INSERT INTO meta (name, value) VALUES ('last_note', 0);
CREATE INDEX outages_by_note ON outages (note);
CREATE INDEX silences_by_note ON silences (note);
CREATE INDEX gaps_by_note ON gaps (note);

CREATE TRIGGER outages_told AFTER INSERT ON outages WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE outages SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE home = new.home AND listener = new.listener AND start_ms = new.start_ms;
END;
CREATE TRIGGER outages_moved AFTER UPDATE OF home, listener, start_ms, stop_ms ON outages WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE outages SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE home = new.home AND listener = new.listener AND start_ms = new.start_ms;
END;
CREATE TRIGGER silences_told AFTER INSERT ON silences WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE silences SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE stream = new.stream AND home = new.home AND start_ms = new.start_ms;
END;
CREATE TRIGGER silences_moved AFTER UPDATE OF stream, home, start_ms, stop_ms ON silences WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE silences SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE stream = new.stream AND home = new.home AND start_ms = new.start_ms;
END;
CREATE TRIGGER gaps_told AFTER INSERT ON gaps WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE gaps SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE stream = new.stream AND from_ms = new.from_ms AND to_ms = new.to_ms AND reason = new.reason AND home = new.home;
END;
CREATE TRIGGER gaps_moved AFTER UPDATE OF stream, home, from_ms, to_ms, reason, lost ON gaps WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE gaps SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE stream = new.stream AND from_ms = new.from_ms AND to_ms = new.to_ms AND reason = new.reason AND home = new.home;
END;

-- How far drivers have read the buffers of devices, in words of their own; moved in the commit of what was read. Where a value tells something of that, the
-- last three columns say of which device and time, and `bare` is the same without it, null where nothing is left.
CREATE TABLE cursors (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  bare TEXT,
  typename TEXT,
  address TEXT,
  at_ms INTEGER
) WITHOUT ROWID, STRICT;

-- Devices heard by radio that were let in, though neither the inventory nor a key names them: see src/store/gateway/gateway-store.ts.
CREATE TABLE admitted (
  address TEXT PRIMARY KEY,
  admitted_ms INTEGER NOT NULL,
  reason TEXT NOT NULL CHECK (reason IN ('hand', 'joining', 'radio'))
) WITHOUT ROWID, STRICT;

-- What makes a device the same as before, and who claims to be a device that it is not: see src/domain/identity.ts. Both are JSON.
CREATE TABLE identities (
  address TEXT NOT NULL,
  typename TEXT NOT NULL,
  identity TEXT NOT NULL CHECK (json_valid(identity)),
  PRIMARY KEY (address, typename)
) WITHOUT ROWID, STRICT;
CREATE TABLE identity_conflicts (
  address TEXT PRIMARY KEY,
  conflict TEXT NOT NULL CHECK (json_valid(conflict))
) WITHOUT ROWID, STRICT;

-- What people in the home have called devices: see src/store/inventory/given-names.ts.
CREATE TABLE given_names (
  typename TEXT NOT NULL,
  address TEXT NOT NULL,
  name TEXT NOT NULL,
  room TEXT,
  metres REAL,
  due TEXT,
  replaces TEXT,
  given_ms INTEGER NOT NULL,
  PRIMARY KEY (typename, address)
) WITHOUT ROWID, STRICT;

-- Which epoch gave which numbers: from first_seq up to the one before the next span's, the last one up to last_seq.
-- A box that was restored has more than one; what came from central is `restored`, and is never uploaded.
CREATE TABLE epochs (
  first_seq INTEGER PRIMARY KEY,
  epoch TEXT NOT NULL,
  restored INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO epochs (first_seq, epoch) SELECT 1, value FROM meta WHERE name = 'epoch';

-- How far uploads have come, by name: see UploadState.
CREATE TABLE upload_state (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;
