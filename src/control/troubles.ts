import type { DriverStatus } from "../../drivers/driver.ts";
import { upload_late_ms } from "../config/upload-section.ts";
import { disk_low_bytes } from "../disk/free-bytes.ts";
import { day_ms } from "../durations.ts";
import { isHot, isPowerLow, isWorn, type MachineHealth } from "../machine-health.ts";

/** A fault of the gateway, and the remedy, a sentence each. */
export interface Trouble {
  readonly what: string;
  readonly remedy?: string;
  /** While it lasts nothing that is heard has a date. */
  readonly undated?: boolean;
}

/** Parts of a gateway as they are now, as far as somebody may have to mend them. */
export interface GatewayHealth {
  readonly now_ms: number;
  readonly clock_synchronised: boolean;
  /** Why the clock is not believed although it was set. */
  readonly clock_doubt?: { readonly what: string; readonly remedy: string } | undefined;
  readonly drivers: readonly ({ readonly name: string } & DriverStatus)[];
  /** Why readings cannot be written. */
  readonly problem?: string | undefined;
  readonly disk_free_bytes: number;
  readonly machine: MachineHealth;
  /** How uploads have ended; absent where there is nowhere to send to. */
  readonly upload?: {
    readonly since_ms: number;
    readonly uploaded_ms?: number;
    readonly failed_ms?: number;
    readonly failure?: string;
  };
}

/** Faults that somebody should mend at the box itself, worst first. */
export function troublesOf(gateway: GatewayHealth): Trouble[] {
  const { clock_synchronised, drivers, problem, disk_free_bytes } = gateway;
  return [
    ...(problem === undefined ? [] : [{ what: `Readings cannot be written: ${problem}.` }]),
    ...drivers.flatMap(({ name, problem }) =>
      problem === undefined ? [] : [{ what: `Nothing is heard by [${name}]: ${problem}.` }],
    ),
    ...(disk_free_bytes >= disk_low_bytes
      ? []
      : [
          {
            what: `The disk of the gateway is nearly full: ${Math.floor(disk_free_bytes / 2 ** 20)} MiB are free.`,
            remedy: "Have it upload, with keep_days in [upload], or put in a larger card.",
          },
        ]),
    ...machineTroubles(gateway),
    ...(clock_synchronised
      ? []
      : [
          gateway.clock_doubt
            ? { ...gateway.clock_doubt, undated: true }
            : {
                what: "The gateway does not know the time: what it hears is kept, and shown once it does.",
                remedy: "See that it reaches the internet, or a time server.",
                undated: true,
              },
        ]),
    ...uploadTroubles(gateway),
  ];
}

function machineTroubles({ machine, now_ms }: GatewayHealth): Trouble[] {
  const { disk = "The disk", temperature_c = 0 } = machine;
  return [
    ...(isPowerLow(machine, now_ms)
      ? [
          {
            what: "The power supply of the gateway is too weak.",
            remedy: "Use the one that is made for this Raspberry Pi, and a short cable.",
          },
        ]
      : []),
    ...(isHot(machine)
      ? [
          {
            what: `The gateway is ${Math.round(temperature_c)} °C hot, and slows itself down.`,
            remedy: "Put it where air comes to it, out of the sun and away from heating.",
          },
        ]
      : []),
    ...(isWorn(machine)
      ? [{ what: `${disk} is nearly worn out, as it says itself.`, remedy: "Make a backup, and replace it." }]
      : []),
  ];
}

function uploadTroubles({ upload, now_ms }: GatewayHealth): Trouble[] {
  if (upload === undefined) return [];
  const { since_ms, uploaded_ms, failed_ms = 0, failure } = upload;
  const late_ms = now_ms - Math.max(since_ms, uploaded_ms ?? 0);
  if (late_ms <= upload_late_ms) return [];
  const what = `Nothing has gone to central for ${Math.floor(late_ms / day_ms)} days`;
  return failure !== undefined && failed_ms > (uploaded_ms ?? 0)
    ? [{ what: `${what}: ${failure}.` }]
    : [{ what: `${what}.`, remedy: "See whether lintel-upload.timer runs." }];
}
