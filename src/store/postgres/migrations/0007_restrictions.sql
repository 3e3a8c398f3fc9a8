-- What was done with data that are restricted, for good: who restricted a home and why, who lifted it, and each use of a token that may see it. A home is restricted by a row of
-- `pauses` that is open and whose `why` says so. `restricted`: the token sees that too.
CREATE TABLE journal (
  id TEXT COLLATE "C" NOT NULL PRIMARY KEY,
  at_ms BIGINT NOT NULL,
  act TEXT NOT NULL,
  who TEXT NOT NULL,
  home BIGINT,
  subject BIGINT,
  words TEXT NOT NULL
);
ALTER TABLE tokens ADD COLUMN restricted BIGINT;
-- Every request asks which homes these are.
CREATE INDEX pauses_restricting ON pauses (home) WHERE why = 'restricted';
