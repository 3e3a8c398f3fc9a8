-- The inventory. `record` is kept whole, byte for byte as it is served; the columns that it is looked up by are written with
-- it, from it. `key` is never changed and never used again. A provisional item belongs to the home that heard it: `home`. Texts order by code point.
CREATE TABLE items (
  key BIGINT PRIMARY KEY,
  record TEXT NOT NULL,
  itemid BIGINT NOT NULL,
  itemname TEXT COLLATE "C" NOT NULL,
  typename TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C",
  provisional BOOLEAN NOT NULL,
  home BIGINT,
  currenthomeid BIGINT
);
CREATE UNIQUE INDEX items_by_itemid ON items (itemid);
CREATE UNIQUE INDEX items_by_name ON items (itemname);
CREATE UNIQUE INDEX items_by_address ON items (typename, address, coalesce(home, -1)) WHERE address IS NOT NULL;
CREATE INDEX items_by_type ON items (typename, itemid);
CREATE INDEX items_by_home ON items (currenthomeid, itemid) WHERE currenthomeid IS NOT NULL;

-- What one home hears of one item: readings and signs of life are stored under its key, so that those of one home never stand among those of
-- another. `address` and `itemid` are what the home calls the device by.
CREATE TABLE streams (
  key BIGINT PRIMARY KEY,
  item BIGINT NOT NULL,
  home BIGINT NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  itemid BIGINT
);
CREATE UNIQUE INDEX streams_by_item ON streams (item, home);
CREATE INDEX streams_by_home ON streams (home, item);

-- When an item lived in which home, unix milliseconds, the end not included: made of the inventory with each import. No two of an item overlap.
CREATE TABLE stays (
  item BIGINT NOT NULL,
  from_ms BIGINT NOT NULL,
  before_ms BIGINT NOT NULL,
  home BIGINT NOT NULL,
  PRIMARY KEY (item, from_ms)
);
CREATE INDEX stays_by_home ON stays (home, item);

-- The last keys that were given to items and streams. Sequences would leave gaps behind what was rolled back, and provisional items are
-- named after their keys.
CREATE TABLE last_keys (
  name TEXT PRIMARY KEY,
  last BIGINT NOT NULL
);
INSERT INTO last_keys VALUES ('items', 0), ('streams', 0);

-- The programme's records other than items, each kept whole as it is served (an item in it as its itemid). `number` is the
-- number of the subject or home that owns the record, or its own where nobody does. `id` tells the records of an owner apart.
CREATE TABLE records (
  type TEXT COLLATE "C" NOT NULL,
  number BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (type, number, id)
);

-- Records that name a home, subject or item and belong to another: the records of a home ask for them, of every home every night. The
-- expression is the one by which they are looked up (records.ts).
CREATE INDEX project_enrollments_by_home ON records ((substring(record FROM '"homeid":(-?\d+)[,}]')::bigint))
  WHERE type = 'project_enrollments';
CREATE INDEX project_enrollments_by_project ON records ((substring(record FROM '"projectid":(-?\d+)[,}]')::bigint))
  WHERE type = 'project_enrollments';
CREATE INDEX study_enrollments_by_study ON records ((substring(record FROM '"studyid":(-?\d+)[,}]')::bigint))
  WHERE type = 'study_enrollments';
CREATE INDEX subject_inventory_by_item ON records ((substring(record FROM '"itemid":(-?\d+)[,}]')::bigint))
  WHERE type = 'subject_inventory';
CREATE INDEX home_inventory_by_item ON records ((substring(record FROM '"item":(-?\d+)[,}]')::bigint))
  WHERE type = 'home_inventory';
CREATE INDEX issues_by_home ON records ((substring(record FROM '"homeid":(-?\d+)[,}]')::bigint)) WHERE type = 'issues';
CREATE INDEX issues_by_subject ON records ((substring(record FROM '"subjectid":(-?\d+)[,}]')::bigint))
  WHERE type = 'issues';
