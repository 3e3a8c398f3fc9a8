import { afterAll, expect, test } from "bun:test";
import { eventually, Site } from "../../testbed/front-door.ts";
import { actingLines, onTerminal } from "./terminal-words.ts";

const site = new Site();
afterAll(() => site.remove());

const address = "c0:ff:ee:00:18:1d";

/** An advertising packet: flags, the Weight Scale service, and a name. */
function packet(name: string): string {
  const bytes = Buffer.from(name);
  return Buffer.concat([
    Buffer.from([0x02, 0x01, 0x06, 0x03, 0x03, 0x1d, 0x18, bytes.length + 1, 0x09]),
    bytes,
  ]).toString("hex");
}

test("a scale next door that calls itself by escape codes does nothing to a terminal or the journal", async () => {
  const controller = await site.simulator("ble");
  site.configure({ sections: `[ble]\nport = "${controller.path}"` });
  const gateway = await site.run({ JOURNAL_STREAM: "8:1", LINTEL_DEBUG: "1" });
  await site.listening();
  await controller.tell({ do: "add", address });
  // A legacy packet has 31 bytes.
  for (const name of ["a\u001b[2J\u009b\n<3>b\u202ec", "=cmd|'/C calc'!A0\u0007"]) {
    await controller.tell({ do: "say", address, hex: packet(name) });
    const { heard } = await controller.tell({ do: "advertise", address, times: 10 });
    expect(heard).toBe(true);
  }
  await eventually(async () => {
    const unix = `${site.data}/control.sock`;
    const status = await fetch("http://gateway/status", { unix }).then((answer) => answer.text());
    return status.includes(address) ? status : undefined;
  }, "the scale in the status");
  for (const words of ["status", "status --json", "items", "items --json"])
    expect(actingLines(await onTerminal(site, ...words.split(" "), "--data", site.data))).toEqual([]);
  const strangers = await onTerminal(site, "items", "strangers", "--data", site.data);
  expect(strangers).toContain("=cmd|'/C calc'!A0");
  expect(actingLines(strangers)).toEqual([]);
  expect(await gateway.stop()).toBe(0);
  const said = await gateway.process.said();
  expect(actingLines(said)).toEqual([]);
  expect(
    said
      .trimEnd()
      .split("\n")
      .filter((line) => !/^<[3-7]>/.test(line)),
  ).toEqual([]);
});
