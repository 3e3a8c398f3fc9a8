import type { Asked } from "../../page.ts";

/** Everything that the programme has noted of a person who takes part, without any of it. */
export interface PersonKept {
  readonly subject: number;
  /** Names of what is filled in: `name`, `date of birth`. */
  readonly fields: readonly string[];
  /** How many records there are of each kind that has any, in words with their number before them. */
  readonly records: readonly { readonly count: number; readonly words: string }[];
}

/** The people of a home whom the token may see. */
export async function peopleOf({ site, store }: Asked, home: number): Promise<PersonKept[]> {
  const { subjects } = await site.store.visible({ homes: [home], projects: [], studies: [] });
  const people: PersonKept[] = [];
  for (const subject of subjects.slice(0, people_max)) {
    const record: Readonly<Record<string, unknown>> | undefined = await store.record("subjects", subject);
    if (record === undefined) continue;
    const isFilled = (field: string) => record[field] !== null && record[field] !== undefined;
    const fields = fieldWords.filter(([, names]) => names.some(isFilled)).map(([words]) => words);
    const records: { count: number; words: string }[] = [];
    for (const [type, one, many] of recordWords) {
      const { length: count } = await store.recordsOf(type, subject);
      if (count > 0) records.push({ count, words: count === 1 ? one : many });
    }
    people.push({ subject, fields, records });
  }
  return people;
}

/** Of more people than this in a home nothing is told. */
const people_max = 50;

/** Fields of a participant, under the word that people have for them. */
const fieldWords: readonly (readonly [words: string, fields: readonly string[]])[] = [
  ["name", ["subjectname", "lname", "fname"]],
  ["title", ["titlename"]],
  ["sex", ["genderid", "gendername"]],
  ["date of birth", ["dob"]],
  ["date of death", ["dod"]],
  ["e-mail address", ["email"]],
  ["number in another list", ["oadc"]],
];

/** Kinds of record that belong to a participant, one of them and several. */
const recordWords = [
  ["phones", "phone number", "phone numbers"],
  ["contacts", "visit or call", "visits and calls"],
  ["scheduled_contacts", "planned visit or call", "planned visits and calls"],
  ["comments", "remark of the study’s staff", "remarks of the study’s staff"],
  ["project_enrollments", "entry about a project", "entries about projects"],
  ["study_enrollments", "entry about a study", "entries about studies"],
  ["subject_inventory", "device handed out", "devices handed out"],
] as const;