CREATE INDEX issues_by_item ON records ((substring(record FROM '"itemid":(-?\d+)[,}]')::bigint)) WHERE type = 'issues';
CREATE INDEX consents_by_home ON records ((substring(record FROM '"homeid":(-?\d+)[,}]')::bigint)) WHERE type = 'consents';
CREATE INDEX consents_by_subject ON records ((substring(record FROM '"subjectid":(-?\d+)[,}]')::bigint))
  WHERE type = 'consents';

CREATE TABLE tokens (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  home BIGINT,
  -- What a read token is bound to, as JSON; null: it reads everything.
  binding TEXT,
  hash BYTEA NOT NULL,
  created_ms BIGINT NOT NULL,
  expires_ms BIGINT,
  last_used_ms BIGINT
);

-- Alerts that central makes of the health of a home's devices: served beside those of imports, never mixed with them.
CREATE TABLE home_alerts (
  home BIGINT NOT NULL,
  subjectid BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (home, subjectid, id)
);
CREATE INDEX home_alerts_by_subject ON home_alerts (subjectid);

-- Files of homes, such as the backup of a Zigbee network.
CREATE TABLE backups (
  home BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  content BYTEA NOT NULL,
  PRIMARY KEY (home, name)
);

-- The health of devices, kept as what lasts and its interruptions. Listeners are the gateway itself and its drivers; a stream has one state.
CREATE TABLE listeners (
  home BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  first_ms BIGINT NOT NULL,
  last_ms BIGINT NOT NULL,
  PRIMARY KEY (home, name)
);
CREATE TABLE outages (
  home BIGINT NOT NULL,
  listener TEXT COLLATE "C" NOT NULL,
  start_ms BIGINT NOT NULL,
  stop_ms BIGINT NOT NULL,
  PRIMARY KEY (home, listener, start_ms)
);
CREATE TABLE stream_states (
  stream BIGINT NOT NULL,
  home BIGINT NOT NULL,
  first_ms BIGINT NOT NULL,
  heard_ms BIGINT NOT NULL,
  listener TEXT COLLATE "C",
  battery_percent DOUBLE PRECISION,
  battery_mv DOUBLE PRECISION,
  linkquality DOUBLE PRECISION,
  -- src/domain/device-facts.ts, as JSON.
  facts TEXT,
  PRIMARY KEY (stream, home)
);
CREATE TABLE silences (
  stream BIGINT NOT NULL,
  home BIGINT NOT NULL,
  start_ms BIGINT NOT NULL,
  stop_ms BIGINT NOT NULL,
  PRIMARY KEY (stream, home, start_ms)
);

-- Stretches of time that a device or driver knows to be incomplete, as told: the end not included.
CREATE TABLE gaps (
  stream BIGINT NOT NULL,
  home BIGINT NOT NULL,
  from_ms BIGINT NOT NULL,
  to_ms BIGINT NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  lost BIGINT,
  PRIMARY KEY (stream, from_ms, to_ms, reason, home)
);

-- Times of which nothing is kept any more: for ever, so that what comes later is not kept either. Rows of one `id` were erased together. Of one
-- device of a home, or of all (`kind` is null); `home` is -1 where only records were erased. `own`: it was asked for here, and not taken over from another copy
-- of this store. `refused` counts what has come since. There are no names in it.
CREATE TABLE erasures (
  id TEXT COLLATE "C" NOT NULL,
  place BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  own BIGINT NOT NULL,
  home BIGINT NOT NULL,
  subject BIGINT,
  kind TEXT COLLATE "C",
  address TEXT COLLATE "C",
  itemid BIGINT,
  from_ms BIGINT NOT NULL,
  before_ms BIGINT NOT NULL,
  readings BIGINT NOT NULL,
  refused BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (id, place)
);
CREATE INDEX erasures_by_home ON erasures (home);

-- Only while a store is being moved here from another database: how far the rows of each home have come, as JSON. Spread as they are.
CREATE TABLE moved_homes (
  home BIGINT PRIMARY KEY,
  state TEXT NOT NULL
);
