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
