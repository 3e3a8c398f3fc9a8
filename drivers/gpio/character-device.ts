import { ptr } from "bun:ffi";
import { closeSync, constants, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { errnoFunction, errnoOf, openLibc } from "../../src/base/libc.ts";
import {
  type Chip,
  debounce_ms,
  headerOf,
  type Lines,
  type Listener,
  noHeader,
  type Pins,
  requireLine,
} from "./header.ts";
import * as uapi from "./uapi.ts";

/** A controller as a character device. */
interface CharacterChip extends Chip {
  readonly path: string;
}

/**
 * The lines by the character device of the header's chip (`/dev/gpiochipN`), whatever number it has. The kernel pulls the line of a button up, and
 * tells presses apart from bounces.
 */
export async function openCharacterDevice(pins: Pins, listener: Listener): Promise<Lines> {
  const chip = headerChip();
  const device = openSync(chip.path, constants.O_RDWR);
  const closing: (() => void)[] = [];
  const close = () => {
    for (const one of closing.splice(0).reverse()) one();
  };
  try {
    const lamp = pins.lamp === undefined ? undefined : request(device, chip, { line: pins.lamp, ...output });
    if (lamp !== undefined) closing.push(() => closeSync(lamp));
    for (const number of pins.buttons) {
      const button = request(device, chip, { line: number, ...input });
      closing.push(() => closeSync(button));
      closing.push(await watch(button, { ...listener, pressed: () => listener.pressed(number) }));
    }
    const light = (lit: boolean) => {
      if (lamp !== undefined) ioctl(lamp, uapi.GPIO_V2_LINE_SET_VALUES_IOCTL, uapi.encodeValue(lit));
    };
    return {
      detail: `${chip.label} (${chip.path})`,
      light,
      close: () => {
        try {
          light(false);
        } finally {
          close();
        }
      },
    };
  } catch (thrown) {
    close();
    throw thrown;
  } finally {
    closeSync(device);
  }
}

/** Lit when its line is high. */
const output = { flags: uapi.GPIO_V2_LINE_FLAG_OUTPUT } as const;
/** Pressed when its line is pulled to ground. */
const input = {
  flags:
    uapi.GPIO_V2_LINE_FLAG_INPUT |
    uapi.GPIO_V2_LINE_FLAG_ACTIVE_LOW |
    uapi.GPIO_V2_LINE_FLAG_BIAS_PULL_UP |
    uapi.GPIO_V2_LINE_FLAG_EDGE_RISING |
    uapi.GPIO_V2_LINE_FLAG_EDGE_FALLING,
  debounce_us: debounce_ms * 1_000,
} as const;

/** Asks for a line, which is then ours until its descriptor is closed. */
function request(
  device: number,
  chip: Chip,
  options: { line: number; flags: number; debounce_us?: number },
): number {
  requireLine(chip, options.line);
  const bytes = uapi.encodeRequest({ ...options, consumer: "lintel" });
  ioctl(device, uapi.GPIO_V2_GET_LINE_IOCTL, bytes);
  return uapi.decodeDescriptor(bytes);
}

/** Hears the edges of a line: a rising one is a press, since its line is active when it is low. Returns how it ends. */
async function watch(
  line: number,
  listener: { pressed(): void } & Pick<Listener, "failed">,
): Promise<() => void> {
  const { Epoll } = await import("epoll");
  const bytes = new Uint8Array(uapi.event_bytes * events_max);
  const epoll = new Epoll((fault) => {
    try {
      if (fault !== null) throw fault;
      const count = readSync(line, bytes);
      for (const isRising of uapi.decodeEdges(bytes.subarray(0, count))) if (isRising) listener.pressed();
    } catch (thrown) {
      listener.failed(thrown);
    }
  });
  epoll.add(line, Epoll.EPOLLIN);
  return () => {
    epoll.close();
  };
}

const events_max = 16;

function headerChip(directory = "/dev"): CharacterChip {
  const chips = readdirSync(directory)
    .filter((name) => /^gpiochip\d+$/.test(name))
    .flatMap((name) => chipAt(join(directory, name)));
  const chip = headerOf(chips);
  if (chip === undefined) throw noHeader(chips);
  return chip;
}

function chipAt(path: string): CharacterChip[] {
  const device = openSync(path, constants.O_RDWR);
  try {
    const bytes = new Uint8Array(uapi.chip_bytes);
    ioctl(device, uapi.GPIO_GET_CHIPINFO_IOCTL, bytes);
    return [{ path, ...uapi.decodeChip(bytes) }];
  } finally {
    closeSync(device);
  }
}

/** Throws an error with errno's name, such as EBUSY. */
function ioctl(descriptor: number, number: number, bytes: Uint8Array): void {
  libc ??= openLibc(functions);
  if (libc.ioctl(descriptor, number, ptr(bytes)) !== -1) return;
  const { code, message } = errnoOf(libc);
  throw Object.assign(new Error(`${code}: ${message}`), { code });
}

const functions = {
  ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
  ...errnoFunction,
} as const;
let libc: ReturnType<typeof openLibc<typeof functions>> | undefined;
