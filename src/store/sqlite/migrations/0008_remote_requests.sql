-- Requests that the study has asked boxes for from afar, and how each dealt with them. `request` is the signed text. `asked_by` is who brought it here. `outcome`, `words` and
-- `answer` are empty until the box has answered.
CREATE TABLE remote_requests (
  home INTEGER NOT NULL,
  number INTEGER NOT NULL,
  request TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  expires_ms INTEGER NOT NULL,
  answered_ms INTEGER,
  outcome TEXT,
  words TEXT,
  answer TEXT,
  PRIMARY KEY (home, number)
) WITHOUT ROWID, STRICT;
