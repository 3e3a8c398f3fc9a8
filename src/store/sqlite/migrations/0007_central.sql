-- Whether this is a gateway's store or central's is kept as the fact `role`; until now there were only gateways.
INSERT INTO meta SELECT 'role', 'gateway'
  WHERE EXISTS (SELECT 1 FROM meta WHERE name IN ('home', 'timezone') OR (name = 'last_seq' AND value > 0))
    OR EXISTS (SELECT 1 FROM listeners) OR EXISTS (SELECT 1 FROM boots);

-- At central: the epochs of gateways that have sent something. A source's readings are held up to held_seq; `digest` is that
-- of the reading held_seq, NULL where that was lost. The contacts of a home are counted: `began` is the first of a source, `reported`
-- its last report (0: none), so that what came in one millisecond still has an order.
CREATE TABLE sources (
  source INTEGER PRIMARY KEY AUTOINCREMENT,
  epoch TEXT NOT NULL UNIQUE,
  home INTEGER NOT NULL,
  first_seq INTEGER,
  held_seq INTEGER NOT NULL DEFAULT 0,
  digest TEXT,
  held_note INTEGER NOT NULL DEFAULT 0,
  uploaded_ms INTEGER,
  began INTEGER NOT NULL,
  reported INTEGER NOT NULL DEFAULT 0,
  reported_ms INTEGER,
  report TEXT CHECK (json_valid(report))
) STRICT;
CREATE INDEX sources_by_home ON sources (home, source);

-- At central: which of its own numbers stand for which of a source. One row is own numbers first_own to first_own + to_seq - from_seq, in order;
-- what follows on in both extends it. A number that the source has lost has one here too.
CREATE TABLE batches (
  first_own INTEGER PRIMARY KEY,
  source INTEGER NOT NULL REFERENCES sources (source),
  from_seq INTEGER NOT NULL,
  to_seq INTEGER NOT NULL
) STRICT;
CREATE INDEX batches_by_source ON batches (source, from_seq);

-- At central: where items were heard.
CREATE TABLE item_homes (
  item INTEGER NOT NULL,
  home INTEGER NOT NULL,
  PRIMARY KEY (item, home)
) WITHOUT ROWID, STRICT;
CREATE INDEX item_homes_by_home ON item_homes (home, item);

-- At central: alerts that it makes of the condition of a home. Served beside those of imports, never mixed with them.
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

-- What is kept for coverage is kept for each home, so that listeners of one don't mix with those of another. A gateway keeps its own under 0.
CREATE TABLE listeners_of_homes (
  home INTEGER NOT NULL,
  name TEXT NOT NULL,
  first_ms INTEGER NOT NULL,
  last_ms INTEGER NOT NULL,
  PRIMARY KEY (home, name)
) WITHOUT ROWID, STRICT;
INSERT INTO listeners_of_homes SELECT 0, name, first_ms, last_ms FROM listeners;
DROP TABLE listeners;
ALTER TABLE listeners_of_homes RENAME TO listeners;

CREATE TABLE outages_of_homes (
  home INTEGER NOT NULL,
  listener TEXT NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  PRIMARY KEY (home, listener, start_ms)
) WITHOUT ROWID, STRICT;
INSERT INTO outages_of_homes SELECT 0, listener, start_ms, stop_ms FROM outages;
DROP TABLE outages;
ALTER TABLE outages_of_homes RENAME TO outages;

CREATE TABLE silences_of_homes (
  item INTEGER NOT NULL,
  home INTEGER NOT NULL,
  start_ms INTEGER NOT NULL,
  stop_ms INTEGER NOT NULL,
  PRIMARY KEY (item, home, start_ms)
) WITHOUT ROWID, STRICT;
INSERT INTO silences_of_homes SELECT item, 0, start_ms, stop_ms FROM silences;
DROP TABLE silences;
ALTER TABLE silences_of_homes RENAME TO silences;

CREATE TABLE item_states_of_homes (
  item INTEGER NOT NULL REFERENCES items (key),
  home INTEGER NOT NULL,
  first_ms INTEGER NOT NULL,
  heard_ms INTEGER NOT NULL,
  listener TEXT,
  battery_percent REAL,
  battery_mv REAL,
  linkquality REAL,
  PRIMARY KEY (item, home)
) WITHOUT ROWID, STRICT;
INSERT INTO item_states_of_homes
  SELECT item, 0, coalesce(first_ms, heard_ms), heard_ms, listener, battery_percent, battery_mv, linkquality
  FROM item_states;
DROP TABLE item_states;
ALTER TABLE item_states_of_homes RENAME TO item_states;
