/**
 * The SQL of core/ as SQLite spells it. Statements there are written for PostgreSQL, in what both have; these are the exceptions. A list is bound
 * as JSON, because SQLite has no arrays.
 */
export function sqliteSpelling(text: string): string {
  return spellings.reduce((spelt, [pattern, replacement]) => spelt.replace(pattern, replacement), text);
}

const spellings: readonly (readonly [RegExp, string])[] = [
  [/= ANY \(\$(\d+)::\w+\[\]\)/g, "IN (SELECT value FROM json_each(?$1))"],
  // The number in a field of a record, which PostgreSQL finds as text.
  [/substring\(([\w.]+) FROM '"(\w+)":\(-\?\\d\+\)\[,}\]'\)/g, "$1 ->> '$$.$2'"],
  [/::(bigint|text|double precision)\b/g, ""],
  [/\$(\d+)/g, "?$1"],
  [/\bgreatest\(/g, "max("],
  [/\bleast\(/g, "min("],
  [/\bjson_agg\(/g, "json_group_array("],
  [/ COLLATE "C"/g, ""],
  // Rows are found by a key of this type without an index of its own.
  [/\bBIGINT\b/g, "INTEGER"],
  [/ FOR UPDATE$/, ""],
];
