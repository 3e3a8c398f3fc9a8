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
    row("stamper", "src/gateway/ingest", "stamper", "test", "time/stamper ingest/stamper-bounds"),
    row("validity", "src/gateway/ingest", "validity", "test/gateway/ingest", "validity"),
    row("pace", "src/gateway/ingest", "pace", "test/gateway/ingest", "pace"),
    row("notes", "src/gateway/ingest", "note-book", "test/gateway/ingest", "note-book"),
    row("admission", "src/gateway/ingest", "admission strangers", "test/gateway/ingest", "admission"),
    row("dating", "src/gateway/ingest", "dating", "test/gateway/ingest", "dating"),
    row("queue", "src/gateway/ingest", "ingest", "test/gateway/ingest", "ingest closing due-commits noting"),
    row(
      "who listens",
      "src/gateway/ingest",
      "keep-listening refusal-log",
      "test/gateway/ingest",
      "keep-listening refusal-log",
    ),
  ],
  transfer: [
    row(
      "batches",
      "src/sync",
      "batch-codec batch-frame batch-text",
      "test/transfer/batch",
      "batch-codec refused-batches too-large",
    ),
    row("days", "src/sync/transfer", "days differing touched-days", "test/transfer", "days"),
    row(
      "transfer",
      "src/sync/transfer",
      "transfer store-source",
      "test/transfer",
      "transfer reports compare",
    ),
    row("comparison", "src/sync/transfer", "compare", "test/transfer", "compare compare-steps"),
    row("central beside it", "src/sync/transfer", "store-target", "test/transfer", "store-target"),
    row("central afar", "src/sync/transfer", "central-target", "test/transfer", "central-target"),
    row("gateway afar", "src/sync/transfer", "gateway-source", "test/transfer", "gateway-source"),
    row("gateway that is read", "src/gateway", "source answers", "test/gateway/pulled", "source"),
    row("state of pulls", "src/central/pull", "pull-state", "test/central/pull", "pull-state"),
    row(
      "pulls",
      "src/central/pull",
      "pull gateway-client",
      "test/central/pull",
      "kept hostile:a.gateway pull:states|backlog|restored|repaired|another.home",
    ),
    row("turns of pulls", "src/central/pull", "pulling", "test/central/pull", "turns"),
    row("what leaves a gateway", "src/sync/upload", "prune", "test/gateway/uploader", "prune-policy"),
    row("history", "src/sync", "restore", "test/sync", "restore"),
    row("uploads", "src/sync/upload", "upload", "test/gateway/uploader", "outcome prune:policy"),
    row("requests to central", "src/sync/upload", "central", "test/gateway/uploader", "central"),
    row(
      "received",
      "src/central/receiver",
      "batches in-turn quota-refusals received-counts receiver",
      "test/central/receiver",
      "batches routes",
    ),
    row("allowances", "src/central/receiver", "home-allowances", "test/central/receiver", "home-allowances"),
    row(
      "turns",
      "src/central/receiver",
      "admission-queue",
      "test/central/receiver",
      "admission-queue places",
    ),
  ],
  store: [
    row(
      "commits",
      "src/store",
      "write series-tables stream-keys",
      "test/store/sqlite",
      "commits full-disk cursors device-offset ../upload/read-again ../upload/notes given-names write-ahead-log conformance:readings|add.up|learns|dry.run|breaks.off|second.import opening:closed erasures:takes.nothing",
    ),
    row(
      "counts",
      "src/store",
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
      "src/store",
      "pages",
      "test/store/sqlite",
      "pages ranks:far.down conformance:SQLite.(marks|pages|walks.cross) central-conformance:central.on.SQLite.homes.that.an|the.middle.pages.*seed.1",
    ),
    row("ranks", "src/store", "ranks span-memory", "test/store/sqlite", "ranks pages:far.down"),
    row(
      "readings of runs",
      "src/store",
      "page-records readings oldest-first",
      "test/store",
      "numbering sqlite/run-readings sqlite/central-conformance:central.on.SQLite.homes.that.an|the.middle.(pages.*seed.1|all.readings|arrivals.tell)",
    ),
    row(
      "what comes back",
      "src/store",
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
    row("waiting facts", "src/store", "time-keeper", "test/store/sqlite", "time-keeper device-offset"),
    row(
      "sealing",
      "src/store",
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
      "src/store",
      "repair",
      "test/store/sqlite",
      "central-conformance:central.on.SQLite.verifying|all.sealed.verifying.(finds.*(value|gone)|takes|leaves) erasures:takes.nothing repairs:several",
    ),
    row(
      "pruning",
      "src/store",
      "pruning",
      "test/store",
      "upload/pruning:what|page|nothing|pause sqlite/arrivals:walk.goes.on",
    ),
    row(
      "arrivals",
      "src/store",
      "arrivals",
      "test/store",
      "numbering sqlite/arrivals sqlite/conformance:arrivals sqlite/central-conformance:SQLite.homes.that.an|the.middle.arrivals.(while.*1|keep|are|tell|do|have)",
    ),
    row(
      "streams and stays",
      "src/store",
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
