import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Binding } from "../../../src/domain/token.ts";
import type { CentralStore } from "../../../src/store/central/central-store.ts";
import { apiApp } from "../../../src/web/api/api-routes.ts";
import { newestVersion, versions } from "../../../src/web/api/versions.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { type Receiving, receive } from "../../central/receiver/receiving.ts";
import { recordOf } from "../../domain/records/marked-home.ts";
import {
  bound,
  fill,
  homes,
  marked,
  marksOf,
  moved,
  mover,
  named,
  project,
  stamp_s,
} from "../../domain/records/marked-programme.ts";
import { temporaryCentral } from "../../store/postgres/temporary-central.ts";

const { a, b, c, e } = homes;
const home: ReadonlySet<number> = new Set(Object.values(homes));

describe.each(nightly ? ([["SQLite"], ["PostgreSQL"]] as const) : ([["SQLite"]] as const))(
  "central on %s",
  (database) => {
    let receiving: Receiving;
    let other: Awaited<ReturnType<typeof temporaryCentral>> | undefined;
    const readers: Reader[] = [];

    beforeAll(async () => {
      const clock = new SettableClock(Date.UTC(2026, 10, 20, 12));
      if (database === "PostgreSQL") other = await temporaryCentral();
      const store = other?.store;
      receiving = await receive({ clock, ...(store === undefined ? {} : { open: async () => store }) });
      await fill(receiving.store);
      for (const one of bound) readers.push(await Reader.of(receiving, one));
    });
    afterAll(async () => {
      await receiving?.[Symbol.asyncDispose]();
      await other?.[Symbol.asyncDispose]();
    });

    /** Every address of every route of the API, with all that the programme has in the place of its parameters. */
    const addresses = (store: CentralStore) => apiApp({ store }).routes.flatMap(({ path }) => filled(path));

    test("has no address outside of its versions", () => {
      const isOf = (address: string) =>
        versions.some((version) => address === `/v${version}` || address.startsWith(`/v${version}/`));
      expect(addresses(receiving.store).filter((address) => !isOf(address))).toEqual([]);
    });

    test.each(versions)(
      "shows a token all that it is bound to and nothing else, at every address of version %s",
      async (version) => {
        const [everything, ...others] = readers as [Reader, ...Reader[]];
        // Older versions are the newest one in another form.
        const asking = version === newestVersion ? others : others.slice(0, 4);
        const faults: unknown[] = [];
        for (const address of addresses(receiving.store).filter((one) => one.startsWith(`/v${version}/`))) {
          const whole = await everything.get(address);
          for (const reader of asking) {
            const answer = await reader.get(address);
            const { own } = reader;
            const foreign = reader.foreignIn(address, answer);
            if (foreign.length > 0) faults.push({ address, own, foreign });
            const expected = isOfTypes(address) ? plain(answer) : reader.partOf(address, whole);
            if (!Bun.deepEquals(bare(plain(answer)), bare(expected)))
              faults.push({ address, own, expected, answer });
          }
        }
        expect(faults.slice(0, 5)).toEqual([]);
        // The newest version has told all that is one's own at some address, of every home also readings.
        for (const { own, heard } of version === newestVersion ? readers : []) {
          const readings = own
            .filter((number) => home.has(number))
            .map((number) => `"stamp":${stamp_s(number)}`);
          const all = [...own.map(String), ...readings];
          expect([own, all.filter((mark) => !heard.some((text) => text.includes(mark)))]).toEqual([own, []]);
        }
      },
    );

    test.each(["?limit=1", "?limit=2&precision=ms", "?limit=2&since=", "?limit=2&skip=1"])(
      "shows it its own on every page of a series from %s on, the first time and again",
      async (query) => {
        const [everything, ...others] = readers as [Reader, ...Reader[]];
        const skip = query.includes("skip=1") ? 1 : 0;
        for (const address of addresses(receiving.store).filter(isOfSeries)) {
          const whole = await everything.walk(`${address}${query.replace("&skip=1", "")}`);
          for (const reader of [...others, ...others]) {
            const { records, foreign } = await reader.walk(`${address}${query}`);
            const own = reader.partOfList(whole.records).slice(skip);
            expect({ address, reader: reader.own, foreign, records }).toEqual({
              address,
              reader: reader.own,
              foreign: [],
              records: own,
            });
          }
        }
      },
    );

    test("streams to it its own alone, as its pages of since have it", async () => {
      const events = addresses(receiving.store).filter((address) =>
        new RegExp(`^/v${newestVersion}/items/wirelesssensors/.*/events$`).test(address),
      );
      for (const reader of readers)
        for (const address of events) {
          const { records } = await reader.walk(`${address}?since=`);
          expect([address, await reader.follow(`${address}?since=`, records.length)]).toEqual([
            address,
            records,
          ]);
        }
    });

    test("counts of each type the items that a token may see", async () => {
      for (const reader of readers) {
        const types: { typename: string; count: number }[] = JSON.parse(
          (await reader.get("/v0.9/items")).text,
        );
        for (const { typename, count } of types) {
          const items: unknown[] = JSON.parse((await reader.get(`/v0.9/inventory/${typename}`)).text);
          expect([reader.own, typename, count]).toEqual([reader.own, typename, items.length]);
        }
      }
    });

    test("follows who is enrolled, from one request to the next", async () => {
      const reader = await Reader.of(receiving, { binding: { projects: [project] }, own: [] });
      const seen = async () => {
        const subjects = JSON.parse((await reader.get("/v0.9/subjects/")).text) as { subjectid: number }[];
        const events = await reader.get(`/v0.9/items/wirelesssensors/${b}/events`);
        return [subjects.map(({ subjectid }) => subjectid), events.status];
      };
      expect(await seen()).toEqual([[c, e], 404]);
      const enrolled = { subjectid: b, projectid: project, homeid: b, start: 7 };
      await receiving.store.importRecords([[recordOf("project_enrollments", b, enrolled)]]);
      // Who lives there is seen too, though in other projects.
      expect(await seen()).toEqual([[b, c, e, moved], 200]);
    });
  },
);

