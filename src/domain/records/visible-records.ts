import type { Binding } from "../token.ts";
import type { Item } from "./item.ts";
import { definitionOf, type RecordType, type Reference, type StoredRecord } from "./record-table.ts";

/** Numbers of the records that a bound token may see, in order. A record of another type is seen where all that it names is. */
export interface Visible {
  readonly homes: readonly number[];
  readonly subjects: readonly number[];
  readonly projects: readonly number[];
  readonly studies: readonly number[];
  /** Homes that are not among these because their consent does not cover the uses that were asked for. */
  readonly leftOut?: readonly number[];
  /** Present where all but these is seen: of records it counts instead of the numbers above. */
  readonly hidden?: { readonly homes: readonly number[]; readonly subjects: readonly number[] };
}

/** Stands among homes that are seen for no home: what lives nowhere, and names nobody, is seen too. */
export const nowhere = -1;

/** Finds the records in which a field holds one of these numbers, in steps of the caller's own. */
type FindEnrollments<Step> = (
  type: "project_enrollments" | "study_enrollments",
  field: string,
  numbers: readonly number[],
) => Generator<Step, readonly StoredRecord[], unknown>;

/**
 * Works out what a token may see by its binding and the enrollments of the programme.
 *
 * | records | which of them |
 * |---|---|
 * | homes | those it is bound to; those that enrollments in its projects name; those of the subjects of its studies |
 * | subjects | enrolled in its projects or studies, or, by an enrollment, in one of those homes |
 * | projects, studies | those it is bound to, and those that its subjects are enrolled in |
 *
 * An enrollment that names a home which it may not see says nothing of projects.
 *
 * @param isHere whether a home is one of the store's: a gateway has one
 */
export function* visibleTo<Step>(
  bound: Binding,
  find: FindEnrollments<Step>,
  isHere: (home: number) => boolean = () => true,
): Generator<Step, Visible, unknown> {
  const inProjects = yield* find("project_enrollments", "projectid", bound.projects);
  const inStudies = yield* find("study_enrollments", "studyid", bound.studies);
  const ofStudies = yield* find("project_enrollments", "subjectid", [...numbersIn(inStudies, "subjectid")]);
  const homes = inOrder(bound.homes, numbersIn([...inProjects, ...ofStudies], "homeid")).filter(isHere);
  const isSeen = new Set<unknown>(homes);
  const inHomes = yield* find("project_enrollments", "homeid", homes);
  const subjects = inOrder(numbersIn([...inProjects, ...inStudies, ...inHomes], "subjectid"));
  const projects = (yield* find("project_enrollments", "subjectid", subjects)).filter(
    ({ homeid }) => homeid === null || isSeen.has(homeid),
  );
  const studies = yield* find("study_enrollments", "subjectid", subjects);
  return {
    homes,
    subjects,
    projects: inOrder(bound.projects, numbersIn(projects, "projectid")),
    studies: inOrder(bound.studies, numbersIn(studies, "studyid")),
  };
}

/** The fields by which a record of a type says whose it is, and what each names: its own number, or what it refers to. */
export function namesIn(type: RecordType): readonly Pick<Reference, "field" | "to">[] {
  const { identity, references = [] } = definitionOf(type);
  const own = visibleByNumber.find((seen) => seen === type);
  return own === undefined ? references : [{ field: identity[0] ?? "", to: own }];
}

/** An item as one sees it who sees these homes, absent: all. It does not tell to which other one it has moved on. */
export function itemVisibleFrom(homes: readonly number[] | undefined, item: Item): Item {
  if (homes === undefined || item.currenthomeid === null) return item;
  const elsewhere = !homes.includes(item.currenthomeid);
  return elsewhere ? { ...item, currenthomeid: null, currenthomestart: null } : item;
}

/** Numbers that a field of some records holds. */
export function numbersIn(records: readonly StoredRecord[], field: string): Set<number> {
  return new Set(records.flatMap((record) => (typeof record[field] === "number" ? [record[field]] : [])));
}

/** Types whose records are seen by their own number. */
const visibleByNumber: readonly Exclude<keyof Visible, "hidden" | "leftOut">[] = [
  "homes",
  "subjects",
  "projects",
  "studies",
];

function inOrder(...numbers: readonly Iterable<number>[]): number[] {
  return [...new Set(numbers.flatMap((some) => [...some]))].sort((one, other) => one - other);
}
