-- The programme's records other than items, each kept whole as it is served (an item in it as its itemid).
-- `number` is the number of the subject or home that owns the record, or its own where nobody does, so that
-- the key alone finds a record, a list, and the list of an owner. `id` tells the records of an owner apart.
CREATE TABLE records (
  type TEXT NOT NULL,
  number INTEGER NOT NULL,
  id TEXT NOT NULL,
  record TEXT NOT NULL CHECK (json_valid(record)),
  PRIMARY KEY (type, number, id)
) WITHOUT ROWID, STRICT;
