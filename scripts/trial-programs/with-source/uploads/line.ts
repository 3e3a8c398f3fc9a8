/**
 * Uploads 1,000,000 readings through a line that fails while both ends are killed: each arrives exactly once
 *
 *   ./scripts/trials uploads line [--readings 1000000] [--faults 1000] [--seed N] [--database postgres]
 *
 * A home's gateway numbers half of the readings before the first upload and the rest beside those that follow. A proxy on raw sockets cuts, resets,
 * stalls, truncates and repeats at random bytes in either direction; uploader, central and, with --database postgres, PostgreSQL are killed
 * at random. At the end the digests of every day must be the same on both sides. Exits with 1 when they are not.
 */
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { runTrial } from "./upload-trial.ts";

const {
  readings,
  faults: faults_wanted,
  seed,
  database: kept,
} = optionsOf(
  "./scripts/trials uploads line [--readings 1000000] [--faults 1000] [--seed N] [--database sqlite|postgres]",
  { readings: 1_000_000, faults: 1_000, seed: Date.now() % 1_000_000, database: "sqlite" },
);
const progress_ms = 10_000;
console.log(`seed ${seed}: ${readings} readings, ${faults_wanted} faults, central on ${kept}`);

const database = kept === "postgres" ? await postgres() : undefined;
const started = performance.now();
let said = started;
try {
  const { here, there, rows, faults, ended } = await runTrial({
    readings,
    faults: faults_wanted,
    seed,
    ...(database === undefined ? {} : { database }),
    onProgress: (progress) => {
      if (performance.now() - said < progress_ms) return;
      said = performance.now();
      const { appended, confirmed, runs } = progress;
      console.log(
        `${elapsed_s()} s: ${appended} readings, ${confirmed} confirmed, ${progress.faults} faults, ${runs} uploads`,
      );
    },
  });
  console.log(
    figuresText({
      "readings at the gateway": here.readings,
      "on days of items": here.days,
      "faults of the line, and kills": listed(faults),
      uploads: listed(ended),
      seconds: elapsed_s(),
      "readings at central": there.readings,
      "rows in all": rows,
      "digests of all days": here.hash === there.hash ? "the same" : `${here.hash} and ${there.hash}`,
    }),
  );
  const equal = here.hash === there.hash && here.readings === rows && rows === readings;
  console.log(
    equal ? `upload: every reading arrived exactly once, in ${elapsed_s()} s` : "upload: the sides differ",
  );
  process.exitCode = equal ? 0 : 1;
} catch (thrown) {
  console.error(thrown);
  console.error(`upload: failed; ./scripts/trials uploads line --seed ${seed} begins with the same numbers`);
  process.exitCode = 1;
}
process.exit();

async function postgres(): Promise<{ url: string; restart: () => void }> {
  const { ownServer } = await import("../../../../testbed/postgres/own-server.ts");
  const server = await ownServer();
  const { url } = await server.database();
  return {
    url,
    restart: () => {
      server.stop("immediate");
      server.start();
    },
  };
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${name} ${count}`).join(", ");
}

function elapsed_s(): string {
  return ((performance.now() - started) / 1000).toFixed(0);
}
