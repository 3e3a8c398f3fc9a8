-- What is installed in a home is asked for by its number.
CREATE INDEX items_by_home ON items (record ->> '$.currenthomeid', itemid);
