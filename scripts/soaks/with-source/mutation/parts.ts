/** Files that are mutated together, and the tests that must notice it: few and quick ones, because each mutant runs them. */
export interface Row {
  name: string;
  sources: string[];
  tests: string[];
}

/** Rows that are asked for together, and have one score. */
export type Part = readonly Row[];

/** A row: `row("scale", "drivers/scale", "s400 zone", "test/drivers/scale", "codecs")`. */
function row(name: string, folder: string, sources: string, testFolder: string, tests: string): Row {
  return {
    name,
    sources: sources.split(" ").map((file) => `${folder}/${file}.ts`),
    tests: tests.split(" ").map((file) => `${testFolder}/${file}.test.ts`),
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
  ],
  transfer: [
    row("turns", "src/sync/receiver", "admission-queue", "test/sync/receiver", "admission-queue places"),
  ],
};
