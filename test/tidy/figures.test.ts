import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  digestOf,
  documentText,
  type FigurePlace,
  figureDocuments,
  placesIn,
  placeWith,
  recordedIn,
} from "../../scripts/figure-places.ts";
import { sourcesOf } from "../../scripts/table-sources.ts";
import { ageOf } from "../../scripts/tables.ts";

const root = join(import.meta.dir, "../..");
const texts = await Promise.all(figureDocuments.map(documentText));
const places = texts.flatMap(placesIn);

test("each place of figures has a table, and the command that printed it", () => {
  expect(texts.join().split("<!-- figures of ").length - 1).toBe(places.length);
  for (const { key, figures } of places)
    expect({ key, figures }).toMatchObject({
      figures: expect.stringMatching(new RegExp(`^\\|[\\s\\S]*\\n\\n\`\\./scripts/${key}( [^\`]*)?\`: `)),
    });
});

test("no figure was changed by hand: record it by the command below its table, with --record", () => {
  expect(changedByHand(places)).toEqual([]);
  // An edit of any figure is found.
  const [life] = places.filter(({ key }) => key === "trials life --seeds");
  const edited = placesIn((life?.text ?? "").replace(/home-nights \| [0-9,]+/, "home-nights | 2,000,000"));
  expect(changedByHand(edited)).toEqual(["trials life --seeds"]);
});

function changedByHand(of: readonly FigurePlace[]): string[] {
  return of.filter(({ figures, digest }) => digestOf(figures) !== digest).map(({ key }) => key);
}

test("each table has sources that it speaks for, and these are there", () => {
  expect(places.map(({ key }) => key).filter((key) => sourcesOf[key] === undefined)).toEqual([]);
  const paths = Object.values(sourcesOf).flat();
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("a table is older than its sources once a commit has changed one of them", () => {
  const text = placeWith(
    "bench api",
    "| |\n\n`./scripts/bench api --x`: 2026-11-23, Lintel 0.1.0+abc123, 2 cores.\n",
  );
  const [place] = placesIn(text) as [FigurePlace];
  expect(recordedIn(place)).toEqual({ command: "bench api --x", commit: "abc123" });
  const asked: unknown[] = [];
  const age = (count: number | undefined) =>
    ageOf(place, (...given) => {
      asked.push(given);
      return count;
    }).older;
  expect(age(0)).toBeUndefined();
  expect(age(2)).toBe("2 commits have changed its sources");
  expect(age(undefined)).toBe("of a commit that is not here");
  expect(asked[0]).toEqual(["abc123", sourcesOf["bench api"]]);
  const [empty] = placesIn("<!-- figures of bench api -->\n<!-- end of figures -->") as [FigurePlace];
  expect(ageOf(empty, () => 0)).toEqual({
    key: "bench api",
    command: "bench api",
    older: "nothing is recorded",
  });
});
