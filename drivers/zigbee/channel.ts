import type { Controller } from "zigbee-herdsman";
import type { Clock } from "../../src/base/clock.ts";
import type { AdapterName } from "./adapters.ts";

/** In the gaps between, and at the edges of, the Wi-Fi channels 1, 6 and 11. */
export const channels = [11, 15, 20, 25] as const;

/** Energy on each of the channels 11 to 26: 0 to 255, louder above. Only values of one stick can be compared. */
export type Energies = readonly number[];

const all = Array.from({ length: 16 }, (_, index) => index + 11);
/** Many devices send on channel 26 with less power, or not at all. */
const usable = all.filter((channel) => channel < 26);
/** One measurement may differ from the next by so much. */
const chance_energy = 10;
/** So much quieter than the best gap between Wi-Fi channels must another channel be to be taken. */
const clear_energy = 60;

/** The channel for a network that can still choose, which has `present` by now. */
export function quietestChannel(energies: Energies, present: number): number {
  const energyOn = (channel: number) => energies[channel - 11] ?? 255;
  const least = (of: readonly number[]) =>
    of.reduce((best, one) => (energyOn(one) < energyOn(best) ? one : best), of[0] ?? present);
  const [gap, any] = [least(channels), least(usable)];
  const best = energyOn(any) + clear_energy < energyOn(gap) ? any : gap;
  return energyOn(best) + chance_energy < energyOn(present) ? best : present;
}

/** 2^4 + 1 periods of 15.36 ms on each channel: four seconds on all of them, in which the stick hears no device. */
const scanDuration = 4;
const scan_max_ms = 15_000;

/** Has the stick measure all channels while its network runs. Rejects where it cannot. */
export function measureEnergies(
  controller: Controller,
  adapter: AdapterName,
  clock: Clock,
): Promise<Energies> {
  return adapter === "ember"
    ? measuredByEzsp((controller["adapter"] as unknown as { ezsp: EzspScanning }).ezsp, clock)
    : measuredByZdo(controller);
}

/** Zigbee specification 2.4: profile of the device objects, cluster of Mgmt_NWK_Update_req. */
const zdoProfile = 0x0000;
const updateRequest = 0x0038;

/** Asks the stick as any device of the network can be asked. */
async function measuredByZdo(controller: Controller): Promise<Energies> {
  const stick = controller.getDevicesByType("Coordinator")[0];
  if (stick === undefined) throw new Error("it does not know itself");
  const [status, found] = (await controller.sendRaw({
    ieeeAddress: stick.ieeeAddr,
    networkAddress: stick.networkAddress,
    profileId: zdoProfile,
    clusterKey: updateRequest,
    zdoParams: [all, scanDuration, 1],
  })) as unknown as readonly [number, { readonly entryList: readonly number[] }?];
  if (status !== 0 || found?.entryList.length !== all.length) throw new Error(`status ${status}`);
  return found.entryList;
}

/** The part of zigbee-herdsman's EZSP that scans; it logs what the callbacks tell, and no more. Checked against zigbee-herdsman 10.9.5. */
interface EzspScanning {
  ezspStartScan(kind: number, channels: number, duration: number): Promise<number>;
  ezspEnergyScanResultHandler?(channel: number, rssi_dbm: number): void;
  ezspScanCompleteHandler?(channel: number, status: number): void;
}

const energyScan = 0;
/** The energies 0 and 255. */
const [least_dbm, most_dbm] = [-100, -25];

/** EmberZNet does not ask itself over the air: its host has a command for it. */
async function measuredByEzsp(ezsp: EzspScanning, clock: Clock): Promise<Energies> {
  const energies = all.map(() => 255);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const cancel = clock.after(scan_max_ms, () => reject(new Error("no end of the scan")));
  ezsp.ezspEnergyScanResultHandler = (channel, rssi_dbm) => {
    const share = (rssi_dbm - least_dbm) / (most_dbm - least_dbm);
    energies[channel - 11] = Math.round(255 * Math.min(1, Math.max(0, share)));
  };
  ezsp.ezspScanCompleteHandler = () => resolve();
  try {
    const mask = all.reduce((bits, channel) => bits | (1 << channel), 0);
    const status = await ezsp.ezspStartScan(energyScan, mask, scanDuration);
    if (status !== 0) throw new Error(`status ${status}`);
    await promise;
    return energies;
  } finally {
    cancel();
    // Those of its class again.
    delete ezsp.ezspEnergyScanResultHandler;
    delete ezsp.ezspScanCompleteHandler;
  }
}
