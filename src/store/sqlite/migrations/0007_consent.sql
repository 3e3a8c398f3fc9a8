-- Why nothing is recorded, where it is not a pause that somebody asked for; and of which devices of the home: all where `kind` is null, those of the kind where
-- `address` and `itemid` are null too.
ALTER TABLE pauses ADD COLUMN why TEXT;
ALTER TABLE pauses ADD COLUMN kind TEXT;
ALTER TABLE pauses ADD COLUMN address TEXT;
ALTER TABLE pauses ADD COLUMN itemid INTEGER;
