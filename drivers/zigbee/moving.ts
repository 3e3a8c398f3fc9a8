import type { Backup } from "zigbee-herdsman/dist/models/backup.js";
import type { UnifiedBackupStorage } from "zigbee-herdsman/dist/models/backup-storage-unified.js";
import { OperatorError } from "../../src/base/errors.ts";
import type { AdapterLine, AdapterName } from "./adapters.ts";
import type { Adapter } from "./arrivals.ts";
import { whenSet } from "./field-watch.ts";
import { isOfEmber } from "./network.ts";

/**
 * A backup is up to a day old, and the stick has sent frames since: link states alone are 5,760 a day. Devices throw away frames with a
 * counter that they have had. The counter has 32 bits, so 40,000 moves fit into it.
 */
export const frames_since_backup_max = 100_000;

/** The first version of EZSP whose adapter in zigbee-herdsman restores a backup; the version itself means nothing to it. */
const ezspVersion = 13;

interface Fitting {
  readonly adapter: AdapterName;
  readonly fromUnifiedBackup: (unified: UnifiedBackupStorage) => Backup;
  readonly random: (bytes: number) => Uint8Array;
}

/**
 * A backup that a stick of any make wrote, as zigbee-herdsman's adapter of this type restores it. The makes differ in it:
 *
 * - `ember` writes both addresses of 64 bits least significant byte first, and lists every channel;
 * - `ember` restores nothing without a trust centre's link key, which the other makes do not have: a random one, since no device uses it
 *   before it is let in again;
 * - link keys that `ember` writes for devices are hashes of the keys.
 */
export function fittedBackup(
  unified: UnifiedBackupStorage,
  { adapter, fromUnifiedBackup, random }: Fitting,
): Backup {
  const backup = fromUnifiedBackup(unified);
  const { networkOptions, networkKeyInfo, logicalChannel } = backup;
  const [ofEmber, toEmber] = [isOfEmber(unified), adapter === "ember"];
  const turned = (address: Buffer) => (ofEmber === toEmber ? address : Buffer.from(address).reverse());
  const hashed_tclk = backup.ezsp?.hashed_tclk ?? Buffer.from(random(16));
  return {
    ...backup,
    networkOptions: {
      ...networkOptions,
      extendedPanId: turned(networkOptions.extendedPanId),
      channelList: [logicalChannel],
    },
    coordinatorIeeeAddress: turned(backup.coordinatorIeeeAddress),
    networkKeyInfo: {
      ...networkKeyInfo,
      frameCounter: networkKeyInfo.frameCounter + frames_since_backup_max,
    },
    devices: toEmber || !ofEmber ? backup.devices : [],
    ...(toEmber && { ezsp: { version: ezspVersion, hashed_tclk } }),
  };
}

/** Types of adapters that take over the network of any other of them. */
export const movingAdapters: readonly AdapterName[] = ["zstack", "ember", "deconz"];

/** Whether an adapter of this type can take over a network by this backup. zboss, zigate and zoh make and restore none. */
export function canRestore(adapter: AdapterName, backup: UnifiedBackupStorage): boolean {
  return movingAdapters.includes(adapter) || (adapter === "ezsp" && isOfEmber(backup));
}

/** The fault of an adapter whose type takes over no network. */
export function otherTypeFault({ port, adapter }: AdapterLine): OperatorError {
  return new OperatorError(
    `the Zigbee adapter ${port} is of the type ${adapter}, to which the network of another adapter cannot move`,
    `put in one of the type ${movingAdapters.join(", ")}, or have this one form a new network, with which all its sensors must be paired again: \`lintel pair --new-network\``,
  );
}

type Owner = Record<string, unknown>;

/** Has an adapter find this backup instead of the one that it reads itself. To be called before the adapter starts. Checked against zigbee-herdsman 10.9.5. */
export function offerBackup(made: Adapter, adapter: AdapterName, backup: Backup): void {
  const owner = made as unknown as Owner;
  if (adapter === "ember") owner["getStoredBackup"] = () => backup;
  if (adapter === "deconz") offerToDeconz(owner["driver"] as DeconzBackup, backup);
  if (adapter === "zstack")
    whenSet(owner, "adapterManager", (manager) => {
      ((manager as Owner)["backup"] as Owner)["getStoredBackup"] = () => backup;
    });
}

/** The part of zigbee-herdsman's driver of deCONZ that restores a backup. */
interface DeconzBackup {
  backup: Backup;
  /** Whether the frame counter of the backup is written into the stick. */
  configIsNewNetwork: boolean;
  readonly paramMacAddress: bigint;
  reconfigureNetwork: () => Promise<void>;
}

/** It takes the frame counter of a backup only where the network alone differs, and in a new stick the endpoints differ too. */
function offerToDeconz(driver: DeconzBackup, backup: Backup): void {
  driver.backup = backup;
  const reconfigure = driver.reconfigureNetwork.bind(driver);
  driver.reconfigureNetwork = () => {
    if (driver.paramMacAddress !== backup.coordinatorIeeeAddress.readBigUInt64BE())
      driver.configIsNewNetwork = true;
    return reconfigure();
  };
}

/** The part of zigbee-herdsman's EZSP that sets the address of a stick. */
interface EzspAddress {
  ezspGetEui64(): Promise<string>;
  ezspSetTokenData(token: number, index: number, data: { size: number; data: Buffer }): Promise<number>;
  ezspFormNetwork(parameters: unknown): Promise<unknown>;
}

/** NVM3KEY_STACK_RESTORED_EUI64 of Silicon Labs: the address that a stick has instead of its own from its next reset on. */
const restoredAddress = 0x1_e12a;

/**
 * Has a stick of Silicon Labs take over the address of the stick before it, when it forms the network of a backup: sensors send to the address
 * with which they were paired. The other makes do that by themselves. `written` is called once the stick has the address, and needs a reset;
 * `refused` where it kept its own. Both throw, or the network is formed with the stick's own address.
 *
 * @param isSecond whether the stick was told the address before
 */
export function takeOverAddress(
  made: Adapter,
  { coordinatorIeeeAddress }: Backup,
  { isSecond, written, refused }: { isSecond: boolean; written: () => void; refused: () => void },
): void {
  whenSet(made, "ezsp", (found) => {
    const ezsp = found as EzspAddress;
    const form = ezsp.ezspFormNetwork.bind(ezsp);
    ezsp.ezspFormNetwork = async (parameters) => {
      // zigbee-herdsman's backup for this make has it least significant byte first, as the token has.
      const wanted = `0x${Buffer.from(coordinatorIeeeAddress).reverse().toString("hex")}`;
      if ((await ezsp.ezspGetEui64()) !== wanted) {
        const token = { size: 8, data: Buffer.from(coordinatorIeeeAddress) };
        const status = isSecond ? undefined : await ezsp.ezspSetTokenData(restoredAddress, 0, token);
        if (status === 0) written();
        else refused();
      }
      return form(parameters);
    };
  });
}

/** The fault of a stick that kept its own address. */
export function ownAddressFault(port: string): OperatorError {
  return new OperatorError(
    `the firmware of the Zigbee adapter ${port} does not let it take over the address of the one before, to which the sensors send`,
    "put in another adapter, write EmberZNet 7.4 or later onto this one, or have it form a new network, with which all its sensors must be paired again: `lintel pair --new-network`",
  );
}
