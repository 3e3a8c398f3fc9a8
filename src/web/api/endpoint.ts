import { type Static, type TObject, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import type { AcceptancesOf } from "../../domain/acceptance.ts";
import { unixTime } from "../../domain/records/record-field.ts";
import type { Scope } from "../../domain/token.ts";
import type { SettingOf } from "../../store/derived/home-readings.ts";
import type { Marked } from "../../store/store.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import type { ErrorName } from "../server/http-errors.ts";
import type { CostName } from "../server/request-costs.ts";

/**
 * One row of the table in endpoints.ts: all that there is to know of an endpoint. Routes, checks, and what
 * documents or tests them derive from it; the handler sees neither headers nor status numbers.
 */
export interface Endpoint<Path extends TObject = TObject, Query extends TObject = TObject> {
  /** The same in every version, whatever its path; the contract's operationId. */
  readonly name: string;
  /** Below the version: `/inventory/{typename}`. Each name in braces is a property of `path`. */
  readonly template: string;
  readonly summary: string;
  /** The section of the contract that lists it. */
  readonly area: Area;
  /** The version of the interface that introduced it. */
  readonly since: string;
  /** The cost of an answer; absent: `light`. */
  readonly cost?: CostName;
  readonly path: Path;
  readonly query: Query;
  /** The body of a success. */
  readonly response: TSchema;
  /** Errors that the handler may answer a well-formed request with. */
  readonly refusals: readonly ErrorName[];
  /** @throws HttpError where there is no such record */
  handle(call: EndpointCall<Path, Query>): Promise<EndpointAnswer | Repeatable>;
}

export type Area = "Inventory" | "Time series" | "Subjects" | "Homes" | "Programme";

/** A request that has passed every check. */
export interface EndpointCall<Path extends TObject = TObject, Query extends TObject = TObject> {
  /** As much of it as the token of the request may see. */
  readonly store: VisibleStore;
  readonly path: Static<Path>;
  readonly query: Static<Query>;
  /** Of the token that asks. */
  readonly scope: Scope;
  /** When the request came in, unix milliseconds. */
  readonly now_ms: number;
  /** Finds what the configuration of its gateway says of a home. */
  readonly settingOf?: SettingOf | undefined;
  /** Answers the acceptances of a home, newest first; absent: this server has none. */
  readonly acceptancesOf?: AcceptancesOf | undefined;
  /**
   * Asks a time series for the order that version 0.1 had. `before` then bounds the other end: only records with a
   * stamp above it.
   */
  readonly oldestFirst?: boolean;
}

export interface EndpointAnswer {
  /** Made JSON of; a `JsonList` is sent as it is. */
  readonly body: unknown;
  /** Query parameters that the following page is asked for with, where there is one. */
  readonly next?: Readonly<Record<string, number | string | undefined>>;
}

/** A list that is JSON already. */
export class JsonList {
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(bytes: Uint8Array<ArrayBuffer>) {
    this.bytes = bytes;
  }
}

/** A body as values: for versions that show them otherwise. */
export function plainBody(body: unknown): unknown {
  return body instanceof JsonList ? JSON.parse(new TextDecoder().decode(body.bytes)) : body;
}

/** An answer that need not be made where the same one is remembered: see page-cache.ts. */
export interface Repeatable {
  /**
   * The mark of the answer, and the answer, or what is kept under the mark instead. As long as the mark is the same text, so is the answer. It may depend on
   * `now_ms` by the whole second alone.
   */
  read<Kept>(
    keptAs: (mark: string) => Kept | undefined,
  ): Promise<Marked<{ readonly answer: EndpointAnswer }, Kept>>;
}

/** A handler's answer in another form. A repeatable answer stays repeatable: it is only made when it is needed. */
export function reshaped(
  handled: EndpointAnswer | Repeatable,
  reshape: (answer: EndpointAnswer) => EndpointAnswer,
): EndpointAnswer | Repeatable {
  if (!("read" in handled)) return reshape(handled);
  return {
    read: async (keptAs) => {
      const found = await handled.read(keptAs);
      return "kept" in found ? found : { mark: found.mark, answer: reshape(found.answer) };
    },
  };
}

/** A row, with the handler's parameters typed by the row's own schemas. It takes no other query parameters. */
export function endpoint<Path extends TObject, Query extends TObject>(
  definition: Endpoint<Path, Query>,
): Endpoint {
  return { ...definition, query: { ...definition.query, additionalProperties: false } };
}

/**
 * The query parameters of the interface. The schema of each is all there is to it: bounds, default, what a
 * refusal says and the documentation come from it. A parameter without a default is optional.
 */
export const skip = Type.Integer({
  description: "number of records to skip",
  minimum: 0,
  maximum: 1_000_000_000_000,
  default: 0,
});

export const limit = Type.Integer({
  description: "maximum number of records to return",
  minimum: 1,
  maximum: 1000,
  default: 1000,
});

export const before = Type.Optional(
  unixTime({
    description:
      "return only records with a stamp below it; absent: the next whole second, so that everything up to now " +
      "is included",
    minimum: 0,
  }),
);

export const after = Type.Optional(
  unixTime({
    description:
      "an addition: return only records with a stamp above it, of coverage those that reach beyond it; absent: from the " +
      "oldest on",
    minimum: 0,
  }),
);

export const through = Type.Optional(
  Type.Integer({
    description:
      "set by next links, an addition: in the second where the page starts, count and return only records that " +
      "were on disk when the link was made",
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
);

export const since = Type.Optional(
  Type.String({
    description:
      "an addition: return records in the order in which they arrived, those after a cursor. Empty: from the beginning; " +
      "`@` and a unix time, with a second one behind `/` where it is to end: only records with a stamp from the one on " +
      "and below the other. The cursor that follows is in the next link, which every page with records has; a page " +
      "without records says that nothing is newer, and its own cursor is the one to come back with. Not to be given " +
      "together with `before`, `after`, `skip` or `through`",
    pattern: "^(|@[0-9]{1,12}(/[0-9]{1,12})?|[A-Za-z0-9_-]{40,3800})$",
    title: "empty, @ and a unix time to begin with, or the cursor of a next link",
  }),
);

export const provenance = Type.Union([Type.Literal("no"), Type.Literal("yes")], {
  description:
    "an addition, which does something with `since` alone: `yes` gives each record `homeid` and `clock`, the home in which it was " +
    "recorded and how its time was made, and `epoch` and `number`, which identify its reading wherever it is kept",
  default: "no",
});

/** Parameters that others cannot be given with. */
export const exclusive: Readonly<Record<string, readonly string[]>> = {
  since: ["before", "after", "skip", "through"],
};

export const precision = Type.Union([Type.Literal("s"), Type.Literal("ms")], {
  description: "an addition: unit of the stamps returned, seconds or milliseconds",
  default: "s",
});

/** An item in a path. */
export const itemname = Type.String({
  description: "name of an item, or its itemid where no item has that name",
});

/** A parameter that is a unix timestamp, as text of ISO 8601 in GMT. */
export function timeParameter(timestamp: TSchema): TSchema {
  const { description = "" } = timestamp;
  const text = Type.String({
    description,
    format: "date-time",
    pattern: "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$",
    title: "a time in GMT of the form 2013-05-01T12:00:00Z",
  });
  return TypeGuard.IsOptional(timestamp) ? Type.Optional(text) : text;
}
