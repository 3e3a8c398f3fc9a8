-- Times in which a home had asked that nothing is recorded: for ever, so that what comes later is not kept either. The end is the largest number as long as nobody
-- has resumed, and never moves up. `home` is 0 at a gateway. `own`: it was asked for here. `refused` counts readings that were not kept.
CREATE TABLE pauses (
  id TEXT NOT NULL,
  home INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  own INTEGER NOT NULL,
  from_ms INTEGER NOT NULL,
  before_ms INTEGER NOT NULL,
  refused INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (home, id)
) WITHOUT ROWID, STRICT;
CREATE INDEX pauses_by_home ON pauses (home, from_ms);
