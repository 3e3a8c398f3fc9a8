import { type TObject, Type } from "@sinclair/typebox";
import { daysAfter, isIn, startOfDate_ms, type TimeSpan } from "../../base/time.ts";
import { derivedPath, derivedRecords } from "../../domain/derived/derived-record.ts";
import {
  type DerivedName,
  definitionText,
  derivedNames,
  derivedOf,
} from "../../domain/derived/derived-table.ts";
import type { DerivedRow } from "../../domain/derived/home-data.ts";
import { Place, placesPath } from "../../domain/derived/places.ts";
import { kindsIn } from "../../domain/notes-in-time.ts";
import type { Note } from "../../domain/records/programme-records.ts";
import { record } from "../../domain/records/record-field.ts";
import { monthAt, readOnce, rowsOfAllMeasures, rowsOfMonth } from "../../store/derived/derived-rows.ts";
import { isOlder, type MeasuredHome, zoneOf } from "../../store/derived/home-readings.ts";
import { placesIn } from "../../store/derived/places-in-home.ts";
import { after, before, type Endpoint, type EndpointCall, endpoint, limit, skip } from "./endpoint.ts";
import { idOf, isElsewhere, requireHome } from "./record-endpoints.ts";
import { nextSecond } from "./series-endpoint.ts";

/** A definition of a derived measure as it is served. */
const Measure = record("Derived measure", {
  name: Type.String({ description: "its name, the last part of its path" }),
  title: Type.String({ description: "its name in words" }),
  definition: Type.String({ description: "name and version of its definition, as its records have it" }),
  madeof: Type.String({ description: "the series that it is made of, with spaces between" }),
  needs: Type.String({ description: "what a home must have" }),
  meaning: Type.String({ description: "what a record of it is" }),
  rule: Type.String({ description: "when a value is known" }),
  paper: Type.String({ description: "where the rule is from; empty where it is Lintel's own" }),
});

/** Measures that are made of the readings of a home: an addition, so that everybody counts alike. */
export const derivedEndpoints: readonly Endpoint[] = [
  endpoint({
    name: "home_derived",
    template: "/homes/{id}/derived",
    summary: "Measures that can be asked for of a home, with their definitions",
    area: "Homes",
    since: "0.9",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({}),
    response: Type.Array(Measure),
    refusals: ["record_unknown"],
    handle: async (call) => {
      await requireHome(call);
      return {
        body: derivedNames.map((name) => {
          const { title, madeOf, needs, meaning, rule, paper } = derivedOf(name);
          const madeof = madeOf.join(" ");
          return { name, title, definition: definitionText(name), madeof, needs, meaning, rule, paper };
        }),
      };
    },
  }),
  ...derivedNames.map(derivedEndpoint),
  endpoint({
    name: "home_places",
    template: placesPath(),
    summary:
      "Where the items of a home are: rooms, roles and lines of curtain sensors, by which measures are made",
    area: "Homes",
    since: "0.9",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({}),
    response: Type.Array(Place),
    refusals: ["record_unknown"],
    handle: async (call) => {
      const { store, path } = call;
      const setting = await requireHome(call);
      if (isElsewhere(setting, path.id)) return { body: [] };
      return { body: await placesIn({ store, home: path.id, walking: setting?.walking ?? [] }) };
    },
  }),
  endpoint({
    name: "home_derived_all",
    template: derivedPath("all"),
    summary: "All derived measures of a home, a month a page, newest first: an addition, for downloads",
    area: "Homes",
    since: "0.9",
    cost: "heavy",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({ skip, before, after }),
    response: Type.Array(
      Type.Object(
        {
          name: Type.String({ description: "name of a measure that has records in the page" }),
          records: Type.Array(Type.Union(derivedNames.map((name) => derivedRecords[name]))),
        },
        { title: "Derived records" },
      ),
    ),
    refusals: ["record_unknown"],
    handle: async (call) => {
      const of = await askedMonth(call);
      if (of === undefined) return { body: [] };
      const { query } = call;
      const asked = { ...of.asked, store: readOnce(of.asked.store) };
      const body: { name: DerivedName; records: unknown[] }[] = [];
      let [passed, taken] = [0, 0];
      for await (const [name, all] of rowsOfAllMeasures(asked, of.month)) {
        const rows = all.filter(({ at_ms }) => isIn(of.span, at_ms));
        const own = rows.slice(Math.max(0, query.skip - passed)).slice(0, page_records - taken);
        passed += rows.length;
        taken += own.length;
        if (own.length > 0) body.push({ name, records: own.map(servedWith(name, of)) });
      }
      const { before, after, skip } = query;
      if (passed > skip + page_records) return { body, next: { before, after, skip: skip + page_records } };
      const { from_ms } = of.month;
      let older = false;
      for (const name of derivedNames)
        older ||= from_ms > of.span.from_ms && (await isOlder(asked, name, from_ms));
      return older
        ? { body, next: { before: Math.floor(from_ms / 1000), after, skip: undefined } }
        : { body };
    },
  }),
];

