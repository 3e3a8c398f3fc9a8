-- Which epoch gave which numbers: from first_seq up to the one before the next span's, the last one up to last_seq.
-- A box that was restored has more than one; what came from central is `restored`, and is never uploaded.
CREATE TABLE epochs (
  first_seq INTEGER PRIMARY KEY,
  epoch TEXT NOT NULL,
  restored INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO epochs (first_seq, epoch) SELECT 1, value FROM meta WHERE name = 'epoch';

-- How far uploads have come, by name: see UploadState.
CREATE TABLE upload_state (
  name TEXT PRIMARY KEY,
  value ANY NOT NULL
) WITHOUT ROWID, STRICT;
