/**
 * Writes docs/hardware.md: on which hardware Lintel was tried, how, and what that takes, from the table here, recorded figures and the gateway's unit.
 *
 *   bun scripts/hardware-page.ts
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { figureDocuments, placesIn } from "./figure-places.ts";
import { wrapped } from "./wrap-markdown.ts";

export const hardwarePage = "docs/hardware.md";
const root = join(import.meta.dir, "..");

interface HardwareRow {
  readonly what: string;
  /** Whether it was tried on a real one. */
  readonly real: string;
  readonly tried: string;
  readonly know: string;
}

/** The page, as the table, the figures and the unit have it now. */
export function hardwareText(): string {
  const memory = figureIn("bench memory", "all drivers, last quarter of 30 days");
  const month = figureIn("trials uploads month", "MB a month of 30 nights");
  const [, percent = ""] =
    /^MemoryHigh=(\d+)%$/m.exec(readFileSync(join(root, "systemd/lintel.service"), "utf8")) ?? [];
  const slowed_mb = Math.round((512 * Number(percent)) / 100);
  const never = "never";
  const rows: readonly HardwareRow[] = [
    {
      what: "PC or server with Debian, amd64",
      real: "yes, a virtual machine",
      tried: "every test, and `sudo ./scripts/trials boot` with the package",
      know: "",
    },
    {
      what: "Raspberry Pi 3, 4 and 5",
      real: never,
      tried:
        "`sudo ./scripts/test-aarch64`: an emulated machine with pages of 16 KiB, as a Raspberry Pi 5 has",
      know: "it needs the 64-bit system",
    },
    {
      what: "Raspberry Pi Zero 2 W, 512 MB",
      real: never,
      tried: `its memory: the gateway took ${memory} with all drivers, on a PC ([measured](performance.md))`,
      know: `the unit slows the gateway down from ${slowed_mb} MB on; a stick needs an adapter for micro-USB`,
    },
    {
      what: "Zigbee sticks",
      real: never,
      tried: "a simulator that speaks the bytes of three types",
      know: "[sticks.md](sticks.md)",
    },
    {
      what: "Bluetooth, built in or on USB",
      real: never,
      tried: "`sudo ./scripts/trials bluetooth`: a virtual adapter of a real kernel",
      know: "[bluetooth.md](bluetooth.md)",
    },
    {
      what: "lamp and button on GPIO",
      real: never,
      tried: "`./scripts/trials gpio`: simulated lines of a real kernel",
      know: "",
    },
    {
      what: "memory card",
      real: never,
      tried: "`./scripts/trials crashes`: a disk that loses what was not synchronised, at each write",
      know: "[prove each card](burn-in.md) before it goes to a home",
    },
    {
      what: "USB disk",
      real: never,
      tried: "as a memory card; `sudo ./scripts/trials burn-in` on disks that lie",
      know: "it [does not tell how worn it is](looking-after.md); prove it as a card",
    },
    {
      what: "mobile line (LTE)",
      real: never,
      tried: "`./scripts/trials uploads month` and `sudo ./scripts/trials remote` count bytes",
      know: `uploads take ${month} MB a month; with \`[remote]\` [25 MB more](remote.md#what-it-costs); an update takes [3 MB](performance.md#a-month-on-a-mobile-line) if the box has its Bun, else the whole package`,
    },
  ];
  const table = rows.map(({ what, real, tried, know }) => `| ${what} | ${real} | ${tried} | ${know} |`);
  return wrapped(`# Hardware

This page says on which hardware Lintel was tried, and how. \`bun scripts/hardware-page.ts\` makes it from a table, from recorded
figures and from the unit of the gateway. A test compares both.

**No board, stick, card or mobile line was tried as a real one.** All of them were simulated or emulated. So try each kind that
you buy with [a burn-in](burn-in.md) and a week on a desk, before fifty of it go to homes.

| hardware | tried on a real one | how it was tried | what to know |
|---|---|---|---|
${table.join("\n")}
`);
}

/** A figure of a recorded table: the first cell of the row whose name begins so. @throws Error where there is none */
function figureIn(key: string, row: string): string {
  const places = figureDocuments.flatMap((path) => placesIn(readFileSync(join(root, path), "utf8")));
  const lines = places.find((place) => place.key === key)?.figures.split("\n") ?? [];
  const cell = lines.find((line) => line.startsWith(`| ${row}`))?.split(" | ")[1];
  if (cell === undefined) throw new Error(`no table of ${key} has a row ${row}`);
  return cell.replace(/ *\|$/, "");
}

if (import.meta.main) await Bun.write(join(root, hardwarePage), hardwareText());
