import { type TObject, type TSchema, Type } from "@sinclair/typebox";
import { version } from "../base/version.ts";
import { recordingKinds } from "../domain/kinds.ts";
import { recordPaths } from "../domain/records/record-table.ts";
import { type InterfacePage, type InterfacePart, type InterfaceReader, pagesOf } from "./answers.ts";
import type { HeldReadings } from "./held-readings.ts";

/**
 * Answers of a server that an earlier run has received, and that are the same now by the marks that the server lists: what has none is asked. Of a
 * server that lists none everything is asked.
 */
export class HeldAnswers implements InterfaceReader {
  readonly #answers: InterfaceReader;
  readonly #held: HeldReadings;

  readonly #digests: ReadonlyMap<string, string>;

  private constructor(answers: InterfaceReader, held: HeldReadings, digests: ReadonlyMap<string, string>) {
    this.#answers = answers;
    this.#held = held;
    this.#digests = digests;
  }

  /** Asks for all marks, once. What is received from then on is held under those. */
  static async of(answers: InterfaceReader, held: HeldReadings): Promise<HeldAnswers> {
    const digests = new Map<string, Bun.CryptoHasher>();
    const note = (list: string, marks: string) => {
      const digest = digests.get(list) ?? new Bun.CryptoHasher("sha256");
      digests.set(list, digest.update(marks));
    };
    for (const kind of recordingKinds)
      for await (const records of marksOf(answers, kind)) {
        note("items", JSON.stringify(records));
        held.list(
          records.flatMap(({ path, marks, readings }) => [
            [path, "", 0] as const,
            ...Object.entries(marks).map(
              ([name, mark]) => [`${path}/${name}`, mark, readings?.[name] ?? 0] as const,
            ),
          ]),
        );
      }
    for (const owners of ["subjects", "homes"] as const)
      for await (const records of marksOf(
        answers,
        owners,
        owners === "homes" ? `?limit=${homes_a_page}` : "",
      )) {
        const parts: [string, string, 0][] = [];
        for (const { path, marks } of records)
          for (const [name, mark] of Object.entries(marks)) {
            note(`${recordPaths[owners]}{id}/${name.split("?")[0]}`, `${path} ${mark}\n`);
            if (heldOfHomes.test(name)) parts.push([`${path}/${name}`, mark, 0]);
          }
        held.list(parts);
      }
    return new HeldAnswers(
      answers,
      held,
      new Map([...digests].map(([list, digest]) => [list, digest.digest("hex")])),
    );
  }

  /**
   * A text that is the same only while nothing is new in a list of records that each subject or home has, by its path, or in what is kept of `items`; undefined
   * where nobody knows.
   */
  digest(list: string): string | undefined {
    return this.#digests.get(list);
  }

  async get<Body>(
    path: string,
    query: string,
    schema: TSchema,
  ): Promise<InterfacePage<Body> | "gone" | undefined> {
    const mark = this.#held.listed(path);
    if (mark === undefined) return this.#answers.get(path, query, schema);
    return this.#under(mark, path, query, schema);
  }

  partsOf(path: string): InterfacePart[] {
    this.#held.forgetParts(path);
    const parts = this.#held.listedParts(path).map(
      ([query, mark]): InterfacePart => ({
        query,
        answers: { get: (of, pages, schema) => this.#under(mark, of, pages, schema) },
        isHeld: (asked) => this.#held.hasAnswer(asked, underOf(mark)),
      }),
    );
    return parts.length === 0 ? [{ query: "", answers: this.#answers }] : parts;
  }

  /** An answer that stays the same under a mark: the one that is held, or that of the server. */
  async #under<Body>(
    mark: string,
    path: string,
    query: string,
    schema: TSchema,
  ): Promise<InterfacePage<Body> | "gone" | undefined> {
    const asked = `${path}${query}`;
    const under = underOf(mark);
    const known = this.#held.answer(asked, under);
    if (known !== undefined) {
      const { body, next } = JSON.parse(known);
      return { body, next };
    }
    const answer = await this.#answers.get<Body>(path, query, schema);
    if (answer !== undefined && answer !== "gone")
      this.#held.keepAnswer(asked, under, JSON.stringify(answer));
    return answer;
  }

  /**
   * Whether there may be something in a series that is not held.
   *
   * @param first the query by which it is begun
   */
  hasNew(item: string, path: string, first: string): boolean {
    const mark = this.#held.listed(path);
    if (mark === undefined) return this.#held.listed(item) === undefined;
    return !this.#held.hasAnswer(path, `${mark} ${first}`);
  }

  /** How many readings the server has of a series; 0 where it does not say. */
  readingsOf(path: string): number {
    return this.#held.listedReadings(path);
  }

  /** Says that all of a series is held that there was when it was listed. */
  keepSeries(path: string, first: string): void {
    const mark = this.#held.listed(path);
    if (mark !== undefined) this.#held.keepAnswer(path, `${mark} ${first}`, "");
  }
}

/** The name under which an answer is held: another version may have other answers under the same mark. */
function underOf(mark: string): string {
  return `${mark} ${version}`;
}

/** Marks of the items of a kind, of subjects or of homes, page by page. */
export async function* marksOf(
  answers: InterfaceReader,
  of: string,
  first = "",
): AsyncGenerator<readonly PathMarks[]> {
  for await (const records of pagesOf(answers, `/marks/${of}`, Marks, first))
    yield records as unknown as readonly PathMarks[];
}

/** The marks of a home are made of those of all its items: a server is not kept from others by a page of thousands. */
const homes_a_page = 250;

/** Answers about homes that are held, by the rest of their paths: lists of records are short, and asked for anew. */
const heldOfHomes = /^(notes\/$|places$|derived\/all)/;

interface PathMarks {
  readonly path: string;
  readonly marks: Readonly<Record<string, string>>;
  readonly readings?: Readonly<Record<string, number>>;
}

/** A record of `/marks/{typename}`. */
const Marks: TObject = Type.Object({
  path: Type.String(),
  marks: Type.Record(Type.String(), Type.String()),
  readings: Type.Optional(Type.Record(Type.String(), Type.Integer())),
});
