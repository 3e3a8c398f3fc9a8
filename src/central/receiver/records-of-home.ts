import { createHash } from "node:crypto";
import {
  definitionOf,
  identityOf,
  inOrder,
  type RecordType,
  type Reference,
  recordTypes,
  type StoredRecord,
} from "../../domain/records/record-table.ts";
import { numbersIn } from "../../domain/records/visible-records.ts";
import type { CentralStore } from "../../store/central/central-store.ts";
import { type ErasedSpan, spanOf } from "../../store/erasure.ts";
import { type PausedSpan, pausedSpanOf, restricts } from "../../store/pause.ts";

/** The programme's records for a home: a document as `lintel import` takes it, and its identity. */
interface RecordsOfHome {
  /** JSON, UTF-8: the same text as long as nothing in it changes. */
  readonly body: string;
  /** An entity tag with its quotes. */
  readonly etag: string;
}

type RecordsStore = Pick<CentralStore, "recordsWith" | "keepsRecords" | "erasures" | "pauses">;

/**
 * Chooses the records of a home. Records are never removed, and a record is read before those that it refers to. So references
 * hold in the document, whatever is imported meanwhile.
 *
 * | records | which of them |
 * |---|---|
 * | items | in the home now, in its inventory, or held by its subjects; provisional ones never |
 * | subjects | whose enrollments name the home; of those whose enrollments name none, who holds an item that is in it or is named in an issue of it |
 * | their records | all of them |
 * | issues | of the home, its subjects and its items, but none that names another home or its people |
 * | projects, studies | that its subjects are enrolled in |
 * | consents | that name the home; of its subjects those that name no home |
 * | notes | of the home; what they say of an item or subject that is not among these, they say of all of the home |
 * | homes | the home |
 * | erasures | of the home: its gateway erases the same, and takes nothing of those times again |
 * | pauses | of the home: its gateway records nothing of these times, whoever asked for them |
 *
 * Of a home that is restricted there is its number and zone alone: the box lets go of the people and their records.
 *
 * Other records that these refer to (the home that an item has moved to) have only their number, and an item its name
 * and type.
 */
export async function homeRecordsOf(store: RecordsStore, home: number): Promise<RecordsOfHome> {
  const pauses = await store.pauses([home]);
  const chosen = pauses.some(restricts) ? await bareHome(store, home) : await new Choice(store, home).all();
  const document: Partial<Record<RecordType, readonly StoredRecord[]>> & {
    erasures?: readonly ErasedSpan[];
    pauses?: readonly PausedSpan[];
  } = {};
  for (const type of recordTypes) {
    const records = chosen.get(type) ?? [];
    if (records.length > 0) document[type] = inOrder(type, records);
  }
  const erasures = (await store.erasures()).filter((erasure) => erasure.home === home);
  if (erasures.length > 0) document.erasures = erasures.map(spanOf);
  if (pauses.length > 0) document.pauses = pauses.map(pausedSpanOf);
  const body = JSON.stringify(document);
  return { body, etag: `"${createHash("sha256").update(body).digest("hex").slice(0, 32)}"` };
}

/** The zone of a home, by which its box knows the days. */
async function bareHome(
  store: Pick<RecordsStore, "recordsWith">,
  home: number,
): Promise<ReadonlyMap<RecordType, readonly StoredRecord[]>> {
  const homes = await store.recordsWith("homes", "homeid", [home]);
  return new Map([
    ["homes", homes.map(({ homeid, timezone }) => ({ homeid, ...(timezone !== null && { timezone }) }))],
  ]);
}

/** Chooses the records of one home, step by step. */
class Choice {
  readonly #store: RecordsStore;
  readonly #home: number;
  readonly #chosen = new Map<RecordType, StoredRecord[]>();

  constructor(store: RecordsStore, home: number) {
    this.#store = store;
    this.#home = home;
  }

