import { join } from "node:path";

/** Files that are mutated together, and the tests that must notice it: few and quick ones, because each mutant runs them. */
export interface Row {
  name: string;
  sources: string[];
  tests: { file: string; cases: string | undefined }[];
}

/** Rows that are asked for together, and have one score. */
export type Part = readonly Row[];

/**
 * A row: `row("scale", "drivers/scale", "s400 zone", "test/drivers/scale", "codecs")`. Of a large test file it may take some tests alone, by a pattern
 * that their names have, without blanks: `"conformance:SQLite.(pages|walks)"`.
 */
function row(name: string, folder: string, sources: string, testFolder: string, tests: string): Row {
  return {
    name,
    sources: sources.split(" ").map((file) => `${folder}/${file}.ts`),
    tests: tests.split(" ").map((test) => {
      const [file, cases] = test.split(":");
      return { file: join(testFolder, `${file}.test.ts`), cases };
    }),
  };
}

/** The parts by their names. */
export const parts: Readonly<Record<string, Part>> = {
  drivers: [
    row(
      "fields of frames",
      "drivers/wire",
      "byte-reader date-time heart-rate",
      "test/drivers/wire",
      "fields",
    ),
    row("framing", "drivers/wire", "crc hdlc lines", "test/drivers/wire", "hdlc"),
    row("properties", "drivers/wire", "properties", "test/drivers/wire", "properties"),
    row("AES-CCM", "drivers/wire", "aes-ccm", "test/drivers/bthome", "codecs"),
    row(
      "Bluetooth",
      "drivers/ble",
      "address advertising att gatt h4 hci l2cap uuid",
      "test/drivers/ble",
      "codecs packets",
    ),
    row(
      "Bluetooth security",
      "drivers/ble/security",
      "protocol toolbox",
      "test/drivers/ble",
      "security-toolbox security-protocol",
    ),
    row("BTHome", "drivers/bthome", "objects service-data", "test/drivers/bthome", "codecs objects"),
    row("scales", "drivers/scale", "s400 standard xiaomi", "test/drivers/scale", "codecs encodings"),
    row("time zones", "drivers/scale", "zone", "test/drivers/scale", "zone"),
    row("pill boxes", "drivers/pillbox", "protocol", "test/drivers/pillbox", "codecs"),
    row("watches", "drivers/watch", "health-log", "test/drivers/watch", "health-log"),
    row("thermometers", "drivers/vitals", "measurements", "test/drivers", "vitals-codecs"),
    row("Zigbee zones", "drivers/zigbee", "zone-status", "test/drivers/zigbee", "zone-status"),
  ],
  ingest: [
    row("stamper", "src/ingest", "stamper", "test", "time/stamper ingest/stamper-bounds"),
    row("validity", "src/ingest", "validity", "test/ingest", "validity"),
    row("pace", "src/ingest", "pace", "test/ingest", "pace"),
    row("notes", "src/ingest", "note-book", "test/ingest", "note-book"),
    row("admission", "src/ingest", "admission strangers", "test/ingest", "admission"),
    row("dating", "src/ingest", "dating", "test/ingest", "dating"),
    row("queue", "src/ingest", "ingest", "test/ingest", "ingest closing due-commits noting"),
    row(
      "who listens",
      "src/ingest",
      "keep-listening refusal-log",
      "test/ingest",
      "keep-listening refusal-log",
    ),
  ],
  transfer: [
    row(
      "batches",
      "src/sync",
      "batch-codec batch-frame batch-text",
      "test/sync/batch",
      "batch-codec refused-batches too-large",
    ),
    row("days", "src/sync/transfer", "days differing touched-days", "test/sync/transfer", "days"),
    row(
      "transfer",
      "src/sync/transfer",
      "transfer store-source",
      "test/sync/transfer",
      "transfer reports compare",
    ),
    row("comparison", "src/sync/transfer", "compare", "test/sync/transfer", "compare compare-steps"),
    row("central beside it", "src/sync/transfer", "store-target", "test/sync/transfer", "store-target"),
    row("central afar", "src/sync/transfer", "central-target", "test/sync/transfer", "central-target"),
    row("gateway afar", "src/sync/transfer", "gateway-source", "test/sync/transfer", "gateway-source"),
    row("gateway that is read", "src/sync/source", "source answers", "test/sync/source", "source"),
    row("state of pulls", "src/sync/pull", "pull-state", "test/sync/pull", "pull-state"),
    row(
      "pulls",
      "src/sync/pull",
      "pull gateway-client",
      "test/sync/pull",
      "kept hostile:a.gateway pull:states|backlog|restored|repaired|another.home",
    ),
    row("turns of pulls", "src/sync/pull", "pulling", "test/sync/pull", "turns"),
    row("what leaves a gateway", "src/sync/upload", "prune", "test/sync/upload", "prune-policy"),
    row("history", "src/sync", "restore", "test/sync", "restore"),
    row("uploads", "src/sync/upload", "upload", "test/sync/upload", "outcome prune:policy"),
    row("requests to central", "src/sync/upload", "central", "test/sync/upload", "central"),
    row(
      "received",
      "src/sync/receiver",
      "batches in-turn quota-refusals received-counts receiver",
      "test/sync/receiver",
      "batches routes",
    ),
    row("allowances", "src/sync/receiver", "home-allowances", "test/sync/receiver", "home-allowances"),
    row("turns", "src/sync/receiver", "admission-queue", "test/sync/receiver", "admission-queue places"),
  ],
  store: [
    row(
      "commits",
      "src/store/sqlite",
      "write series-tables stream-keys",
      "test/store/sqlite",
      "commits full-disk cursors device-offset ../upload/read-again ../upload/notes given-names write-ahead-log conformance:readings|add.up|learns|dry.run|breaks.off|second.import opening:closed erasures:takes.nothing",
    ),
    row(
      "counts",
      "src/store/core",
      "additions span-counts count-spans span-widths late",
      "test/store/sqlite",
      "counts recount arrivals central-conformance:SQLite.receiving|sealed.receiving",
    ),
    row(
      "numbers and digests",
      "src/store",
      "own-numbers reading-digest batch-acceptance core/series-rows",
      "test/store",
      "own-numbers reading-digest batch-acceptance series-rows",
    ),
    row("columns", "src/store", "batch batch-columns series-columns", "test/store", "batch"),
    row(
      "epochs and batches",
      "src/store",
      "sqlite/epochs sqlite/upload-reads sqlite/numbered-readings sqlite/batch-devices core/numbering",
      "test/store/upload",
      "../numbering devices days notes numbered lost read-again epochs:copy|nobody|numbers",
    ),
    row("blocks", "src/store", "sealed-block", "test/store", "sealed-block"),
    row(
      "pages",
      "src/store/core",
      "pages",
      "test/store/sqlite",
      "pages ranks:far.down conformance:SQLite.(marks|pages|walks.cross) central-conformance:central.on.SQLite.homes.that.an|the.middle.pages.*seed.1",
    ),
    row("ranks", "src/store/core", "ranks span-memory", "test/store/sqlite", "ranks pages:far.down"),
    row(
      "readings of runs",
      "src/store/core",
      "page-records readings oldest-first",
      "test/store",
      "numbering sqlite/run-readings sqlite/central-conformance:central.on.SQLite.homes.that.an|the.middle.(pages.*seed.1|all.readings|arrivals.tell)",
    ),
    row(
      "what comes back",
      "src/store/sqlite",
      "upload-write same-past",
      "test/store",
      "upload/taken-back upload/epochs upload/read-again sqlite/same-past upload/pruning:nothing",
    ),
    row(
      "batches at central",
      "src/store",
      "core/receive core/sources",
      "test/store",
      "numbering sqlite/central-conformance:central.on.SQLite.(receiving|refusing|nights|reports.(are.kept|of.an.epoch)) sqlite/erasures:takes.nothing",
    ),
    row("waiting facts", "src/store/sqlite", "time-keeper", "test/store/sqlite", "time-keeper device-offset"),
    row(
      "sealing",
      "src/store/core",
      "sealing sealed-blocks sealed-writes",
      "test/store/sqlite",
      "sealing sealed-blocks central-conformance:all.sealed.receiving|SQLite.sealing",
    ),
    row(
      "digests of days",
      "src/store",
      "core/digests core/day-digests",
      "test/store",
      "upload/digests sqlite/central-conformance:central.on.SQLite.(verifying.gives|homes.that.guess)",
    ),
    row(
      "repairs",
      "src/store/core",
      "repair",
      "test/store/sqlite",
      "central-conformance:central.on.SQLite.verifying|all.sealed.verifying.(finds.*(value|gone)|takes|leaves) erasures:takes.nothing repairs:several",
    ),
    row(
      "pruning",
      "src/store/sqlite",
      "pruning",
      "test/store",
      "upload/pruning:what|page|nothing|pause sqlite/arrivals:walk.goes.on",
    ),
    row(
      "arrivals",
      "src/store/core",
      "arrivals",
      "test/store",
      "numbering sqlite/arrivals sqlite/conformance:arrivals sqlite/central-conformance:SQLite.homes.that.an|the.middle.arrivals.(while.*1|keep|are|tell|do|have)",
    ),
    row(
      "streams and stays",
      "src/store/core",
      "stream-merge stays run",
      "test/store",
      "stays upload/pruning:mark sqlite/pages:far sqlite/conformance:provisional|marks sqlite/central-conformance:central.on.SQLite.homes|SQLite.reports.of.an.item|sealing.stays",
    ),
    row(
      "coverage",
      "src/store",
      "coverage cadence sqlite/coverage-keeper core/coverage-reads",
      "test",
      "store/coverage time/coverage store/upload/notes store/sqlite/conformance:without.any store/sqlite/central-conformance:central.on.SQLite.(coverage|reports.of.an.item)",
    ),
  ],
};
