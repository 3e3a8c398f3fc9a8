-- Every interruption that this gateway has kept has a number, a new one whenever it is told, moved or given to another item: so that
-- whoever has read up to a number finds what is new without reading all.
INSERT INTO meta (name, value) VALUES ('last_note', 0);
ALTER TABLE outages ADD COLUMN note INTEGER NOT NULL DEFAULT 0;
ALTER TABLE silences ADD COLUMN note INTEGER NOT NULL DEFAULT 0;
ALTER TABLE gaps ADD COLUMN note INTEGER NOT NULL DEFAULT 0;
CREATE INDEX outages_by_note ON outages (note);
CREATE INDEX silences_by_note ON silences (note);
CREATE INDEX gaps_by_note ON gaps (note);

CREATE TRIGGER outages_told AFTER INSERT ON outages WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE outages SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE home = new.home AND listener = new.listener AND start_ms = new.start_ms;
END;
CREATE TRIGGER outages_moved AFTER UPDATE OF home, listener, start_ms, stop_ms ON outages WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE outages SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE home = new.home AND listener = new.listener AND start_ms = new.start_ms;
END;
CREATE TRIGGER silences_told AFTER INSERT ON silences WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE silences SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE item = new.item AND home = new.home AND start_ms = new.start_ms;
END;
CREATE TRIGGER silences_moved AFTER UPDATE OF item, home, start_ms, stop_ms ON silences WHEN new.home = 0 BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE silences SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE item = new.item AND home = new.home AND start_ms = new.start_ms;
END;
CREATE TRIGGER gaps_told AFTER INSERT ON gaps BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE gaps SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE item = new.item AND from_ms = new.from_ms AND to_ms = new.to_ms AND reason = new.reason;
END;
CREATE TRIGGER gaps_moved AFTER UPDATE OF item, from_ms, to_ms, reason, lost ON gaps BEGIN
  UPDATE meta SET value = value + 1 WHERE name = 'last_note';
  UPDATE gaps SET note = (SELECT value FROM meta WHERE name = 'last_note')
    WHERE item = new.item AND from_ms = new.from_ms AND to_ms = new.to_ms AND reason = new.reason;
END;

-- What was there before: telling it once more gives it its number.
UPDATE outages SET stop_ms = stop_ms;
UPDATE silences SET stop_ms = stop_ms;
UPDATE gaps SET lost = lost;
