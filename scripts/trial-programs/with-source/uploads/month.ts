/**
 * Counts the bytes that a month of nightly uploads takes on the wire: a home as the demo's, by TLS
 *
 *   ./scripts/trials uploads month [--nights 30]
 *
 * `lintel upload` runs once for each night, with a connection of its own. A line between it and central counts what goes through. The box of this trial has no radio, so it reports no links of sensors. Exits with 1 where central lacks a reading.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../../src/base/clock.ts";
import { day_ms } from "../../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../../src/demo/history.ts";
import { outagesBefore } from "../../../../src/demo/outages.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import { keptLog } from "../../../../testbed/sample.ts";
import { CentralProcess, spawnLintel } from "../../../../testbed/uploader-processes.ts";
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { countingLine, onWire_bytes } from "./counting-line.ts";

const { nights } = optionsOf("./scripts/trials uploads month [--nights 30]", { nights: 30 });
const directory = mkdtempSync(join(tmpdir(), "lintel-month-"));
const [data, config, tokenFile] = ["gateway", "lintel.toml", "token"].map((name) =>
  join(directory, name),
) as [string, string, string];
const place = { directory: join(directory, "central") };
const central = await CentralProcess.start(place, directory, ["--tls", "self-signed"]);
writeFileSync(tokenFile, await central.token(1), { mode: 0o600 });
const line = await countingLine(central.port);
const { sent } = line;
writeFileSync(
  config,
  `data = "${data}"\n[upload]\nurl = "https://127.0.0.1:${line.port}"\ntoken_file = "${tokenFile}"\ncertificate = "${place.directory}/tls-certificate.pem"\nbytes_per_second = 1_000_000_000\n`,
);

const first_ms = Math.floor(Date.now() / day_ms - nights - 1) * day_ms;
const telling = new Telling(1, outagesBefore(first_ms + (nights + 1) * day_ms));
const store = await openGatewayStore({
  ...{ directory: data, clock: new SystemClock(), log: keptLog("error").log, home: 1 },
});
let readings = 0;
let confirmed = 0;
for (const midnight_ms of midnightsOf(first_ms, first_ms + nights * day_ms).slice(0, nights)) {
  const told = telling.day(midnight_ms).readings.toSorted((one, other) => one.stamp_ms - other.stamp_ms);
  await store.append(told);
  readings += told.length;
  const upload = spawnLintel(["upload", "--config", config, "--json"], directory);
  const [out, said] = await Promise.all([upload.rest(), upload.said()]);
  if ((await upload.exited) !== 0) throw new Error(said);
  confirmed = JSON.parse(out).confirmed_seq;
}
await store.close();
await central.kill();
line.stop();
rmSync(directory, { recursive: true, force: true });
const month = 30 / nights;
console.log(
  figuresText({
    nights,
    readings,
    "connections a night": sent.connections / nights,
    "kB to central a night": sent.up / nights / 1_000,
    "kB from central a night": sent.down / nights / 1_000,
    "MB a month of 30 nights, with IP and TCP": (onWire_bytes(sent) * month) / 1e6,
    "readings that central lacks": readings - confirmed,
  }),
);
process.exit(confirmed === readings ? 0 : 1);