  async all(): Promise<ReadonlyMap<RecordType, readonly StoredRecord[]>> {
    const present = await this.#with("items", "currenthomeid", [this.#home]);
    const stays = await this.#with("home_inventory", "homeid", [this.#home]);
    const issues = await this.#with("issues", "homeid", [this.#home]);
    const subjectids = await this.#subjects(present, issues);
    for (const type of ofSubjects) this.#chosen.set(type, await this.#with(type, "subjectid", subjectids));
    const held = this.#chosen.get("subject_inventory") ?? [];
    const named = [...numbersIn(stays, "item"), ...numbersIn(held, "itemid")];
    const items = distinct("items", [...present, ...(await this.#with("items", "itemid", named))]);
    this.#chosen.set("items", items);
    const itemids = numbersIn(items, "itemid");
    // A provisional item has another number in every store: what names it waits until the inventory has adopted it.
    this.#chosen.set("home_inventory", naming(stays, "item", itemids));
    this.#chosen.set("subject_inventory", naming(held, "itemid", itemids));
    this.#chosen.set("issues", await this.#issues(issues, new Set(subjectids), itemids));
    const said = await this.#with("consents", "subjectid", subjectids);
    this.#chosen.set("consents", [
      ...(await this.#with("consents", "homeid", [this.#home])),
      ...said.filter(({ homeid }) => homeid === null),
    ]);
    this.#chosen.set("notes", await this.#notes(new Set(subjectids), itemids));
    for (const type of ["projects", "studies"] as const) await this.#choose(type, this.#mentioned(type));
    await this.#choose("homes", new Set([this.#home]));
    await this.#choose("subjects", new Set(subjectids));
    await this.#complete();
    return this.#chosen;
  }

  /** Subjects of the home, by their enrollments; only a subject whose enrollments name no home is found by other links. */
  async #subjects(present: readonly StoredRecord[], issues: readonly StoredRecord[]): Promise<number[]> {
    const enrolled = numbersIn(await this.#with("project_enrollments", "homeid", [this.#home]), "subjectid");
    const inHands = await this.#with("subject_inventory", "itemid", [...numbersIn(present, "itemid")]);
    const linked = new Set([
      ...numbersIn(issues, "subjectid"),
      ...numbersIn(
        inHands.filter(({ stop }) => stop === null),
        "subjectid",
      ),
    ]);
    const housed = (await this.#with("project_enrollments", "subjectid", [...linked])).filter(
      ({ homeid }) => homeid !== null,
    );
    return [...enrolled.union(linked.difference(numbersIn(housed, "subjectid")))].sort((a, b) => a - b);
  }

  async #issues(
    ofHome: readonly StoredRecord[],
    subjectids: ReadonlySet<number>,
    itemids: ReadonlySet<number>,
  ): Promise<StoredRecord[]> {
    const linked = distinct("issues", [
      ...ofHome,
      ...(await this.#with("issues", "subjectid", [...subjectids])),
      ...(await this.#with("issues", "itemid", [...itemids])),
    ]);
    const own = linked.filter(
      ({ homeid, subjectid }) =>
        (homeid === null || homeid === this.#home) &&
        (subjectid === null || subjectids.has(Number(subjectid))),
    );
    const known = numbersIn(await this.#with("items", "itemid", [...numbersIn(own, "itemid")]), "itemid");
    return own.filter(({ itemid }) => itemid === null || known.has(Number(itemid)));
  }

  async #notes(subjectids: ReadonlySet<number>, itemids: ReadonlySet<number>): Promise<StoredRecord[]> {
    const known = (numbers: ReadonlySet<number>, number: unknown) =>
      numbers.has(Number(number)) ? number : null;
    return (await this.#with("notes", "homeid", [this.#home])).map((note) => ({
      ...note,
      itemid: known(itemids, note["itemid"]),
      subjectid: known(subjectids, note["subjectid"]),
    }));
  }

  /** Adds, bare, what the chosen records refer to and what is not among them. */
  async #complete(): Promise<void> {
    for (const to of targets) {
      const [identity = ""] = definitionOf(to).identity;
      const missing = this.#mentioned(to).difference(numbersIn(this.#chosen.get(to) ?? [], identity));
      // A programme that keeps no such records needs none for a reference to hold.
      if (missing.size === 0 || !(await this.#store.keepsRecords(to))) continue;
      const fields = [identity, ...(definitionOf(to).required ?? [])];
      const whole = new Map(
        (await this.#with(to, identity, [...missing])).map((record) => [record[identity], record]),
      );
      const bare = [...missing].map((number) =>
        Object.fromEntries(
          fields.map((field) => [field, field === identity ? number : whole.get(number)?.[field]]),
        ),
      );
      this.#chosen.set(to, [...(this.#chosen.get(to) ?? []), ...bare]);
    }
  }

  /** Numbers of records of a type that the chosen ones refer to. */
  #mentioned(to: Reference["to"]): Set<number> {
    const numbers = new Set<number>();
    for (const [type, records] of this.#chosen)
      for (const reference of definitionOf(type).references ?? [])
        if (reference.to === to)
          for (const number of numbersIn(records, reference.field)) numbers.add(number);
    return numbers;
  }

  async #choose(type: Reference["to"], numbers: ReadonlySet<number>): Promise<void> {
    const [identity = ""] = definitionOf(type).identity;
    this.#chosen.set(type, await this.#with(type, identity, [...numbers]));
  }

  async #with(type: RecordType, field: string, numbers: readonly number[]): Promise<StoredRecord[]> {
    return numbers.length === 0 ? [] : this.#store.recordsWith(type, field, numbers);
  }
}

/** Types whose records stand in the list of a subject. */
const ofSubjects = recordTypes.filter((type) => definitionOf(type).owner === "subjects");

/** Types that others refer to; those that refer to others themselves come first. */
const targets: readonly Reference["to"][] = ["items", "subjects", "projects", "studies", "homes"];

function naming(
  records: readonly StoredRecord[],
  field: string,
  numbers: ReadonlySet<number>,
): StoredRecord[] {
  return records.filter((record) => numbers.has(Number(record[field])));
}

function distinct(type: RecordType, records: readonly StoredRecord[]): StoredRecord[] {
  return [...new Map(records.map((record) => [identityOf(type, record), record])).values()];
}
