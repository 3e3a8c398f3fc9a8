-- Homes and people (`subject`; -1: the home itself) whose data are to be restricted or erased by themselves, as long as that is told before. `days`: on how many days that was told, by
-- a central at work; `counted_ms`: when the last of these was counted.
CREATE TABLE retention_notices (
  home BIGINT NOT NULL,
  subject BIGINT NOT NULL,
  due_ms BIGINT NOT NULL,
  act TEXT NOT NULL,
  days BIGINT NOT NULL,
  counted_ms BIGINT NOT NULL,
  PRIMARY KEY (home, subject)
);
