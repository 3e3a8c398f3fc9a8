/**
 * Counts the bytes that a month of nightly uploads takes on the wire: a home as the demo's, by TLS
 *
 *   ./scripts/trials uploads month [--nights 30]
 *
 * `lintel upload` runs once for each night, with a connection of its own. A line between it and central counts what goes through. A packet of 1,400
 * bytes has 52 bytes of IP and TCP besides. The box of this trial has no radio, so it reports no links of sensors. Exits with 1 where central lacks a reading.
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

const { nights } = optionsOf("./scripts/trials uploads month [--nights 30]", { nights: 30 });
const directory = mkdtempSync(join(tmpdir(), "lintel-month-"));
const [data, config, tokenFile] = ["gateway", "lintel.toml", "token"].map((name) =>
  join(directory, name),
) as [string, string, string];
const place = { directory: join(directory, "central") };
const central = await CentralProcess.start(place, directory, ["--tls", "self-signed"]);
writeFileSync(tokenFile, await central.token(1), { mode: 0o600 });
const sent = { up: 0, down: 0, connections: 0 };
const line = countingLine(central.port);
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
const payload_bytes = sent.up + sent.down;
const month = 30 / nights;
console.log(
  figuresText({
    nights,
    readings,
    "connections a night": sent.connections / nights,
    "kB to central a night": sent.up / nights / 1_000,
    "kB from central a night": sent.down / nights / 1_000,
    "MB a month of 30 nights, with IP and TCP": (payload_bytes * month * (1 + header_share())) / 1e6,
    "readings that central lacks": readings - confirmed,
  }),
);
process.exit(confirmed === readings ? 0 : 1);

/** Headers of IP and TCP beside the bytes that these carry, acknowledgements included. */
function header_share(): number {
  return (2 * 52) / 1_400;
}

/** A line to a port of this machine that counts what goes through. */
function countingLine(port: number) {
  type Ends = { other?: Bun.Socket<Ends>; waiting: Uint8Array[] };
  const pass = (direction: "up" | "down", socket: Bun.Socket<Ends>, bytes: Uint8Array) => {
    sent[direction] += bytes.length;
    const { other, waiting } = socket.data;
    if (other === undefined) waiting.push(new Uint8Array(bytes));
    else other.write(bytes);
  };
  return Bun.listen<Ends>({
    ...{ hostname: "127.0.0.1", port: 0 },
    socket: {
      async open(socket) {
        sent.connections += 1;
        socket.data = { waiting: [] };
        const other = await Bun.connect<Ends>({
          ...{ hostname: "127.0.0.1", port, data: { other: socket, waiting: [] } },
          socket: {
            data: (from, bytes) => pass("down", from, bytes),
            close: () => void socket.end(),
          },
        });
        socket.data.other = other;
        for (const bytes of socket.data.waiting.splice(0)) other.write(bytes);
      },
      data: (socket, bytes) => pass("up", socket, bytes),
      close: (socket) => void socket.data.other?.end(),
    },
  });
}
