import type { Static, TObject, TSchema } from "@sinclair/typebox";
import type { CostName } from "../http/costs.ts";
import type { ErrorName } from "../http/errors.ts";
import type { VisibleStore } from "../store/seen-store.ts";
import type { Marked } from "../store/store.ts";
import type { Scope } from "../token.ts";

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
  /**
   * Asks a time series for the order that version 0.1 had. `before` then bounds the other end: only records with a
   * stamp above it.
   */
  readonly oldestFirst?: boolean;
}

export interface EndpointAnswer {
  readonly body: unknown;
  /** Query parameters that the following page is asked for with, where there is one. */
  readonly next?: Readonly<Record<string, number | string | undefined>>;
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