/** An answer without its marks and counts of readings: those of an item that has moved are others for whoever sees one of its homes. */
function bare(answer: { readonly status: number; readonly text: string }) {
  return { ...answer, text: answer.text.replaceAll(/"marks":\{.*?\}(,"readings":\{.*?\})?/g, "") };
}

interface Answered {
  readonly status: number;
  readonly text: string;
  /** Headers that say something, `name: value`. */
  readonly headers: readonly string[];
  readonly next: string | undefined;
}

/** Somebody with a read token, and what is theirs to see. */
class Reader {
  readonly own: readonly number[];
  /** Texts of all answers. */
  readonly heard: string[] = [];
  readonly #origin: string;
  readonly #token: string;
  readonly #foreign: readonly string[];

  constructor(options: { origin: string; token: string; own: readonly number[] }) {
    this.#origin = options.origin;
    this.#token = options.token;
    this.own = options.own;
    this.#foreign = marked.filter((number) => !options.own.includes(number)).flatMap(marksOf);
  }

  static async of(
    receiving: Receiving,
    { binding, own }: { binding?: Partial<Binding>; own: readonly number[] },
  ): Promise<Reader> {
    const token = await (binding === undefined ? receiving.token("read") : receiving.boundToken(binding));
    return new Reader({ origin: receiving.central.origin, token, own });
  }

  async get(address: string): Promise<Answered> {
    const response = await fetch(new URL(address, this.#origin), {
      headers: { Authorization: `bearer ${this.#token}`, Accept: "application/json" },
    });
    const text = await response.text();
    this.heard.push(text);
    const headers = [...response.headers].filter(([name]) => !silent.has(name));
    return {
      status: response.status,
      text,
      headers: headers.map((header) => header.join(": ")),
      next: /^<([^>]+)>; rel="next"$/.exec(response.headers.get("Link") ?? "")?.[1],
    };
  }

  /** The records of a page and all that follow it, and marks of others in any of them. */
  async walk(address: string): Promise<{ records: unknown[]; foreign: string[] }> {
    const records: unknown[] = [];
    const foreign: string[] = [];
    for (let next: string | undefined = address; next !== undefined; ) {
      const answer: Answered = await this.get(next);
      foreign.push(...this.foreignIn(address, answer));
      if (answer.status === 404) break;
      expect(answer.status).toBe(200);
      records.push(...JSON.parse(answer.text));
      next = answer.next;
    }
    return { records, foreign };
  }

