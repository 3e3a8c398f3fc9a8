import { describe, expect, test } from "bun:test";
import { type MeshScan, waysOf, withScan } from "../../src/domain/mesh.ts";
import { scansInFile } from "../../src/domain/mesh-file.ts";
import { meshWords } from "../../src/domain/mesh-words.ts";

const at_ms = Date.UTC(2026, 10, 20, 12);
const hour_ms = 3_600_000;
const names: Readonly<Record<string, string>> = { b1: "Bathroom", k1: "Kitchen", d1: "Front door" };

type Links = readonly (readonly [by: string, of: string, quality: number, child?: true])[];

/** A scan of a home with a stick, the plugs p1 and p2, and three sleepers; `silent`: routers that do not answer. */
function scan(
  links: Links,
  { silent = [], hours = 0 }: { silent?: readonly string[]; hours?: number } = {},
): MeshScan {
  return {
    at_ms: at_ms + hours * hour_ms,
    nodes: [
      { address: "s0", role: "stick", answered: true },
      ...["p1", "p2"].map(
        (address) =>
          ({ address, role: "router", model: "TS011F", answered: !silent.includes(address) }) as const,
      ),
      ...["b1", "k1", "d1"].map((address) => ({ address, role: "sleeper" }) as const),
    ],
    links: links
      .filter(([by]) => !silent.includes(by))
      .map(([by, of, quality, child]) => ({ by, of, quality, ...(child && { child }) })),
  };
}

const good: Links = [
  ["s0", "p1", 180],
  ["p1", "s0", 170],
  ["p1", "p2", 120],
  ["p2", "p1", 110],
  ["s0", "k1", 150, true],
  ["s0", "d1", 90, true],
  ["p2", "b1", 130, true],
];

function words(...scans: readonly MeshScan[]) {
  const told = meshWords({
    scans,
    nameOf: (address) => names[address],
    zone: "UTC",
    timeText: (moment_ms) => new Date(moment_ms).toISOString().slice(0, 10),
  });
  if (told === undefined) throw new Error("no words");
  return { ...told, needs: told.needs.map(({ what, remedy }) => `${what} ${remedy}`) };
}

describe("ways to the stick", () => {
  test("a sleeper hangs on the device that calls it its child, a router on the one before it on the shortest way", () => {
    const ways = Object.fromEntries(waysOf(scan(good)).map(({ address, ...way }) => [address, way]));
    expect(ways["b1"]).toMatchObject({ through: { address: "p2", quality: 130 }, back: undefined });
    expect(ways["p2"]).toMatchObject({ through: { address: "p1", quality: 120 }, back: 110 });
    expect(ways["p1"]).toMatchObject({ through: { address: "s0", quality: 180 }, back: 170 });
    expect(ways["k1"]?.through).toEqual({ address: "s0", quality: 150 });
  });

  test("of two that call a sleeper their child, the one that hears it best counts", () => {
    for (const [quality, by] of [
      [20, "p2"],
      [200, "s0"],
    ] as const) {
      const ways = waysOf(scan([...good, ["s0", "b1", quality, true]]));
      expect(ways.find(({ address }) => address === "b1")?.through?.address).toBe(by);
    }
  });

  test("a router that the stick alone hears has that link, in one direction", () => {
    const way = waysOf(scan([["p1", "s0", 60]])).find(({ address }) => address === "p1");
    expect(way).toMatchObject({ through: { address: "s0", quality: 60 }, back: 60 });
  });
});

