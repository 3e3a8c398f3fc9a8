-- What was done with data that are restricted, for good: who restricted a home and why, who lifted it, and each use of a token that may see it. A home is restricted by a row of
-- `pauses` that is open and whose `why` says so. `restricted`: the token sees that too.
CREATE TABLE journal (
  id TEXT NOT NULL PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  act TEXT NOT NULL,
  who TEXT NOT NULL,
  home INTEGER,
  subject INTEGER,
  words TEXT NOT NULL
) WITHOUT ROWID, STRICT;
ALTER TABLE tokens ADD COLUMN restricted INTEGER;
-- Every request asks which homes these are.
CREATE INDEX pauses_restricting ON pauses (home) WHERE why = 'restricted';
