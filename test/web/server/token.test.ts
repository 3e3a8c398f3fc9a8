import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { checkToken, mintToken, type Token } from "../../../src/domain/token.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

const clock = new SettableClock(Date.UTC(2026, 2, 1));
const holding = (...tokens: Token[]) => ({
  find: async (id: string) => tokens.find((token) => token.id === id),
  clock,
});

describe("a new token", () => {
  test("has an id of 12 plain characters and 256 bits of secret, of which only the hash is kept", () => {
    const { token, text } = mintToken({ name: "maria", scope: "read", clock });
    const [id, secret = ""] = text.split(".");
    expect(id).toMatch(/^[a-z2-9]{12}$/);
    expect(Buffer.from(secret, "base64url")).toHaveLength(32);
    expect(token.id).toBe(id as string);
    expect(Buffer.from(token.hash)).toEqual(createHash("sha256").update(secret).digest());
    expect(JSON.stringify(token)).not.toContain(secret);
  });

  test("keeps its name, scope, home and expiry, and leaves out what was not given", () => {
    const bound = mintToken({ name: "box", scope: "sync", home: 12, expires_ms: 99, clock }).token;
    expect(bound).toMatchObject({ name: "box", scope: "sync", home: 12, expires_ms: 99 });
    expect(bound.created_ms).toBe(clock.now().unix_ms);
    const open = mintToken({ name: "maria", scope: "admin", clock }).token;
    expect(Object.keys(JSON.parse(JSON.stringify(open))).sort()).toEqual([
      "created_ms",
      "hash",
      "id",
      "name",
      "scope",
    ]);
  });

  test("comes from the randomness it is given, and differs from every other", () => {
    const fixed = (length: number) => new Uint8Array(length).fill(7);
    const [one, other] = [fixed, fixed].map((random) =>
      mintToken({ name: "a", scope: "read", clock, random }),
    );
    expect(one?.text).toBe(other?.text as string);
    const texts = Array.from({ length: 200 }, () => mintToken({ name: "a", scope: "read", clock }).text);
    expect(new Set(texts).size).toBe(200);
  });
});

describe("a token is accepted", () => {
  const { token, text } = mintToken({ name: "maria", scope: "read", clock });
  const [id = "", secret = ""] = text.split(".");

  test("as it was shown", async () => {
    expect(await checkToken(text, holding(token))).toEqual({ token });
  });

  test("and no other text in its place", async () => {
    const lastChanged = `${secret.slice(0, -1)}${secret.endsWith("A") ? "B" : "A"}`;
    const wrong = [
      "",
      ".",
      id,
      secret,
      `${id}.`,
      `.${secret}`,
      `${id}.${lastChanged}`,
      `${id}.${secret}=`,
      `${id}.${secret}A`,
      `${id}.${secret.slice(1)}`,
      `${id.toUpperCase()}.${secret}`,
      ` ${text}`,
      `${text}\n`,
      `${text}.x`,
      `aaaaaaaaaaaa.${secret}`,
      "x".repeat(100_000),
    ];
    for (const other of wrong)
      expect([other.slice(0, 80), await checkToken(other, holding(token))]).toEqual([
        other.slice(0, 80),
        { fault: "invalid" },
      ]);
  });

  test("not under the id of another token", async () => {
    const other = mintToken({ name: "jon", scope: "read", clock }).token;
    expect(await checkToken(`${other.id}.${secret}`, holding(token, other))).toEqual({ fault: "invalid" });
  });

  test("until the moment it expires, and only its holder is told that it has", async () => {
    const expires_ms = clock.now().unix_ms + 1000;
    const { token: brief, text: briefText } = mintToken({ name: "b", scope: "read", expires_ms, clock });
    clock.advance(999);
    expect(await checkToken(briefText, holding(brief))).toEqual({ token: brief });
    clock.advance(1);
    expect(await checkToken(briefText, holding(brief))).toEqual({ fault: "expired" });
    expect(await checkToken(`${brief.id}.${secret}`, holding(brief))).toEqual({ fault: "invalid" });
  });
});

test("no secret is compared in a time that tells how much of it is right", async () => {
  const source = await Bun.file(join(import.meta.dir, "../../../src/domain/token.ts")).text();
  expect(source).toContain("timingSafeEqual(sha256(");
  // Equality of a secret or its hash by any other way.
  expect(source).not.toMatch(/(hash|secret|parts\[2\])\)? *[!=]==/);
});
