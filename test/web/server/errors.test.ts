import { expect, test } from "bun:test";
import { errorTable, HttpError } from "../../../src/web/server/http-errors.ts";
import { defaultBounds } from "../../../src/web/server/http-server.ts";

const documentation = await Bun.file(new URL("../../../docs/errors.md", import.meta.url)).text();

test("docs/errors.md has every error as the table has it, in its order, and no other", () => {
  const documented = [...documentation.matchAll(/^\| *(\d+) *\| *(\d+) *\| *(.+?) *\| .+ \|$/gm)].map(
    ([, code, status, message]) => ({ code: Number(code), status: Number(status), message }),
  );
  const errors: { code: number; status: number; message: string }[] = Object.values(errorTable);
  expect(documented).toEqual(errors.map(({ code, status, message }) => ({ code, status, message })));
});

test("docs/errors.md states the bounds that are in force", () => {
  expect(documentation).toContain(`more than ${defaultBounds.attempts_max} invalid tokens in a minute`);
  expect(documentation).toContain(`more than ${defaultBounds.requests_max} requests being answered`);
  expect(documentation).toContain(`body above ${defaultBounds.body_bytes_max / 1024} KiB`);
});

test("code numbers are unique, and tell their status but for 0", () => {
  const errors = Object.values(errorTable);
  expect(new Set(errors.map(({ code }) => code)).size).toBe(errors.length);
  for (const { code, status } of errors)
    expect(code === 0 ? 500 : Math.floor(code / 100)).toBe(status as number);
  expect(errorTable.unknown).toEqual({ code: 0, status: 500, message: "Unknown error" });
});

test("a message says what the client sent, cut short, and takes it as text alone", () => {
  const body = new HttpError("item_unknown", { typename: "scales", itemname: `{typename}${"x".repeat(500)}` })
    .body;
  expect(body.message).toBe(`No item of type scales is named {typename}${"x".repeat(90)}…`);
});
