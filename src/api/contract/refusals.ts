import { type ErrorName, errorTable } from "../../http/errors.ts";
import type { Components } from "./components.ts";
import type { JsonObject } from "./json.ts";

/** Errors that any endpoint may answer with, besides those that come from its parameters and records. */
export const alwaysPossible: readonly ErrorName[] = [
  "accept_missing",
  "accept_unsuitable",
  "host_malformed",
  "coding_unsuitable",
  "token_missing",
  "token_expired",
  "token_invalid",
  "token_scope",
  "url_too_long",
  "attempts_exceeded",
  "budget_spent",
  "unknown",
  "too_busy",
];

/** Refusals of endpoints that refuse parameters that they do not know. */
export const ofUnknownParameters: readonly ErrorName[] = ["parameter_unknown"];

/** Refusals of endpoints that have parameters. */
export const ofParameters: readonly ErrorName[] = [
  "parameter_malformed",
  "parameter_repeated",
  "path_malformed",
];

/** Responses by status, each with the Error bodies that it can have; the same ones by reference. */
export function refusalResponses(
  errors: readonly ErrorName[],
  { components, error }: { components: Components; error: JsonObject },
): Record<string, JsonObject> {
  const byStatus = Map.groupBy(errors, (name) => errorTable[name].status);
  const statuses = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(
    statuses.map(([status, names]) => {
      const response = {
        description: names
          .map((name) => `${errorTable[name].code}: ${errorTable[name].message}`)
          .join("\n\n"),
        ...(status in headers ? { headers: headers[status] } : {}),
        content: { "application/json": { schema: error, examples: examplesOf(names) } },
      };
      return [String(status), components.response(names.join("."), response)];
    }),
  );
}

function examplesOf(names: readonly ErrorName[]): JsonObject {
  return Object.fromEntries(
    names.map((name) => {
      const { code, message } = errorTable[name];
      return [name, { value: { code, message } }];
    }),
  );
}

const retryAfter = {
  "Retry-After": {
    description: "seconds after which another attempt makes sense",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
};

const headers: Readonly<Record<number, JsonObject>> = {
  401: {
    "WWW-Authenticate": {
      description: "`OAuth2.0 realm=<realm>, error=invalid_token, error_description=<text>`",
      required: true,
      schema: {
        type: "string",
        pattern: "^OAuth2\\.0 realm=[^,]+, error=invalid_token, error_description=.+$",
      },
    },
  },
  429: retryAfter,
  503: retryAfter,
};
