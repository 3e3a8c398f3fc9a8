import { expect, test } from "bun:test";
import { requireJsonAccepted } from "../../../src/web/api/encoded-answers.ts";
import { HttpError } from "../../../src/web/server/http-errors.ts";

const names = [
  "application/json",
  "APPLICATION/JSON",
  " application/json ",
  "application/json; charset=utf-8",
  "application/json;q=0.001",
  "application/json;q=1.000",
  "application/json ; Q=0.5",
  "application/json;",
  "text/html, application/xhtml+xml, application/json;q=0.9, */*;q=0.8",
  'text/plain;note="a, b; application/xml", application/json',
  'text/plain;note="\\"", application/json',
  "application/json;q=0, application/json",
  ",application/json,",
];
const doesNotName = [
  "*/*",
  "application/*",
  "text/html",
  "application/json;q=0",
  "application/json;q=0.000",
  "application/json;q=",
  "application/json;q=2",
  "application/json;q=-1",
  "application/json;q=1e-1",
  "application/json;q=0.1234",
  "application/json;q",
  "application/jsonp",
  "application/json/x",
  "application/vnd.api+json",
  "json",
  ";application/json",
  "application / json",
  'text/plain;note="application/json, application/json"',
  'text/plain;note=", application/json',
  ",",
];

test.each(names)("the Accept header %j names application/json", (accept) => {
  expect(() => requireJsonAccepted(accept)).not.toThrow();
});

test.each(doesNotName)("the Accept header %j does not name application/json", (accept) => {
  expect(codeOf(accept)).toBe(40002);
});

test.each([undefined, "", " "])("the Accept header %j is missing", (accept) => {
  expect(codeOf(accept)).toBe(40001);
});

function codeOf(accept: string | undefined): number | undefined {
  try {
    requireJsonAccepted(accept);
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown.body.code;
    throw thrown;
  }
  return undefined;
}
