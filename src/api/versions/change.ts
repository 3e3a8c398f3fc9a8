import { type TArray, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type Endpoint, reshaped } from "../endpoint.ts";
import type { ApiVersion } from "../versions.ts";

/**
 * A change that a version made to the form of the interface, written as the way back: it makes the older form of an
 * endpoint from the newer one. Requests of the older form are converted to the newer, answers to the older, and the
 * schemas say the same. So a change needs to know nothing of the other changes.
 */
export interface VersionChange {
  /** The version that brought the newer form; those below it have the older. */
  readonly version: ApiVersion;
  /** The change in words. */
  readonly summary: string;
  /** The older form; the endpoint itself where the change does not concern it. */
  older(endpoint: Endpoint): Endpoint;
}

/** A list's endpoint with other records: `properties` of their schema and the records themselves. */
export function withRecords(
  endpoint: Endpoint,
  older: {
    properties: (newer: TProperties) => TProperties;
    record: (newer: Record<string, unknown>) => Record<string, unknown>;
  },
): Endpoint {
  const { properties, ...options } = (endpoint.response as TArray<TObject>).items;
  return {
    ...endpoint,
    response: Type.Array(Type.Object(older.properties(properties), named(options))),
    handle: async (call) =>
      reshaped(await endpoint.handle(call), ({ body, ...answer }) => ({
        ...answer,
        body: (body as Record<string, unknown>[]).map(older.record),
      })),
  };
}

/** The part of a schema's options that says what it is, not what it looks like. */
export function named({ title, description }: { title?: string; description?: string }) {
  return { title, description };
}
