import { describe, expect, test } from "bun:test";
import type { Item } from "../../../src/domain/records/item.ts";
import { type RecordType, recordTypes, type StoredRecord } from "../../../src/domain/records/record-table.ts";
import {
  itemVisibleFrom,
  namesIn,
  type Visible,
  visibleTo,
} from "../../../src/domain/records/visible-records.ts";
import type { Binding } from "../../../src/domain/token.ts";
import { itemOf } from "./marked-home.ts";

/** Enrollments of subjects: in a project, at home or not, or in a study. */
const enrollments: Readonly<Partial<Record<RecordType, readonly StoredRecord[]>>> = {
  project_enrollments: [
    { subjectid: 1, projectid: 3, homeid: 12 },
    { subjectid: 2, projectid: 3, homeid: 13 },
    // Subject 3 lives with subject 2, and is in another project; subject 4 has moved there from home 14.
    { subjectid: 3, projectid: 5, homeid: 13 },
    { subjectid: 4, projectid: 6, homeid: 14 },
    { subjectid: 4, projectid: 7, homeid: 13 },
    { subjectid: 5, projectid: 3, homeid: null },
  ],
  study_enrollments: [
    { subjectid: 4, studyid: 4 },
    { subjectid: 1, studyid: 8 },
    { subjectid: 6, studyid: 9 },
  ],
};

function seen(bound: Partial<Binding>): Visible {
  const work = visibleTo<never>(
    { homes: [], projects: [], studies: [], ...bound },
    function* (type, field, numbers) {
      return (enrollments[type] ?? []).filter((record) => numbers.includes(Number(record[field])));
    },
  );
  return work.next().value as Visible;
}

describe("a token sees", () => {
  const cases: readonly [says: string, bound: Partial<Binding>, seen: Visible][] = [
    ["nothing where it is bound to nothing", {}, { homes: [], subjects: [], projects: [], studies: [] }],
    [
      "of a home who is enrolled in it, and what they are enrolled in",
      { homes: [12] },
      { homes: [12], subjects: [1], projects: [3], studies: [8] },
    ],
    [
      "of somebody who has moved in from elsewhere no project of there",
      { homes: [13] },
      { homes: [13], subjects: [2, 3, 4], projects: [3, 5, 7], studies: [4] },
    ],
    [
      "of a project its homes, and everybody in them",
      { projects: [3] },
      { homes: [12, 13], subjects: [1, 2, 3, 4, 5], projects: [3, 5, 7], studies: [4, 8] },
    ],
    [
      "of a study the homes of its subjects, and everybody in them",
      { studies: [4] },
      { homes: [13, 14], subjects: [2, 3, 4], projects: [3, 5, 6, 7], studies: [4] },
    ],
    [
      "of a study whose subjects have no home nobody else",
      { studies: [9] },
      { homes: [], subjects: [6], projects: [], studies: [9] },
    ],
    [
      "what it is bound to also before anybody is there",
      { homes: [99], projects: [98], studies: [97] },
      { homes: [99], subjects: [], projects: [98], studies: [97] },
    ],
    [
      "all of several things together",
      { homes: [12], studies: [9] },
      { homes: [12], subjects: [1, 6], projects: [3], studies: [8, 9] },
    ],
  ];
  test.each(cases)("%s", (_, bound, expected) => {
    expect(seen(bound)).toEqual(expected);
  });
});

test("every type of record says whose it is by the numbers that it names", () => {
  const seenByItself = ["homes", "subjects", "projects", "studies"];
  for (const type of recordTypes) {
    const names = namesIn(type).map(({ to }) => to);
    expect([type, names.length > 0]).toEqual([type, true]);
    expect(names.every((to) => to === "items" || seenByItself.includes(to))).toBe(true);
  }
});

test("an item does not tell who sees other homes alone where it is now", () => {
  const item = itemOf(12, 7, { currenthomestart: 5 }).record as Item;
  expect(itemVisibleFrom([12, 13], item)).toBe(item);
  expect(itemVisibleFrom([13], item)).toEqual({ ...item, currenthomeid: null, currenthomestart: null });
  const homeless = { ...item, currenthomeid: null };
  expect(itemVisibleFrom([13], homeless)).toBe(homeless);
});
