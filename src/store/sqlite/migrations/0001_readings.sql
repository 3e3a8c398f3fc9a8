-- Facts about this store: epoch (its random name), last_seq, home, timezone.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;

-- What is held of a series of a stream; `home` is 0, because readings do not say theirs. `revision` rises when readings that were held are changed or
-- joined with others, `pruned` is how many have been removed. Readings from the stamp `tail_from` on are the tail: there are `tail`, from the number
-- `tail_min` on, and `counts` has those before. Readings below the stamp `sealed_before` are in `sealed_readings`, all others are rows; a gateway's
-- are all rows.
CREATE TABLE totals (
  stream INTEGER NOT NULL,
  series TEXT NOT NULL,
  home INTEGER NOT NULL,
  total INTEGER NOT NULL DEFAULT 0,
  newest_number INTEGER NOT NULL DEFAULT 0,
  newest_stamp INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  pruned INTEGER NOT NULL DEFAULT 0,
  tail INTEGER NOT NULL DEFAULT 0,
  tail_from INTEGER NOT NULL DEFAULT 0,
  tail_min INTEGER NOT NULL DEFAULT 0,
  sealed_before INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, series, home)
) WITHOUT ROWID, STRICT;

-- Readings by spans of time, `width` milliseconds each and beginning at multiples of it: src/store/README.md says how they are used.
CREATE TABLE counts (
  stream INTEGER NOT NULL,
  series TEXT NOT NULL,
  width INTEGER NOT NULL,
  start INTEGER NOT NULL,
  home INTEGER NOT NULL,
  count INTEGER NOT NULL,
  min_seq INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  PRIMARY KEY (stream, series, width, start, home)
) WITHOUT ROWID, STRICT;

-- Readings that came in with a stamp below one that their stream had already: all others came in the order of their key, so that the
-- two together give the order of arrival. See src/store/README.md.
CREATE TABLE late (
  stream INTEGER NOT NULL,
  series TEXT NOT NULL,
  seq INTEGER NOT NULL,
  home INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (stream, series, seq, home)
) WITHOUT ROWID, STRICT;
