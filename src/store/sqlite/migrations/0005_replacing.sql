-- Whether a file of given names has a device that took the place of another: overviews of all homes read these files alone. Of files that came
-- before it is not known.
ALTER TABLE backups ADD COLUMN replacing INTEGER NOT NULL DEFAULT 0;
UPDATE backups SET replacing = 1 WHERE name = 'given-names.json';
