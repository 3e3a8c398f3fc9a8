import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LieName } from "../../scripts/trial-programs/hostile/liar.ts";
import { LiedTo, type RequestName } from "../../scripts/trial-programs/hostile/lied-to.ts";

/** Which lies are told at which request; `./scripts/trials hostile servers` tells each of them at each. */
const told: Readonly<Record<RequestName, readonly LieName[]>> = {
  "upload: report": ["lists in zstd", "lists beside what is asked for", "headers without end"],
  "upload: batches": ["lists in br", "a refusal of lists"],
  "upload: roster": ["six thousand items", "lists in gzip in gzip"],
  "upload: backups": ["a length of a terabyte"],
  "verify: verify": ["all that records may have", "objects with a name each"],
  "restore: roster": ["all that records may have", "brackets within brackets"],
  "restore: backups": ["a text of 100 MB", "a gigabyte in frames of zstd"],
  "restore: history": ["a batch of texts", "a gigabyte in parts of gzip"],
  "fetch: epochs": ["all that a page may have", "a million texts"],
  "fetch: inventory": ["a page of items after every page", "a refusal without end"],
  "fetch: events": ["lists as they are", "a number of a million digits"],
  "pull: report": ["lists as they are", "lists in gzip"],
  "pull: backups": ["lists in deflate", "pieces without end"],
  "pull: batches": ["a batch of lists", "a batch of lists beyond all bounds"],
  "pull: digests": ["all that records may have"],
};

/** Records of a home that are within all bounds: they are taken for the truth. */
const taken: readonly LieName[] = ["six thousand items", "all that records may have"];

let liedTo: LiedTo;
beforeAll(async () => {
  liedTo = await LiedTo.start();
});
afterAll(() => liedTo.remove());

for (const [request, names] of Object.entries(told) as [RequestName, readonly LieName[]][])
  for (const name of names)
    test(`${request}, answered by ${name}: less than 250 MB, and one line that says who and what to do`, async () => {
      const { told, peak_mb, said, code, host } = await liedTo.tell(request, name);
      expect(told).toBeGreaterThan(0);
      expect(peak_mb).toBeLessThan(250);
      if (request.startsWith("pull")) {
        // A central goes on with its other gateways.
        expect(said).toMatch(/ warn +pull: home 1: .*: check /);
        expect(said).toContain(host);
      } else if (request.endsWith("roster") && taken.includes(name)) expect(code).toBe(0);
      else {
        expect(said).toMatch(/^lintel: .*: (check|make|write|ask) /);
        expect(said.includes(host) || said.includes("--url")).toBe(true);
        expect(code).toBe(2);
      }
    });
