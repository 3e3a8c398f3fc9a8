-- Times in which a home had asked that nothing is recorded: for ever, so that what comes later is not kept either. The end is the largest number as long as nobody
-- has resumed, and never moves up. `own`: it was asked for here. `refused` counts readings that were not kept.
CREATE TABLE pauses (
  id TEXT COLLATE "C" NOT NULL,
  home BIGINT NOT NULL,
  at_ms BIGINT NOT NULL,
  own BIGINT NOT NULL,
  from_ms BIGINT NOT NULL,
  before_ms BIGINT NOT NULL,
  refused BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (home, id)
);
CREATE INDEX pauses_by_home ON pauses (home, from_ms);
