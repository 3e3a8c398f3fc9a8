import type { Controller } from "zigbee-herdsman";
import type { Clock } from "../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { channelText, type MeshChannel } from "../../src/domain/mesh.ts";
import type { Session } from "../wire/reconnect.ts";
import { type AdapterLine, lineSettings } from "./adapters.ts";
import { type Adapter, Arrivals } from "./arrivals.ts";
import { measureEnergies, quietestChannel } from "./channel.ts";
import { DeconzGuard } from "./deconz.ts";
import { deafFault, requirePort, startFault, unpluggedFault } from "./faults.ts";
import { whenSet } from "./field-watch.ts";
import type { NetworkFiles } from "./files.ts";
import type { HerdsmanLog } from "./herdsman-log.ts";
import { deviceForgetter, releaseLeftovers, surviveErrors } from "./leftovers.ts";
import {
  canRestore,
  fittedBackup,
  offerBackup,
  otherTypeFault,
  ownAddressFault,
  takeOverAddress,
} from "./moving.ts";
import type { Network } from "./network.ts";
import { askBeforeLeavingNetwork, otherNetworkFault } from "./other-network.ts";
import { findEveryFrame } from "./parser.ts";
import { storeNoReadings } from "./stored-devices.ts";

/** A coordinator at work. */
export interface Radio extends Session {
  readonly controller: Controller;
  readonly network: Network;
  readonly channel: MeshChannel;
}

export interface RadioOptions extends AdapterLine {
  readonly files: NetworkFiles;
  readonly herdsmanLog: HerdsmanLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly dropped: (what: string, count: number) => void;
  readonly random: (bytes: number) => Uint8Array;
  /** Is given the controller before it starts, to listen to its events. */
  readonly follow: (controller: Controller, arrivals: Arrivals) => void;
  /** Is given the controller once it has started, before the messages are handed on that came meanwhile. */
  readonly prepare: (controller: Controller) => Promise<void>;
  /** Throws the fault unless the adapter may give up the network that it holds, which is not that of `files`, or the sensors of the network of `files`. */
  readonly requireLeave: (fault: OperatorError) => void;
}

/** A quiet coordinator is asked this often whether it still answers, and given up after so many failures. */
export const probe_interval_ms = 60_000;
const probeFailures_max = 2;
/** Longest time for closing before everything is cut off. */
const close_max_ms = 3_000;
/** A serial server takes a moment to notice that a connection was closed. */
const reopen_ms = 1_000;

/**
 * Opens the adapter through zigbee-herdsman and forms, restores or resumes the network of `files`. A network that is formed
 * gets the quietest channel. Rejects with an OperatorError, and has then released the port, as it has when `signal` is raised.
 */
export async function openRadio(options: RadioOptions, signal: AbortSignal): Promise<Radio> {
  const { files, clock, log } = options;
  const radio = await openOnce(options, signal).catch((thrown: unknown) => {
    if (!(thrown instanceof AddressWritten)) throw thrown;
    return openOnce(options, signal, { isSecond: true });
  });
  const quieter = radio.formed ? await quieterChannel(radio, options) : undefined;
  if (quieter === undefined) return radio;
  log.info(
    `channel ${quieter} is quieter than channel ${radio.network.channel}: the network, which no device has joined, moves there`,
  );
  await radio.close();
  files.move(radio.network, quieter);
  await new Promise<void>((resolve) => clock.after(reopen_ms, resolve));
  // zigbee-herdsman has a stick that runs the network of the files change to the channel of the files, also after a power cut meanwhile.
  return openOnce(options, signal);
}

/** A quieter channel than that of a network that has just been formed, where no device can have joined it. */
async function quieterChannel(
  { controller, network }: Radio,
  { adapter, files, clock, log }: RadioOptions,
): Promise<number | undefined> {
  if (!files.mayChange || files.measuredFor(network)) return undefined;
  try {
    const energies = await measureEnergies(controller, adapter, clock);
    const channel = quietestChannel(energies, network.channel);
    files.keepEnergies(channel, energies);
    return channel === network.channel ? undefined : channel;
  } catch (thrown) {
    log.info(
      `the adapter does not measure its channels, so that channel ${network.channel} stays: ${messageOf(thrown)}`,
    );
    return undefined;
  }
}

