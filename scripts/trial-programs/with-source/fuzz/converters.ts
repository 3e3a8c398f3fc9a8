/**
 * Every definition of zigbee-herdsman-converters as an oracle: what Lintel records of its messages is what it returns.
 *
 *   ./scripts/trials fuzz converters [--every 1] [--names]
 *
 * Messages are made of the clusters, commands and data points that its converters take. Prints how many definitions agree, and of
 * the others why there was nothing to compare; --names prints which they are. Exits with 1 when one differs.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RecordingHost } from "../../../../testbed/recording-host.ts";
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { allDefinitions, consult, type Verdict } from "./converter-oracle.ts";

const { every, names: named } = optionsOf("./scripts/trials fuzz converters [--every 1] [--names]", {
  every: 1,
  names: false,
});
const directory = mkdtempSync(join(tmpdir(), "lintel-converters-"));
const host = new RecordingHost({ directory });
// What a device tells by chance may be refused.
host.onRefused = () => {};
const definitions = allDefinitions();
const names = new Map<Verdict, string[]>([["differs", []]]);
const began_ms = performance.now();
let messages = 0;
let answered = 0;
for (let index = 0; index < definitions.length; index += every) {
  const definition = definitions[index];
  if (definition === undefined) break;
  const finding = await consult(host, definition, index);
  names.set(finding.verdict, [...(names.get(finding.verdict) ?? []), finding.name]);
  messages += finding.messages;
  answered += finding.answered;
  if (finding.difference !== undefined) console.error(`${index} ${finding.name}: ${finding.difference}`);
  if (process.stdout.isTTY) process.stdout.write(`\r${Math.floor((100 * index) / definitions.length)} %`);
}
rmSync(directory, { recursive: true, force: true });
const differing = names.get("differs") ?? [];
const seconds = (performance.now() - began_ms) / 1000;
if (process.stdout.isTTY) process.stdout.write("\r");
for (const [verdict, models] of names)
  if (named && models.length > 0 && verdict !== "agrees") console.log(`${verdict}: ${models.join(", ")}`);
console.log(
  figuresText({
    definitions: Math.ceil(definitions.length / every),
    "messages made for them": messages,
    "of them answered": answered,
    seconds,
    ...Object.fromEntries([...names].map(([verdict, models]) => [`definitions: ${verdict}`, models.length])),
  }),
);
process.exit(differing.length > 0 ? 1 : 0);
