import { expect, test } from "bun:test";
import type { UnifiedBackupStorage } from "zigbee-herdsman/dist/models/backup-storage-unified.js";
import { fromUnifiedBackup } from "zigbee-herdsman/dist/utils/backup.js";
import type { AdapterName } from "../../../drivers/zigbee/adapters.ts";
import { fittedBackup, frames_since_backup_max, movingAdapters } from "../../../drivers/zigbee/moving.ts";

const [coordinator, extendedPan] = ["00124b0021a8ec79", "dddddddd00112233"];
const turned = (hex: string) => Buffer.from(hex, "hex").reverse().toString("hex");
const hashed = "0f".repeat(16);

/** A backup with one device, as a stick of a make writes it. */
function backupOf(make: AdapterName): UnifiedBackupStorage {
  const isEmber = make === "ember";
  return {
    metadata: { format: "zigpy/open-coordinator-backup", version: 1, source: "", internal: { date: "" } },
    ...(isEmber && { stack_specific: { ezsp: { hashed_tclk: hashed } } }),
    coordinator_ieee: isEmber ? turned(coordinator) : coordinator,
    extended_pan_id: isEmber ? turned(extendedPan) : extendedPan,
    ...{ pan_id: "1a62", security_level: 5, nwk_update_id: 0, channel: 15 },
    channel_mask: isEmber ? [11, 15, 20] : [15],
    network_key: { key: "ab".repeat(16), sequence_number: 3, frame_counter: 500 },
    devices: [
      {
        ...{ nwk_address: "0102", ieee_address: "00158d0001020304", is_child: false },
        link_key: { key: "cd".repeat(16), rx_counter: 7, tx_counter: 8 },
      },
    ],
  };
}

const random = (bytes: number) => new Uint8Array(bytes).fill(0x77);
const pairs = movingAdapters.flatMap((from) => movingAdapters.map((to) => [from, to] as const));

test.each(pairs)("what a stick of %s wrote is a network of the same sensors for one of %s", (from, to) => {
  const fitted = fittedBackup(backupOf(from), { adapter: to, fromUnifiedBackup, random });
  const written = (hex: string) => (to === "ember" ? turned(hex) : hex);
  expect(fitted.coordinatorIeeeAddress.toString("hex")).toBe(written(coordinator));
  expect(fitted.networkOptions.extendedPanId.toString("hex")).toBe(written(extendedPan));
  expect([fitted.networkOptions.channelList, fitted.logicalChannel]).toEqual([[15], 15]);
  expect(fitted.networkOptions.networkKey.toString("hex")).toBe("ab".repeat(16));
  const { frameCounter, sequenceNumber } = fitted.networkKeyInfo;
  expect([frameCounter, sequenceNumber]).toEqual([500 + frames_since_backup_max, 3]);
  // Keys that ember writes are hashes, which only ember can take.
  const keys = fitted.devices.map(({ linkKey }) => linkKey?.key.toString("hex"));
  expect(keys).toEqual(from === "ember" && to !== "ember" ? [] : ["cd".repeat(16)]);
  const hash = fitted.ezsp?.hashed_tclk?.toString("hex");
  if (to === "ember") expect(hash).toBe(from === "ember" ? hashed : "77".repeat(16));
});
