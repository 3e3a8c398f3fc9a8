/**
 * Writes docs/sticks.md from the drivers' own tables: the sticks that Lintel knows, their settings, and what was tried of each.
 *
 *   bun scripts/stick-page.ts
 */
import { join } from "node:path";
import { sticks } from "../drivers/wire/sticks.ts";
import { type AdapterName, adapterNames, adapters } from "../drivers/zigbee/adapters.ts";
import { movingAdapters } from "../drivers/zigbee/moving.ts";
import { isMake } from "../drivers/zigbee/simulator/makes.ts";
import { wrapped } from "./wrap-markdown.ts";

export const sticksPage = "docs/sticks.md";

/** The page, as the tables have it now. */
export function sticksText(): string {
  return wrapped(pageText());
}

function pageText(): string {
  const zigbee = sticks.filter(({ driver }) => driver === "zigbee");
  return `# Zigbee sticks

This page lists the Zigbee sticks that Lintel knows by their USB name, and says how to move a home from one stick to another.
\`bun scripts/stick-page.ts\` makes it from the drivers' own tables, and a test compares both.

**No stick was tried by its maker's hardware.** A simulator on a serial line speaks the bytes of three types: ${listed(adapterNames.filter(isMake))}.
Every Zigbee test of the program that people start passes with each of them, and so do [twenty restarts](reliability.md#a-box-in-a-home).

## The sticks

\`lintel setup\` shows the sticks that are plugged in, and writes the settings of the one that you choose:

\`\`\`toml
[zigbee]
port = "/dev/serial/by-id/…"
adapter = "ember"
\`\`\`

Lintel opens a stick of this table with the rate and the flow control that the table has. A dash means the usual rate of its type.

| stick | type | rate, baud | flow control | tried |
|---|---|---:|---|---|
${rows(zigbee.map(({ title, adapter, baudrate, rtscts }) => [title, adapter ?? "", baudrate?.toLocaleString("en") ?? "–", rtscts ? "RTS and CTS" : "none", triedText(adapter)]))}

For any other stick, or other firmware, set \`adapter\`, and where its maker says so \`baudrate\` and \`rtscts\`:

| type | chips | tried |
|---|---|---|
${rows(adapterNames.map((name) => [`\`${name}\``, adapters[name], triedText(name)]))}

## Move a home to another stick

Sensors stay paired when a stick breaks, or when you replace it by one of another make. Lintel has a copy of the network, which is never
older than a day.

1. Stop the gateway: \`sudo systemctl stop lintel\`. It copies the network a last time.
2. Unplug the old stick, and plug in the new one. Never plug in the old one again: two sticks with one network disturb each other.
3. Run \`sudo lintel setup --replace\`, choose the new stick, and start the gateway.
4. See the line \`the network was restored from its backup onto the adapter …\` in \`journalctl -u lintel\`.
5. Within a day \`lintel status\` has heard each sensor. A router such as a plug may need to be unplugged and plugged in again.

| from \\ to | ${movingAdapters.join(" | ")} | any other type |
|---|${"---|".repeat(movingAdapters.length + 1)}
${rows(movingAdapters.map((from) => [`\`${from}\``, ...movingAdapters.map(() => "moves"), "refused"]))}

The nine ways were tried with the simulators, whose sensors hear only a stick with the network and the address of the old one. None
was tried with a real stick. The new stick gets the channel, the identifiers and the key of the network, and the address of the old stick. Its frame
counter starts ahead of the old one, because sensors throw away frames with a counter that they have had.

- Lintel writes the address into a stick of Silicon Labs as a token that its firmware may refuse. It then says in one line that the firmware keeps its own
  address, and changes nothing.
- Link keys of single sensors move from \`zstack\` to \`zstack\` and \`ember\`, and from \`ember\` to \`ember\`. The simulators have none, so this was not tried. A sensor needs its link key only when
  it has lost the network. If its key did not move, pair it again.
- To \`zboss\`, \`zigate\` and \`zoh\` no network moves, and from them neither: zigbee-herdsman makes no copy there. \`ezsp\` takes over that of another stick of Silicon Labs. Lintel refuses, and
  says which types it takes. With \`lintel pair --new-network\` such a stick forms a new network, and all sensors must be paired again.
`;
}

function triedText(adapter: AdapterName | undefined): string {
  return adapter !== undefined && isMake(adapter) ? "its type, with a simulator" : "no";
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(", ");
}

function rows(of: readonly (readonly string[])[]): string {
  return of.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "..", sticksPage), sticksText());
