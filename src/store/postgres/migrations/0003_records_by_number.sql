-- Records that name a home, subject or item and belong to another: a roster asks for them, of every home every night. The
-- expression is the one by which they are looked up (records.ts).
CREATE INDEX project_enrollments_by_home ON records ((substring(record FROM '"homeid":(-?\d+)[,}]')::bigint))
  WHERE type = 'project_enrollments';
CREATE INDEX subject_inventory_by_item ON records ((substring(record FROM '"itemid":(-?\d+)[,}]')::bigint))
  WHERE type = 'subject_inventory';
CREATE INDEX issues_by_home ON records ((substring(record FROM '"homeid":(-?\d+)[,}]')::bigint)) WHERE type = 'issues';
CREATE INDEX issues_by_subject ON records ((substring(record FROM '"subjectid":(-?\d+)[,}]')::bigint))
  WHERE type = 'issues';
CREATE INDEX issues_by_item ON records ((substring(record FROM '"itemid":(-?\d+)[,}]')::bigint)) WHERE type = 'issues';
