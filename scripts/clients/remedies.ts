import { type ErrorName, errorTable } from "../../src/web/server/http-errors.ts";

/** Remedies for who reads the interface, for those errors whose message does not say it. */
const remedies: Partial<Record<ErrorName, string>> = {
  unknown: "ask again; if it stays, whoever keeps the server finds a line in its log",
  token_missing: "give the token, which `lintel token create NAME` prints",
  token_expired: "ask the server's keeper for a new token: lintel token create NAME",
  token_invalid: "look whether the whole token was copied, and whether it is one of this server",
  token_scope: "ask the server's keeper for a token that reads: lintel token create NAME",
  path_unknown: "look at the address and its version: /v0.9",
  typename_unknown: "the list of item types has their names",
  item_unknown: "the list of items of that type has their names; a token that is bound sees its own alone",
  record_unknown: "the list of these records has their numbers; a token that is bound sees its own alone",
  cursor_gone: "begin again without a cursor",
};

/** Remedies by the code of the error. */
export const remedyByCode: readonly (readonly [code: number, remedy: string])[] = Object.entries(
  remedies,
).map(([name, remedy]) => [errorTable[name as ErrorName].code, remedy]);