/** A stick has got the address of another one, and needs a reset: it is opened again. */
class AddressWritten extends OperatorError {}

async function openOnce(
  options: RadioOptions,
  signal: AbortSignal,
  { isSecond = false } = {},
): Promise<OpenRadio> {
  const { port, adapter, files, herdsmanLog, log } = options;
  requirePort(options);
  const { Controller, setLogger } = await import("zigbee-herdsman");
  const network = files.prepare(options.random);
  const paired = files.pairedDevices;
  const unified = files.backupOf(network);
  if (paired > 0 && unified !== undefined && !canRestore(adapter, unified)) {
    options.requireLeave(otherTypeFault(options));
    files.forgetBackup();
  }
  setLogger(herdsmanLog);
  await findEveryFrame(options.dropped);
  const forgetDevices = await deviceForgetter();
  const hangUp = new AbortController();
  herdsmanLog.starting(() => hangUp.abort(new Error("the other side closed the connection")));
  const controller = new Controller({
    network: {
      panID: network.pan_id,
      // zigbee-herdsman turns it for the other makes alone: the network has it in printed order.
      extendedPanID:
        adapter === "ember" || adapter === "ezsp"
          ? network.extended_pan_id.toReversed()
          : network.extended_pan_id,
      channelList: [network.channel],
      networkKey: network.network_key,
    },
    serialPort: { path: port, adapter, ...lineSettings(options) },
    databasePath: files.database,
    databaseBackupPath: `${files.database}.before-reset`,
    backupPath: files.backup,
    adapter: { disableLED: false },
    acceptJoiningDeviceHandler: async () => true,
  });
  storeNoReadings(controller);
  const arrivals = new Arrivals(options);
  options.follow(controller, arrivals);
  const { fromUnifiedBackup } = await import("zigbee-herdsman/dist/utils/backup.js");
  const guard = adapter === "deconz" ? await DeconzGuard.make() : undefined;
  // It makes its adapter in the course of its start, and has it open the port right after.
  whenSet(controller, "adapter", (made) => {
    arrivals.listenTo(made as Adapter);
    guard?.watch(made as Adapter);
    // Some adapters take an error for a reason to try again.
    const orHangUp = (step: () => void) => {
      try {
        step();
      } catch (refusal) {
        hangUp.abort(refusal);
        throw refusal;
      }
    };
    askBeforeLeavingNetwork(made as Adapter, adapter, (held) => {
      if (unified !== undefined) return;
      orHangUp(() => options.requireLeave(otherNetworkFault(port, held)));
    });
    if (unified === undefined) return;
    const backup = fittedBackup(unified, { adapter, fromUnifiedBackup, random: options.random });
    offerBackup(made as Adapter, adapter, backup);
    takeOverAddress(made as Adapter, backup, {
      isSecond,
      written: () =>
        orHangUp(() => {
          throw new AddressWritten("the adapter takes over the address of the one before", "wait");
        }),
      refused: () => orHangUp(() => options.requireLeave(ownAddressFault(port))),
    });
  });
  let formed = false;
  try {
    forgetDevices();
    const result = await abortable(controller.start(signal), AbortSignal.any([signal, hangUp.signal]));
    formed = result === "reset" || (result === "resumed" && guard?.reconfigured === true);
    surviveErrors(controller);
    // Earlier messages belong to the network that the adapter had before.
    if (result !== "resumed") arrivals.discard();
    await options.prepare(controller);
    arrivals.release(controller["adapter"]);
    if (result === "reset" && paired > 0) log.error(lostNetwork(port));
    if (result === "restored") log.info(`the network was restored from its backup onto the adapter ${port}`);
  } catch (thrown) {
    guard?.release();
    await releaseLeftovers(controller);
    arrivals.discard();
    const fault = startFault(options, thrown, herdsmanLog.started());
    if (/identifiers/.test(fault.what) && paired === 0) files.forgetNetwork();
    throw fault;
  }
  herdsmanLog.started();
  // It would write the whole database every five minutes, and end the process when the disk is full.
  clearInterval(controller["databaseSaveTimer"]);
  clearInterval(controller["backupTimer"]);
  const firmware = await firmwareOf(controller, options);
  return new OpenRadio(controller, network, { ...options, arrivals, guard, firmware, formed });
}