/** Records of all measures together in one page. */
const page_records = 10_000;

function derivedEndpoint(name: DerivedName): Endpoint {
  const { title } = derivedOf(name);
  return endpoint({
    name: `home_${name}`,
    template: derivedPath(name),
    summary: `${title} of a home, newest first`,
    area: "Homes",
    since: "0.9",
    cost: "heavy",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({ skip, limit, before, after }),
    response: Type.Array(derivedRecords[name]),
    refusals: ["record_unknown"],
    handle: async (call) => {
      const of = await askedMonth(call);
      if (of === undefined) return { body: [] };
      const { asked, month, span } = of;
      const { query } = call;
      const rows = await rowsOfMonth(asked, { name }, month);
      // The day has begun before the moment that a page goes on from.
      const all = rows.filter(({ at_ms }) => isIn(span, at_ms));
      const body = all.slice(query.skip, query.skip + query.limit).map(servedWith(name, of));
      const { limit, after, before } = query;
      if (all.length > query.skip + limit)
        return { body, next: { before, after, skip: query.skip + limit, limit } };
      if (month.from_ms <= span.from_ms || !(await isOlder(asked, name, month.from_ms))) return { body };
      const left = Math.max(0, query.skip - all.length);
      return { body, next: { before: Math.floor(month.from_ms / 1000), after, skip: left, limit } };
    },
  });
}

/** The month that a page is of, and the span that is asked for. */
interface AskedMonth {
  readonly asked: MeasuredHome;
  readonly month: TimeSpan;
  readonly span: TimeSpan;
  /** Answers the kinds of the notes on time that overlap a day. */
  readonly notesOn: (day: string) => string;
}

/** Reads what is asked for; undefined where there can be no records. */
async function askedMonth(
  call: EndpointCall<TObject> & { path: { id: number }; query: { before?: number; after?: number } },
): Promise<AskedMonth | undefined> {
  const { store, path, query, now_ms } = call;
  const setting = await requireHome(call);
  if (isElsewhere(setting, path.id)) return undefined;
  const zone = await zoneOf(store, path.id, setting);
  const asked = { store, home: path.id, zone, walking: setting?.walking ?? [], now_ms };
  const before_ms = query.before === undefined ? Number.POSITIVE_INFINITY : query.before * 1000;
  const to_ms = Math.min(before_ms, nextSecond(now_ms));
  const from_ms = query.after === undefined ? 0 : (query.after + 1) * 1000;
  // The whole month is made each time, so that a page never depends on where another began.
  if (to_ms <= from_ms) return undefined;
  const notesOn = kindsByDay(await store.recordsOf("notes", path.id), zone);
  return { asked, notesOn, month: monthAt(zone, to_ms - 1), span: { from_ms, to_ms } };
}

/** Looks at the notes of each day once, because a day may have hundreds of records. */
function kindsByDay(notes: readonly Note[], zone: string): AskedMonth["notesOn"] {
  const known = new Map<string, string>();
  return (day) => {
    const kinds = known.get(day);
    if (kinds !== undefined) return kinds;
    const [from_ms = 0, to_ms = 0] = [day, daysAfter(day, 1)].map((date) => startOfDate_ms(zone, date));
    const found = kindsIn(notes, { from_ms, to_ms });
    known.set(day, found);
    return found;
  };
}

function servedWith(name: DerivedName, { notesOn }: Pick<AskedMonth, "notesOn">) {
  return ({ at_ms, day, values, observed }: DerivedRow) => {
    const stamp = Math.floor(at_ms / 1000);
    return { stamp, day, ...values, observed, notes: notesOn(day), definition: definitionText(name) };
  };
}
