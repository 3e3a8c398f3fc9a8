-- Readings that came in with a stamp below one that their item had already: all others came in the order of their key, so that the
-- two together give the order of arrival. See src/store/README.md.
CREATE TABLE late (
  item BIGINT NOT NULL,
  series TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  home BIGINT NOT NULL,
  stamp BIGINT NOT NULL,
  PRIMARY KEY (item, series, seq, home)
);