  /** So many records of a stream; of none, those before its first sign of life. */
  async follow(address: string, count: number): Promise<unknown[]> {
    const headers = {
      Authorization: `bearer ${this.#token}`,
      Accept: "application/json, text/event-stream",
    };
    const response = await fetch(new URL(address, this.#origin), { headers });
    if (response.headers.get("Content-Type") !== "text/event-stream") {
      await response.body?.cancel();
      expect([address, response.status]).toEqual([address, 404]);
      return [];
    }
    const decoder = new TextDecoder();
    const records: unknown[] = [];
    let text = "";
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      const parts = text.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) records.push(...JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? "[]"));
      if (records.length >= count) break;
    }
    return records;
  }

  /** The elements of a list that are one's own. */
  partOfList(list: readonly unknown[]): unknown[] {
    return list.filter((value) => !this.#foreign.some((mark) => JSON.stringify(value).includes(mark)));
  }

  /** Marks of others in an answer, but for those that the client has said itself. */
  foreignIn(address: string, { text, headers, next = "" }: Answered): string[] {
    const cursor = new URL(next, this.#origin).searchParams.get("since") ?? "";
    const said = decodeURIComponent(address).split("/");
    const heard = [text, ...headers, Buffer.from(cursor, "base64url").toString("latin1")].join("\n");
    const others = said.reduce((rest, word) => (word.length < 5 ? rest : rest.replaceAll(word, "")), heard);
    return this.#foreign.filter((mark) => others.includes(mark));
  }

  /** The part that is one's own of an answer that shows everything: the elements of a list that are one's own, and a record that is. */
  partOf(address: string, whole: Answered): { status: number; text: string } {
    // The contracts are for everybody, and have no records.
    if (whole.status !== 200 || /\/(docs|openapi\.json)\/?$/.test(address)) return plain(whole);
    if (address === `/v${newestVersion}/token`)
      return { status: 200, text: '{"scope":"read","bound":true,"leftout":[]}' };
    const body = this.#withoutPlace(JSON.parse(whole.text));
    const own = this.partOfList(Array.isArray(body) ? body : [body]);
    const isOthers = this.partOfList([decodeURIComponent(address)]).length === 0;
    if (isOthers || (!Array.isArray(body) && own.length === 0)) return { status: 404, text: "" };
    return { status: 200, text: JSON.stringify(Array.isArray(body) ? own : body) };
  }

  /** A value in which no item tells of a home that is not one's own. */
  #withoutPlace(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#withoutPlace(one));
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value).map(([name, inner]) => [name, this.#withoutPlace(inner)]);
    const shown = Object.fromEntries(entries);
    const home: unknown = shown["currenthomeid"];
    if (typeof home !== "number" || this.own.includes(home)) return shown;
    return { ...shown, currenthomeid: null, currenthomestart: null };
  }
}

/** Whether an address is that of readings of an item or of a home, in the newest version or in the oldest that has the series. */
function isOfSeries(address: string): boolean {
  return /^\/v0\.(9\/items|2\/devices)\/\w+\/[^/]+\/(status|events|weights|heart|epochs)$/.test(address);
}

/** Whether an address is that of the types of items, whose records are counts of all. */
function isOfTypes(address: string): boolean {
  return /^\/v[0-9.]+\/(items|devices)\/?$/.test(address);
}

/** A refusal says what was asked for: which of the two codes of what is not there it has tells nothing. */
function plain({ status, text }: { status: number; text: string }): { status: number; text: string } {
  return { status, text: status === 404 ? "" : text };
}

/** The addresses of a route. */
function filled(route: string): string[] {
  const [, version = "", rest = ""] = /^(\/v[0-9.]+)(\/.*)?$/.exec(route) ?? [];
  const kind = /^\/(?:items|devices)\/(\w+)\//.exec(rest)?.[1];
  const [ids, asked] =
    version === `/v${newestVersion}`
      ? [named.ids, marked]
      : [
          [a, b, c, 404],
          [a, b, mover],
        ];
  const isAsked = (name: string) => name === "nothing" || asked.some((mark) => name.includes(String(mark)));
  const names = (of: string) => (named.items[of] ?? []).filter(isAsked).map(encodeURIComponent);
  const withIds = rest.includes(":id") ? ids.map((id) => rest.replace(":id", String(id))) : [rest];
  return withIds
    .flatMap((path) =>
      path.includes(":typename")
        ? Object.keys(named.items).map((of) => path.replace(":typename", of))
        : [path],
    )
    .flatMap((path) => {
      const of = kind ?? /^\/inventory\/(\w+)\//.exec(path)?.[1] ?? "";
      return path.includes(":itemname") ? names(of).map((name) => path.replace(":itemname", name)) : [path];
    })
    .map((path) => `${version}${path}`);
}

/** Headers of which random text or a count of bytes may look like a mark. */
const silent = new Set(["etag", "content-length", "date"]);
