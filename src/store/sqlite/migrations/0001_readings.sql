-- Facts about this store: epoch (its random name), last_seq, home, timezone.
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;

-- What is held of a series of a stream; `home` is 0, because readings do not say theirs. Readings below the stamp `rows_from` are in `blocks`, all others are rows: `in_blocks` of
-- `total` are. `inserted` is how many have come among the blocks, `revision` rises when readings that were held are changed or joined with others, and `pruned`
-- is how many have been removed.
CREATE TABLE totals (
  stream INTEGER NOT NULL,
  series TEXT NOT NULL,
  home INTEGER NOT NULL,
  total INTEGER NOT NULL DEFAULT 0,
  newest_number INTEGER NOT NULL DEFAULT 0,
  newest_stamp INTEGER NOT NULL DEFAULT 0,
  revision INTEGER NOT NULL DEFAULT 0,
  pruned INTEGER NOT NULL DEFAULT 0,
  in_blocks INTEGER NOT NULL DEFAULT 0,
  inserted INTEGER NOT NULL DEFAULT 0,
  rows_from INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, series, home)
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

-- Blocks of readings of a series of a stream: `count` of them, from the one that has `stamp` and `seq` to the last one, in columns
-- (src/store/series/block-format.md). The first five columns tell them apart; the key has the others too, so that what is asked of all blocks of a stream is
-- read from its index alone.
CREATE TABLE blocks (
  stream INTEGER NOT NULL,
  series TEXT NOT NULL,
  home INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  last_stamp INTEGER NOT NULL,
  count INTEGER NOT NULL,
  min_seq INTEGER NOT NULL,
  max_seq INTEGER NOT NULL,
  readings BLOB NOT NULL,
  PRIMARY KEY (stream, series, home, stamp DESC, seq DESC, last_stamp, count, min_seq, max_seq)
) STRICT;
