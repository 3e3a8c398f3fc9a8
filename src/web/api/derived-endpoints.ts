import { Type } from "@sinclair/typebox";
import { day_ms, daysAfter, startOfDate_ms } from "../../base/time.ts";
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
import { monthAt, rowsOfMonth } from "../../store/derived/derived-rows.ts";
import { isOlder, zoneOf } from "../../store/derived/home-readings.ts";
import { placesIn } from "../../store/derived/places-in-home.ts";
import { after, before, type Endpoint, endpoint, limit, skip } from "./endpoint.ts";
import { idOf, requireHome } from "./record-endpoints.ts";
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
      if (setting?.id !== undefined && setting.id !== path.id) return { body: [] };
      return { body: await placesIn({ store, home: path.id, walking: setting?.walking ?? [] }) };
    },
  }),
];

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
      const { store, path, query, now_ms } = call;
      const setting = await requireHome(call);
      // Another home is only known by its record there: the store of a gateway takes all items for those of its own.
      if (setting?.id !== undefined && setting.id !== path.id) return { body: [] };
      const zone = await zoneOf(store, path.id, setting);
      const asked = { store, home: path.id, zone, walking: setting?.walking ?? [], now_ms };
      const until_ms = Math.min(
        query.before === undefined ? Number.POSITIVE_INFINITY : query.before * 1000,
        nextSecond(now_ms),
      );
      const from_ms = query.after === undefined ? 0 : (query.after + 1) * 1000;
      if (until_ms <= from_ms) return { body: [] };
      const notes = await store.recordsOf("notes", path.id);
      // The whole month is made each time, so that a page never depends on where another began.
      const month = monthAt(zone, until_ms - 1);
      const rows = await rowsOfMonth(asked, { name }, month);
      // The day has begun before the moment that a page goes on from.
      const all = rows.filter(({ at_ms }) => at_ms >= from_ms && at_ms < until_ms);
      const body = all.slice(query.skip, query.skip + query.limit).map(servedWith(name, { zone, notes }));
      const { limit, after, before } = query;
      if (all.length > query.skip + limit)
        return { body, next: { before, after, skip: query.skip + limit, limit } };
      if (month.from_ms <= from_ms || !(await isOlder(asked, name, month.from_ms))) return { body };
      const left = Math.max(0, query.skip - all.length);
      return { body, next: { before: Math.floor(month.from_ms / 1000), after, skip: left, limit } };
    },
  });
}

function servedWith(name: DerivedName, { zone, notes }: { zone: string; notes: readonly Note[] }) {
  return ({ at_ms, day, values, observed }: DerivedRow) => {
    const from_ms = startOfDate_ms(zone, day) ?? at_ms;
    const to_ms = startOfDate_ms(zone, daysAfter(day, 1)) ?? from_ms + day_ms;
    const stamp = Math.floor(at_ms / 1000);
    const of = { observed, notes: kindsIn(notes, { from_ms, to_ms }), definition: definitionText(name) };
    return { stamp, day, ...values, ...of };
  };
}
