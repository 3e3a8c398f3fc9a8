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
-- What is installed in a home is asked for by its number.
CREATE INDEX items_by_home ON items (record ->> '$.currenthomeid', itemid);

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
