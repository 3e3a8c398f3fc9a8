-- Readings that came in with a stamp below one that their item had already: all others came in the order of their key, so that the
-- two together give the order of arrival. See src/store/README.md.
CREATE TABLE late (
  series TEXT NOT NULL,
  item INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  stamp INTEGER NOT NULL,
  PRIMARY KEY (series, item, seq)
) WITHOUT ROWID, STRICT;

-- How often readings of a series of an item have been changed or joined with others: a place in the order of arrival holds for one revision.
ALTER TABLE heads ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
