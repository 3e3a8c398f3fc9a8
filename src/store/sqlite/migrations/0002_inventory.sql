-- The inventory. `record` is kept whole, byte for byte as it is served; the columns that it is looked up by are written with it, from
-- it. `key` is never changed and never used again. A provisional item belongs to the home that heard it: `home`, 0 at a gateway.
CREATE TABLE items (
  key INTEGER PRIMARY KEY,
  record TEXT NOT NULL CHECK (json_valid(record)),
  itemid INTEGER NOT NULL,
  itemname TEXT NOT NULL,
  typename TEXT NOT NULL,
  address TEXT,
  provisional INTEGER NOT NULL,
  home INTEGER,
  currenthomeid INTEGER
) STRICT;
CREATE UNIQUE INDEX items_by_itemid ON items (itemid);
CREATE UNIQUE INDEX items_by_name ON items (itemname);
CREATE UNIQUE INDEX items_by_address ON items (typename, address, coalesce(home, -1)) WHERE address IS NOT NULL;
CREATE INDEX items_by_type ON items (typename, itemid);
CREATE INDEX items_by_home ON items (currenthomeid, itemid) WHERE currenthomeid IS NOT NULL;

-- What one home hears of one item: readings and signs of life are stored under its key, so that those of one home never stand among those of
-- another. A gateway has one home, 0. `address` and `itemid` are what the home calls the device by.
CREATE TABLE streams (
  key INTEGER PRIMARY KEY,
  item INTEGER NOT NULL REFERENCES items (key),
  home INTEGER NOT NULL,
  address TEXT NOT NULL,
  itemid INTEGER
) STRICT;
CREATE UNIQUE INDEX streams_by_item ON streams (item, home);
CREATE INDEX streams_by_home ON streams (home, item);

-- When an item lived in which home, unix milliseconds, the end not included: made of the inventory with each import. No two of an item overlap.
CREATE TABLE stays (
  item INTEGER NOT NULL REFERENCES items (key),
  from_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  home INTEGER NOT NULL,
  PRIMARY KEY (item, from_ms)
) WITHOUT ROWID, STRICT;
CREATE INDEX stays_by_home ON stays (home, item);

-- The last keys that were given to items and streams.
CREATE TABLE last_keys (
  name TEXT PRIMARY KEY,
  last INTEGER NOT NULL
) WITHOUT ROWID, STRICT;
INSERT INTO last_keys VALUES ('items', 0), ('streams', 0);

-- The programme's records other than items, each kept whole as it is served (an item in it as its itemid).
-- `number` is the number of the subject or home that owns the record, or its own where nobody does, so that
-- the key alone finds a record, a list, and the list of an owner. `id` tells the records of an owner apart.
CREATE TABLE records (
  type TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  record TEXT NOT NULL CHECK (json_valid(record)),
  PRIMARY KEY (type, number, id)
) WITHOUT ROWID, STRICT;

-- Records that name a home, subject or item and belong to another: central looks for those of every home every night. The expression is
-- the one by which they are looked up.
CREATE INDEX project_enrollments_by_home ON records (record ->> '$.homeid') WHERE type = 'project_enrollments';
CREATE INDEX project_enrollments_by_project ON records (record ->> '$.projectid')
  WHERE type = 'project_enrollments';
CREATE INDEX study_enrollments_by_study ON records (record ->> '$.studyid')
  WHERE type = 'study_enrollments';
CREATE INDEX subject_inventory_by_item ON records (record ->> '$.itemid') WHERE type = 'subject_inventory';
CREATE INDEX home_inventory_by_item ON records (record ->> '$.item') WHERE type = 'home_inventory';
CREATE INDEX issues_by_home ON records (record ->> '$.homeid') WHERE type = 'issues';
CREATE INDEX issues_by_subject ON records (record ->> '$.subjectid') WHERE type = 'issues';
CREATE INDEX issues_by_item ON records (record ->> '$.itemid') WHERE type = 'issues';
CREATE INDEX consents_by_home ON records (record ->> '$.homeid') WHERE type = 'consents';
CREATE INDEX consents_by_subject ON records (record ->> '$.subjectid') WHERE type = 'consents';

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL,
  home INTEGER,
  -- What a read token is bound to, as JSON; null: it reads everything.
  binding TEXT CHECK (json_valid(binding)),
  hash BLOB NOT NULL,
  created_ms INTEGER NOT NULL,
  expires_ms INTEGER,
  last_used_ms INTEGER
) WITHOUT ROWID, STRICT;

-- Times of which nothing is kept any more: for ever, so that what comes later is not kept either. Rows of one `id` were erased together. Of one
-- device of a home, or of all (`kind` is null); `home` is 0 at a gateway, and -1 where only records were erased. `own`: it was asked for here, and not taken
-- over from central or from another copy of this store. `refused` counts what has come since. There are no names in it.
CREATE TABLE erasures (
  id TEXT NOT NULL,
  place INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  own INTEGER NOT NULL,
  home INTEGER NOT NULL,
  subject INTEGER,
  kind TEXT,
  address TEXT,
  itemid INTEGER,
  from_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  readings INTEGER NOT NULL,
  refused INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (id, place)
) WITHOUT ROWID, STRICT;
CREATE INDEX erasures_by_home ON erasures (home);
