import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { Store } from "../store/store.ts";
import type { Scope } from "../token.ts";

/**
 * One row of the table in endpoints.ts: all that there is to know of an endpoint. Routes, checks, and what
 * documents or tests them derive from it; the handler sees neither headers nor status numbers.
 */
export interface Endpoint<Path extends TObject = TObject, Query extends TObject = TObject> {
  /** Below the version: `/inventory/{typename}`. Each name in braces is a property of `path`. */
  readonly template: string;
  readonly summary: string;
  /** The version of the interface that introduced it. */
  readonly since: string;
  /** A token needs one of these. */
  readonly scopes: readonly Scope[];
  readonly path: Path;
  readonly query: Query;
  /** The body of a success. */
  readonly response: TSchema;
  /** @throws ApiError where there is no such record */
  handle(call: Call<Path, Query>): Promise<Answer>;
}

/** A request that has passed every check. */
export interface Call<Path extends TObject = TObject, Query extends TObject = TObject> {
  readonly store: Store;
  readonly path: Static<Path>;
  readonly query: Static<Query>;
  /** When the request came in, unix milliseconds. */
  readonly now_ms: number;
}

export interface Answer {
  readonly body: unknown;
  /** Query parameters that the following page is asked for with, where there is one. */
  readonly next?: Readonly<Record<string, number>>;
}

/** A row, with the handler's parameters typed by the row's own schemas. */
export function endpoint<Path extends TObject, Query extends TObject>(
  definition: Endpoint<Path, Query>,
): Endpoint {
  return definition;
}

/** Who may read: a sync token uploads for a home and reads nothing here. */
export const readers: readonly Scope[] = ["read", "admin"];
