import { type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { unixTime } from "../unix-time.ts";

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