describe("in words", () => {
  test("nothing is known before the first scan, and a good mesh is told in one sentence", () => {
    expect(meshWords({ scans: [], nameOf: () => "", zone: "UTC", timeText: String })).toBeUndefined();
    const { answer, needs, carried, changes } = words(scan(good));
    expect(answer).toBe("All 5 devices have a good way to the stick, 2 of them through another one.");
    expect(needs).toEqual([]);
    expect(words(scan(good)).channel).toBeNull();
    const channel = { number: 20, measured: false };
    expect(words({ ...scan(good), channel }).channel).toBe(
      "The network is on channel 20 (between the Wi-Fi channels 6 and 11; not chosen by a measurement).",
    );
    expect(carried).toEqual([
      "TS011F (p2) hangs on TS011F (p1): leave it switched on.",
      "Bathroom hangs on TS011F (p2): leave it switched on.",
    ]);
    expect(changes).toEqual([]);
  });

  test("a plug that never answers at night is told with what hangs on it, also by day", () => {
    const nights = [-2, -26, -50].map((hours) => hours - 8);
    const days = [0, -24, -48, -72];
    const scans = [...nights, ...days]
      .sort((one, other) => other - one)
      .map((hours) => scan(good, { hours, silent: nights.includes(hours) ? ["p2"] : [] }));
    expect(words(...scans).needs).toEqual([
      "Bathroom hangs on TS011F (p2), which is switched off at night. Leave it on, or plug in another router near by.",
    ]);
    expect(words(...scans).answer).toBe("Bathroom hangs on TS011F (p2), which is switched off at night.");
    expect(words(...scans.slice(0, 4)).needs).toEqual([]);
  });

  test("a router that does not answer is told, with what hung on it", () => {
    const now = scan(good, { silent: ["p2"] });
    const { answer, needs } = words(now, scan(good, { hours: -6 }));
    expect(needs).toEqual([
      "TS011F (p2) does not answer, and Bathroom hung on it when it last did. Is it switched on?",
      "No device that answers hears Bathroom. A router that does not answer may; otherwise it is out of reach or without power.",
    ]);
    expect(answer).toBe("2 things to do about the ways of 5 devices.");
  });

  test("a weak link and one that has become worse by half are told", () => {
    const others = good.filter(([, of]) => of !== "k1" && of !== "d1");
    const now = scan([...others, ["s0", "k1", 38, true], ["s0", "d1", 44, true]]);
    const before = [-6, -12, -18].map((hours) => scan(good, { hours }));
    expect(words(now, ...before).needs).toEqual([
      "Kitchen hangs on the stick by a weak link (38 of 255). It was 150 earlier this month. Move one of them, or plug in a router between them.",
      "The link of Front door was 90 earlier this month, and is 44 now. Has something been moved?",
    ]);
    expect(words(now, ...before.slice(0, 2)).needs).toHaveLength(1);
  });

  test("a link that has become half as good as in its best month is told with that month, also where it is weak", () => {
    const month_h = 30 * 24;
    const others = good
      .filter(([by]) => by !== "s0")
      .concat([
        ["s0", "p1", 180],
        ["s0", "k1", 150, true],
      ]);
    const of = (quality: number, hours: number) => scan([...others, ["s0", "d1", quality, true]], { hours });
    const march = [8, 8.1, 8.2].map((months) => of(180, -months * month_h));
    const june = [5, 5.1, 5.2].map((months) => of(120, -months * month_h));
    expect(words(of(60, 0), ...june, ...march).needs).toEqual([
      "The link of Front door was 180 in March, and is 60 now. Has something been moved?",
    ]);
    expect(words(of(20, 0), ...june, ...march).needs).toEqual([
      "Front door hangs on the stick by a weak link (20 of 255). It was 180 in March. Move one of them, or plug in a router between them.",
    ]);
    expect(words(of(100, 0), ...june, ...march).needs).toEqual([]);
    // Two scans of a month prove nothing.
    expect(words(of(60, 0), ...march.slice(1)).needs).toEqual([]);
  });

  test("a battery that has lost much since a month is told, and one that loses slowly is not", () => {
    const of = (percent: number, mv: number, hours: number): MeshScan => ({
      ...scan(good, { hours }),
      nodes: scan(good).nodes.map((node) => {
        if (node.address === "b1") return { ...node, battery_percent: percent };
        return node.address === "k1" ? { ...node, battery_mv: mv } : node;
      }),
    });
    const before = [-15_000, -15_001, -15_002].map((hours) => of(95, 3_000, hours));
    expect(words(of(40, 2_700, 0), ...before).batteries).toEqual([
      "The battery of Bathroom was at 95 % in March 2025, and is at 40 % now.",
      "The battery of Kitchen was at 3 V in March 2025, and is at 2.7 V now.",
    ]);
    expect(words(of(75, 2_800, 0), ...before).batteries).toHaveLength(2);
    expect(words(of(76, 2_801, 0), ...before).batteries).toEqual([]);
  });

  test("what changed since the scan before is told, and usual changes are not", () => {
    const moved = good.map((link) => (link[1] === "b1" ? (["s0", "b1", 120, true] as const) : link));
    const now = scan(moved.map((link) => (link[1] === "k1" ? (["s0", "k1", 80, true] as const) : link)));
    const before = scan(good, { hours: -24 });
    const { nodes } = before;
    const known = {
      ...before,
      nodes: [...nodes.filter(({ address }) => address !== "d1"), { ...node, address: "x1" }],
    };
    expect(words(now, known).changes).toEqual([
      "Since 2026-11-19: Bathroom moved from TS011F (p2) to the stick.",
      "Since 2026-11-19: the link of Kitchen went from 150 to 80.",
      "Since 2026-11-19: Front door is new.",
      "Since 2026-11-19: device (x1) has left.",
    ]);
    expect(words(scan(good), scan(good, { hours: -6 })).changes).toEqual([]);
  });
});

const node = { role: "sleeper" } as const;

describe("scans that are kept", () => {
  test("are the newest week's and one of each week before, a year at most", () => {
    let kept: MeshScan[] = [];
    for (let hours = 0; hours < 24 * 7 * 70; hours += 6) kept = withScan(kept, scan(good, { hours }));
    expect(kept).toHaveLength(28 + 52);
    const ages = kept.map((one) => ((kept[0]?.at_ms ?? 0) - one.at_ms) / hour_ms);
    expect(ages.slice(0, 28)).toEqual(Array.from({ length: 28 }, (_, place) => place * 6));
    const weeks = new Set(kept.slice(28).map((one) => Math.floor(one.at_ms / (7 * 24 * hour_ms))));
    expect(weeks.size).toBe(52);
    // The newest of its week: the next one belongs to the week after, but for the newest, which went on.
    const later = kept.slice(29).map((one) => (one.at_ms + 6 * hour_ms) % (7 * 24 * hour_ms));
    expect(later.every((into_ms) => into_ms < 6 * hour_ms)).toBe(true);
  });

  test("of a large mesh are fewer, so that the file stays within its bounds", () => {
    const links = Array.from({ length: 1_990 }, (_, place) => ["s0", `a${place}`, 1] as const);
    let kept: MeshScan[] = [];
    for (let hours = 0; hours < 600; hours += 6) kept = withScan(kept, scan(links, { hours }));
    expect(kept).toHaveLength(5);
  });

  test("are none where a file is not one of scans", () => {
    const file = (content: unknown) => new TextEncoder().encode(JSON.stringify(content));
    expect(scansInFile(file({ scans: [scan(good)] }))).toEqual([scan(good)]);
    for (const content of [undefined, file([]), file({ scans: [{ at_ms: -1 }] }), new Uint8Array([0xff])])
      expect(scansInFile(content)).toEqual([]);
  });
});
