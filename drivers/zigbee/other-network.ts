import type { Ezsp } from "zigbee-herdsman/dist/adapter/ember/ezsp/ezsp.js";
import type { ZnpAdapterManager } from "zigbee-herdsman/dist/adapter/z-stack/adapter/manager.js";
import { OperatorError } from "../../src/base/errors.ts";
import type { Adapter } from "./arrivals.ts";
import { whenSet } from "./field-watch.ts";

type Owner = Record<string, unknown>;

/**
 * Steps of zigbee-herdsman's adapters that end the network which a stick holds, by the name of the adapter, and how what it holds is
 * found. Each is taken only where that is another network than the configured one, but for Z-Stack's, which a stick without any takes
 * too, and deCONZ's, which any other setting leads to. zigate overwrites the settings without reading them first. Checked
 * against zigbee-herdsman 10.9.5.
 */
const lastSteps: Readonly<
  Record<
    string,
    {
      owner: readonly string[];
      method: string;
      held?: (owner: Owner, given: unknown) => Promise<string | undefined>;
    }
  >
> = {
  zstack: { owner: ["adapterManager"], method: "beginCommissioning", held: heldByZnp },
  ember: { owner: ["ezsp"], method: "ezspLeaveNetwork", held: heldByEmber },
  deconz: { owner: ["driver"], method: "reconfigureNetwork", held: heldByDeconz },
  ezsp: { owner: ["driver", "ezsp"], method: "leaveNetwork" },
  zboss: { owner: ["driver"], method: "reset" },
  zoh: { owner: ["driver"], method: "resetNetwork" },
};

/**
 * Calls `ask`, which throws to refuse, before the adapter gives up the network that it holds (` (channel …)`, or nothing
 * where that is not known). To be called before the adapter starts: zigbee-herdsman decides in the middle of its start.
 */
export function askBeforeLeavingNetwork(adapter: Adapter, kind: string, ask: (held: string) => void): void {
  const step = lastSteps[kind];
  if (step === undefined) return;
  followPath(adapter, step.owner, (owner) => {
    const take = owner[step.method] as (...given: unknown[]) => Promise<unknown>;
    owner[step.method] = async (...given: unknown[]) => {
      const held = step.held === undefined ? "" : await step.held(owner, given[0]);
      if (held !== undefined) ask(held);
      return take.apply(owner, given);
    };
  });
}

/** The refusal, in one line. */
export function otherNetworkFault(port: string, held: string): OperatorError {
  return new OperatorError(
    `the Zigbee adapter ${port} holds another network${held}, and there are no files of it here`,
    "bring them with `lintel restore`, put in another adapter, or have this one form a new network, with which all its sensors must be paired again: `lintel pair --new-network`",
  );
}

/** Items of Z-Stack's memory: the mark that a host has set the stick up, since 3.0 and before, and what its network is. */
const nvItem = { configured: 0x0060, configuredZStack12: 0x0f00, nib: 0x0021 } as const;
/** The product number of Z-Stack 1.2. */
const zStack12 = 0;
const noPanId = 0xffff;

/**
 * The network that a Z-Stack stick holds, for people; undefined where it holds none, or where the step is no end of it: a
 * restore begins with a network that is given up again, and that of Z-Stack 1.2 with the one of the backup.
 */
async function heldByZnp(owner: Owner, network: unknown): Promise<string | undefined> {
  const manager = owner as unknown as ZnpAdapterManager;
  if (network !== manager["nwkOptions"]) return undefined;
  const old = Number(manager["options"].version) === zStack12;
  if (old && manager.backup.getStoredBackup() !== undefined) return undefined;
  const Structs = await import("zigbee-herdsman/dist/adapter/z-stack/structs/index.js");
  const mark = old ? nvItem.configuredZStack12 : nvItem.configured;
  const configured = await manager.nv.readItem(mark, 0, Structs.hasConfigured);
  const nib = await manager.nv.readItem(nvItem.nib, 0, Structs.nib);
  if (!configured?.isConfigured() || !nib || nib.nwkPanId === noPanId) return undefined;
  return networkText(nib.nwkLogicalChannel, nib.nwkPanId);
}

async function heldByEmber(owner: Owner): Promise<string> {
  const [status, , { radioChannel, panId }] = await (owner as unknown as Ezsp).ezspGetNetworkParameters();
  return status === 0 ? networkText(radioChannel, panId) : "";
}

/** Settings that zigbee-herdsman's driver has read from the stick, and those of the configured network. */
interface DeconzSettings {
  readonly paramCurrentChannel: number;
  readonly paramNwkPanid: number;
  readonly paramNwkKey: Uint8Array;
  /** 0n on a stick that no host but deCONZ itself has set up. */
  readonly paramApsUseExtPanid: bigint;
  readonly networkOptions: { readonly panID: number; readonly networkKey?: readonly number[] };
}

async function heldByDeconz(owner: Owner): Promise<string | undefined> {
  const { paramCurrentChannel, paramNwkPanid, paramNwkKey, paramApsUseExtPanid, networkOptions } =
    owner as unknown as DeconzSettings;
  const same =
    paramNwkPanid === networkOptions.panID &&
    Buffer.from(paramNwkKey).equals(Buffer.from(networkOptions.networkKey ?? []));
  if (same || paramApsUseExtPanid === 0n) return undefined;
  return networkText(paramCurrentChannel, paramNwkPanid);
}

function networkText(channel: number, pan_id: number): string {
  return ` (channel ${channel}, PAN 0x${pan_id.toString(16).padStart(4, "0")})`;
}

/** Calls `found` with the object at the end of a path of fields, now or as soon as zigbee-herdsman puts it there. */
function followPath(owner: object, [field, ...rest]: readonly string[], found: (end: Owner) => void): void {
  if (field === undefined) found(owner as Owner);
  else whenSet(owner, field, (value) => followPath(value as object, rest, found));
}
