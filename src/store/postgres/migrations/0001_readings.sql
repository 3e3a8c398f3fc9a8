-- Facts about this database: epoch (its random name).
CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

-- Which home an epoch belongs to: written once, when it is first heard of.
CREATE TABLE epoch_homes (
  epoch TEXT COLLATE "C" PRIMARY KEY,
  home BIGINT NOT NULL
);

-- How far each epoch is held.
CREATE TABLE sources (
  home BIGINT NOT NULL,
  epoch TEXT COLLATE "C" NOT NULL,
  -- Null while no readings are held.
  first_seq BIGINT,
  held_seq BIGINT NOT NULL DEFAULT 0,
  -- Digest of the reading numbered held_seq; null where it is among the missing.
  digest TEXT,
  -- Up to which the notes of its devices' health are held.
  held_note BIGINT NOT NULL DEFAULT 0,
  -- When a batch was last taken, unix milliseconds.
  uploaded_ms BIGINT,
  -- The contacts of a home are counted: the first of an epoch, and its last report (0: none), so that what came in one millisecond still has an order.
  began BIGINT NOT NULL,
  reported BIGINT NOT NULL DEFAULT 0,
  reported_ms BIGINT,
  -- The newest number that the last report named, and which day it was in the home then: days since 1970 by its calendar.
  told_seq BIGINT,
  told_day BIGINT,
  -- What the gateway last said of itself.
  report TEXT,
  PRIMARY KEY (home, epoch)
);

-- What has arrived of each home by days since 1970. `arrived_ms`: when all that the gateway had at some moment of this day of its home's calendar was
-- here first. `differing`: series of devices that differed when this day (UTC) was last compared.
CREATE TABLE nights (
  home BIGINT NOT NULL,
  day BIGINT NOT NULL,
  arrived_ms BIGINT,
  differing BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (home, day)
);

-- Which numbers of an epoch became which here: reading `from_seq` has the number `first_own`, the next the next, those that the
-- gateway has lost included, up to `to_seq`. What follows on in both extends a row. The readings of each home have numbers from 1 on, in the order of
-- their arrival, none of which is given twice; a lower one is always on disk before a higher one, because a batch holds its home.
CREATE TABLE batches (
  home BIGINT NOT NULL,
  epoch TEXT COLLATE "C" NOT NULL,
  from_seq BIGINT NOT NULL,
  to_seq BIGINT NOT NULL,
  first_own BIGINT NOT NULL,
  PRIMARY KEY (home, epoch, from_seq)
);

-- What is held of a series of a stream; `home` is its home. Readings below the stamp `rows_from` are in `blocks`, all others are rows: `in_blocks` of
-- `total` are. `inserted` is how many have come among the blocks, `revision` rises when readings that were held are changed or joined with others, and `pruned`
-- is how many have been removed.
CREATE TABLE totals (
  stream BIGINT NOT NULL,
  series TEXT COLLATE "C" NOT NULL,
  home BIGINT NOT NULL,
  total BIGINT NOT NULL DEFAULT 0,
  newest_number BIGINT NOT NULL DEFAULT 0,
  newest_stamp BIGINT NOT NULL DEFAULT 0,
  revision BIGINT NOT NULL DEFAULT 0,
  pruned BIGINT NOT NULL DEFAULT 0,
  in_blocks BIGINT NOT NULL DEFAULT 0,
  inserted BIGINT NOT NULL DEFAULT 0,
  rows_from BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (stream, series, home)
);
CREATE INDEX totals_by_home ON totals (home);

-- Blocks of readings of a series of a stream: `count` of them, from the one that has `stamp` and `seq` to the last one, in columns
-- (src/store/series/block-format.md). They are compressed already.
CREATE TABLE blocks (
  stream BIGINT NOT NULL,
  series TEXT COLLATE "C" NOT NULL,
  home BIGINT NOT NULL,
  stamp BIGINT NOT NULL,
  seq BIGINT NOT NULL,
  last_stamp BIGINT NOT NULL,
  count BIGINT NOT NULL,
  min_seq BIGINT NOT NULL,
  max_seq BIGINT NOT NULL,
  readings BYTEA NOT NULL,
  PRIMARY KEY (stream, series, stamp, seq, home)
) WITH (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE blocks ALTER COLUMN readings SET STORAGE EXTERNAL;

-- Readings that came in with a stamp below one that their stream had already: all others came in the order of their key, so that the
-- two together give the order of arrival. See src/store/README.md.
CREATE TABLE late (
  stream BIGINT NOT NULL,
  series TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  home BIGINT NOT NULL,
  stamp BIGINT NOT NULL,
  PRIMARY KEY (stream, series, seq, home)
);