interface OpenOptions extends RadioOptions {
  readonly firmware: string;
  /** Whether its network is a new one. */
  readonly formed: boolean;
  readonly arrivals: Arrivals;
  readonly guard: DeconzGuard | undefined;
}

class OpenRadio implements Radio {
  readonly ended: Promise<OperatorError>;
  readonly formed: boolean;
  readonly #options: OpenOptions;
  #end: (reason: OperatorError) => void = () => {};
  #cancelProbe = () => {};
  #heard = false;
  #failures = 0;

  constructor(
    readonly controller: Controller,
    readonly network: Network,
    options: OpenOptions,
  ) {
    this.#options = options;
    this.formed = options.formed;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    controller.once("adapterDisconnected", () => this.#end(unpluggedFault(options)));
    controller.on("message", () => {
      this.#heard = true;
    });
    this.#scheduleProbe();
  }

  get channel(): MeshChannel {
    return { number: this.network.channel, measured: this.#options.files.measuredFor(this.network) };
  }

  get detail(): string {
    const pan = this.network.pan_id.toString(16).padStart(4, "0");
    const { firmware, port } = this.#options;
    return `${firmware} on ${port}, channel ${channelText(this.channel)}, PAN 0x${pan}`;
  }

  async close(): Promise<void> {
    this.#cancelProbe();
    // Its last words before the port is closed are readings as well.
    for (const event of this.controller.eventNames()) {
      if (event !== "message" && event !== "lastSeenChanged") this.controller.removeAllListeners(event);
    }
    const { arrivals, guard, clock } = this.#options;
    arrivals.closing();
    await guard?.quiesce(clock);
    await new Promise<void>((resolve) => {
      const cancel = clock.after(close_max_ms, resolve);
      this.controller
        .stop()
        .catch((thrown: unknown) => this.#options.log.debug(`closing the adapter: ${messageOf(thrown)}`))
        .finally(() => {
          cancel();
          resolve();
        });
    });
    guard?.release();
    await releaseLeftovers(this.controller);
  }

  #scheduleProbe(): void {
    this.#cancelProbe = this.#options.clock.after(probe_interval_ms, () => void this.#probe());
  }

  /** Asks the coordinator for its own endpoints, unless something was heard since the last time. */
  async #probe(): Promise<void> {
    const heard = this.#heard;
    this.#heard = false;
    if (heard || (await this.#answers())) this.#failures = 0;
    else this.#failures += 1;
    if (this.#failures < probeFailures_max) this.#scheduleProbe();
    else this.#end(deafFault(this.#options));
  }

  async #answers(): Promise<boolean> {
    const coordinator = this.controller.getDevicesByType("Coordinator")[0];
    if (coordinator === undefined) return false;
    try {
      await this.controller.sendRaw({
        ieeeAddress: coordinator.ieeeAddr,
        networkAddress: coordinator.networkAddress,
        profileId: zdoProfile,
        clusterKey: activeEndpointsRequest,
        zdoParams: [coordinator.networkAddress],
      });
      return true;
    } catch (thrown) {
      this.#options.log.debug(`the adapter does not answer: ${messageOf(thrown)}`);
      return false;
    }
  }
}

/** Zigbee specification 2.4: profile of the device objects, cluster of Active_EP_req. */
const zdoProfile = 0x0000;
const activeEndpointsRequest = 0x0005;

/** The type of the adapter, and its firmware as far as it tells. */
async function firmwareOf(controller: Controller, { adapter, log }: RadioOptions): Promise<string> {
  try {
    const { type, meta } = await controller.getCoordinatorVersion();
    return [adapter, type, meta["revision"]].filter((part) => part !== undefined && part !== "").join(" ");
  } catch (thrown) {
    log.debug(`the adapter does not tell its version: ${messageOf(thrown)}`);
    return adapter;
  }
}

function lostNetwork(port: string): string {
  return `the adapter ${port} did not hold this gateway's network and there was no backup to restore: a new one was formed, pair every sensor again (\`lintel pair\`)`;
}

/** Rejects as soon as the signal is raised; what `work` then does is nobody's business any more. */
function abortable<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const raised = () => reject(signal.reason);
    if (signal.aborted) raised();
    signal.addEventListener("abort", raised, { once: true });
    void work.then(resolve, reject).finally(() => signal.removeEventListener("abort", raised));
  });
}
