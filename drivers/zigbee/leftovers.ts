import { Socket } from "node:net";
import type { Controller } from "zigbee-herdsman";
import type { SerialPort } from "zigbee-herdsman/dist/adapter/serialPort.js";
import { whenSet } from "./field-watch.ts";

/**
 * Releases what zigbee-herdsman keeps when its start fails or is given up: it closes its port only after a
 * start that succeeded, and leaves timers of unanswered requests running. All its adapters keep their port
 * under `serialPort` or `socketPort`, and those requests in a `waitress`, somewhere below the adapter. A start that was
 * given up goes on by itself, and `ember` and `deconz` then open the port anew: from now on they can't.
 * Resolves when the ports are closed. Harmless when there is nothing left, and twice. Checked against
 * zigbee-herdsman 10.9.5.
 */
export async function releaseLeftovers(controller: Controller): Promise<void> {
  controller.removeAllListeners();
  for (const timer of ["permitJoinTimer", "backupTimer", "databaseSaveTimer"] as const) {
    clearTimeout(controller[timer] as Parameters<typeof clearTimeout>[0]);
  }
  const closing: Promise<void>[] = [];
  for (const { name, value } of walk(controller["adapter"])) {
    if (name === "waitress" && "clear" in value && typeof value.clear === "function") value.clear();
    else if (isPortName(name)) closing.push(closePort(value));
    else for (const port of portNames) if (Object.hasOwn(value, port)) whenSet(value, port, keepClosed);
  }
  await Promise.all(closing);
}

/**
 * Makes a function that removes the devices which zigbee-herdsman holds for the whole process. Call it right before a
 * start: an interview that an earlier controller left behind may have read the old database back in.
 */
export async function deviceForgetter(): Promise<() => void> {
  const { Device, Group } = await import("zigbee-herdsman/dist/controller/model/index.js");
  return () => {
    Device.resetCache();
    Group.resetCache();
  };
}

/** zigbee-herdsman listens for the first error of a serial port only; a second one would end the process. */
export function surviveErrors(controller: Controller): void {
  for (const { name, value } of walk(controller["adapter"])) {
    if (isPortName(name) && "on" in value && typeof value.on === "function") value.on("error", () => {});
  }
}

const portNames = ["serialPort", "socketPort"];

function isPortName(name: string): boolean {
  return portNames.includes(name);
}

/** Makes a port one that cannot be opened, now or again. */
function keepClosed(port: unknown): void {
  const refusal = new Error("its adapter has ended");
  if (port instanceof Socket) port.connect = () => port.destroy(refusal);
  else (port as SerialPort).open = (done) => done?.(refusal);
}

function closePort(port: object): Promise<void> {
  if (port instanceof Socket) {
    port.on("error", () => {});
    port.destroy();
    // Its "close" comes with the next turn, and what listens to it is not to take it for that of a new port.
    return new Promise((resolve) => setImmediate(resolve));
  }
  if ("on" in port && typeof port.on === "function") port.on("error", () => {});
  if ("opening" in port && port.opening === true) (port as SerialPort).once("open", () => closePort(port));
  const open = "isOpen" in port && port.isOpen === true;
  if (!open || !("close" in port) || typeof port.close !== "function") return Promise.resolve();
  const close = port.close.bind(port) as (done: () => void) => void;
  // Done is called with the error of a port that is already going, too.
  return new Promise((resolve) => close(resolve));
}

const depth_max = 5;
const objects_max = 2_000;

/** The objects below an adapter, with the names they are held under. Does not look into ports. */
function walk(root: unknown): { name: string; value: object }[] {
  const found: { name: string; value: object }[] = [];
  const seen = new Set<object>();
  let level: { name: string; value: unknown }[] = [{ name: "adapter", value: root }];
  for (let depth = 0; depth <= depth_max; depth += 1) {
    const next: typeof level = [];
    for (const { name, value } of level) {
      if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
      if (seen.has(value) || seen.size >= objects_max) continue;
      seen.add(value);
      found.push({ name, value });
      if (!isPortName(name))
        next.push(...Object.entries(value).map(([key, held]) => ({ name: key, value: held })));
    }
    level = next;
  }
  return found;
}
