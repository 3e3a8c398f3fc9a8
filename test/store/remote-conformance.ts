import { describe, expect, test } from "bun:test";
import type { SignedRequest } from "../../src/domain/remote-request.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { start_ms } from "../../testbed/sample.ts";

/** Tests of requests to boxes, at both of central's stores. */
export function remoteAgrees(name: string, make: () => Promise<{ store: CentralStore } & AsyncDisposable>) {
  describe(name, () => {
    test("keeps requests to boxes with their answers, each number once and upwards, and the last hundred", async () => {
      await using made = await make();
      const { store } = made;
      const requestOf = (home: number, number: number): SignedRequest => ({
        ...{ home, number, expires_ms: start_ms + number, request: "status", signature: "x" },
      });
      const ask = (home: number, number: number) =>
        store.askRemote({ request: requestOf(home, number), asked_by: "lea", asked_ms: start_ms });
      const waiting = async (at_ms: number) =>
        (await store.remoteAsked({ waiting_at_ms: at_ms })).map(({ request }) => [
          request.home,
          request.number,
        ]);
      const answer = (number: number) =>
        store.noteRemote(12, number, {
          ...{ answered_ms: start_ms + 1, outcome: "done", words: "told", answer: `{"n":${number}}` },
        });
      await ask(12, 5);
      await ask(13, 3);
      expect(await waiting(start_ms)).toEqual([
        [12, 5],
        [13, 3],
      ]);
      expect(await waiting(start_ms + 3)).toEqual([[12, 5]]);
      for (const number of [5, 4]) await expect(ask(12, number)).rejects.toThrow("sign the request anew");
      expect(await answer(5)).toBe(true);
      for (const number of [5, 6]) expect(await answer(number)).toBe(false);
      expect(await waiting(start_ms)).toEqual([[13, 3]]);
      expect(await store.remoteAsked({ home: 12 })).toEqual([
        {
          ...{ request: requestOf(12, 5), asked_by: "lea", asked_ms: start_ms },
          answered: { answered_ms: start_ms + 1, outcome: "done", words: "told", answer: '{"n":5}' },
        },
      ]);
      for (let number = 10; number < 115; number += 1) {
        await ask(12, number);
        await answer(number);
      }
      const kept = await store.remoteAsked({ home: 12 });
      expect(kept.map(({ request }) => request.number)).toEqual(
        Array.from({ length: 100 }, (_, at) => 114 - at),
      );
      expect(kept.filter(({ answered }) => answered?.answer !== undefined)).toHaveLength(5);
    });
  });
}
