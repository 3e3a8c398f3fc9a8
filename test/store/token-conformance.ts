import { expect, test } from "bun:test";
import { day_ms } from "../../src/base/time.ts";
import { syncToken_ms } from "../../src/domain/token.ts";
import type { Token } from "../../src/store/store.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of tokens, for every store. */
export function tokens(make: MakeStore): void {
  const plain: Token = { id: "aaaaaaaaaaaa", name: "reader", scope: "read", hash: hash(1), created_ms: 5 };
  const bound: Token = {
    ...plain,
    id: "bbbbbbbbbbbb",
    scope: "sync",
    home: 12,
    hash: hash(2),
    created_ms: 4,
    expires_ms: 9,
  };

  test("come back as they were given, oldest first, until they are revoked", async () => {
    await using made = await make();
    const { store } = made;
    const part = { ...plain, id: "dddddddddddd", binding: { homes: [12, 13], projects: [3], studies: [] } };
    for (const token of [plain, bound, part]) await store.addToken(token);
    expect(await store.token(plain.id)).toEqual(plain);
    expect(await store.tokens()).toEqual([bound, plain, part]);
    await store.noteTokenUse(
      new Map([
        [plain.id, 77],
        ["cccccccccccc", 1],
      ]),
    );
    expect(await store.token(plain.id)).toEqual({ ...plain, last_used_ms: 77 });
    expect(await store.revokeToken(plain.id)).toBe(true);
    expect(await store.revokeToken(plain.id)).toBe(false);
    expect(await store.token(plain.id)).toBeUndefined();
  });

  test("of a gateway are renewed by their use, unless they were made to end within a year", async () => {
    await using made = await make();
    const { store } = made;
    const names = ["usual", "short", "older", "reads"] as const;
    const idOf = (name: string) => name.padEnd(12, "x");
    const expiries = {
      usual: 4 + syncToken_ms,
      short: 3 + syncToken_ms,
      older: undefined,
      reads: 4 + syncToken_ms,
    };
    for (const name of names)
      await store.addToken({
        ...bound,
        id: idOf(name),
        scope: name === "reads" ? "read" : "sync",
        expires_ms: expiries[name],
      });
    const expires = async () =>
      Promise.all(names.map(async (name) => (await store.token(idOf(name)))?.expires_ms));
    const use = (at_ms: number) => store.noteTokenUse(new Map(names.map((name) => [idOf(name), at_ms])));
    await use(50 * day_ms);
    const renewed_ms = 50 * day_ms + syncToken_ms;
    const kept = { short: expiries.short, reads: expiries.reads };
    expect(await expires()).toEqual([renewed_ms, kept.short, renewed_ms, kept.reads]);
    // A clock that went back takes nothing away.
    await use(10 * day_ms);
    expect(await expires()).toEqual([renewed_ms, kept.short, renewed_ms, kept.reads]);
  });
}

function hash(byte: number): Uint8Array {
  return new Uint8Array(32).fill(byte);
}
