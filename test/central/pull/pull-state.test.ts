import { expect, test } from "bun:test";
import { failureReport, stateIn } from "../../../src/central/pull/pull.ts";
import type { GatewayRecord } from "../../../src/store/central/central-store.ts";
import { nothingNoted } from "../../../src/store/exchange.ts";

const epoch = "e".repeat(32);
const known = (report: GatewayRecord["report"], times: Partial<GatewayRecord> = {}): GatewayRecord => ({
  home: 12,
  epoch,
  held_seq: 7,
  report,
  rivals: [],
  ...times,
});
const beginning = { epoch: "", verified_seq: 0, verified_all_ms: 0, filed_ms: 0, differing_days: 0 };

test("a pull goes on from the state that is kept in central's report, and from the beginning where there is none", () => {
  const kept = { epoch, verified_seq: 1, verified_all_ms: 2, filed_ms: 3, differing_days: 4 };
  expect(stateIn(known({ pulled: kept }))).toEqual(kept);
  expect(stateIn(known({ pulled: beginning }))).toEqual(beginning);
  expect(stateIn(undefined)).toEqual(beginning);
  expect(stateIn(known({}))).toEqual(beginning);
});

test("a state that cannot be is none", () => {
  for (const name of Object.keys(beginning)) {
    const wrong = name === "epoch" ? 7 : -1;
    const kept = { ...beginning, epoch, verified_seq: 5 };
    expect(stateIn(known({ pulled: { ...kept, [name]: wrong } }))).toEqual(beginning);
    const { [name as "epoch"]: _, ...without } = kept;
    expect(stateIn(known({ pulled: without }))).toEqual(beginning);
  }
});

test("a failure stands in the last report of the gateway, which is as old as it was", () => {
  const report = { version: "1", failure: "an older one" };
  const kept = (failure: string) => ({
    epoch,
    health: nothingNoted,
    report: { version: "1", failure },
  });
  expect(failureReport(known(report, { reported_ms: 9, uploaded_ms: 5 }), "it is off")).toEqual([
    kept("it is off"),
    { home: 12, at_ms: 9 },
  ]);
  expect(failureReport(known(report, { uploaded_ms: 5 }), "x".repeat(201))).toEqual([
    kept("x".repeat(200)),
    { home: 12, at_ms: 5 },
  ]);
  expect(failureReport(known(report), "")[1]).toEqual({ home: 12, at_ms: 0 });
});
