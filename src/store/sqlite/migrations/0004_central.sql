-- At central: which home an epoch belongs to, written once, when it is first heard of.
CREATE TABLE epoch_homes (
  epoch TEXT PRIMARY KEY,
  home INTEGER NOT NULL
) WITHOUT ROWID, STRICT;

-- At central: how far each epoch is held.
CREATE TABLE sources (
  home INTEGER NOT NULL,
  epoch TEXT NOT NULL,
  -- Null while no readings are held.
  first_seq INTEGER,
  held_seq INTEGER NOT NULL DEFAULT 0,
  -- Digest of the reading numbered held_seq; null where it is among the missing.
  digest TEXT,
  -- Up to which the notes of its devices' health are held.
  held_note INTEGER NOT NULL DEFAULT 0,
  -- When a batch was last taken, unix milliseconds.
  uploaded_ms INTEGER,
  -- The contacts of a home are counted: the first of an epoch, and its last report (0: none), so that what came in one millisecond still has an order.
  began INTEGER NOT NULL,
  reported INTEGER NOT NULL DEFAULT 0,
  reported_ms INTEGER,
  -- The newest number that the last report named, and which day it was in the home then: days since 1970 by its calendar.
  told_seq INTEGER,
  told_day INTEGER,
  -- What the gateway last said of itself.
  report TEXT CHECK (json_valid(report)),
  PRIMARY KEY (home, epoch)
) WITHOUT ROWID, STRICT;

-- At central: what has arrived of each home by days since 1970. `arrived_ms`: when all that the gateway had at some moment of this day of its home's calendar was
-- here first. `differing`: series of devices that differed when this day (UTC) was last compared.
CREATE TABLE nights (
  home INTEGER NOT NULL,
  day INTEGER NOT NULL,
  arrived_ms INTEGER,
  differing INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (home, day)
) WITHOUT ROWID, STRICT;

-- At central: which numbers of an epoch became which here: reading `from_seq` has the number `first_own`, the next the next, those that the
-- gateway has lost included, up to `to_seq`. What follows on in both extends a row.
CREATE TABLE batches (
  home INTEGER NOT NULL,
  epoch TEXT NOT NULL,
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL,
  first_own INTEGER NOT NULL,
  PRIMARY KEY (home, epoch, from_seq)
) WITHOUT ROWID, STRICT;

-- At central: alerts that it makes of the health of a home's devices. Served beside those of imports, never mixed with them.
CREATE TABLE home_alerts (
  home INTEGER NOT NULL,
  subjectid INTEGER NOT NULL,
  id TEXT NOT NULL,
  record TEXT NOT NULL CHECK (json_valid(record)),
  PRIMARY KEY (home, subjectid, id)
) WITHOUT ROWID, STRICT;
CREATE INDEX home_alerts_by_subject ON home_alerts (subjectid);

-- At central: files of homes, such as the backup of a Zigbee network.
CREATE TABLE backups (
  home INTEGER NOT NULL,
  name TEXT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (home, name)
) STRICT;

-- Only while a store is being moved here from another database: how far the rows of each home have come, as JSON.
CREATE TABLE moved_homes (
  home INTEGER PRIMARY KEY,
  state TEXT NOT NULL CHECK (json_valid(state))
) STRICT;
