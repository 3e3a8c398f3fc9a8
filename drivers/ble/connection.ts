import type { Clock, Moment } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Characteristic, CharacteristicProperty, Connection } from "../peripheral.ts";
import { type AttributeGroup, type AttUnit, attError, encodeAtt, opcodeOf } from "./att.ts";
import { attributeType, configuration, type Declaration, decodeDeclaration } from "./gatt.ts";
import { decodeUuid } from "./uuid.ts";

/** One connection's exchange of ATT units. */
export interface Bearer {
  readonly mtu: number;
  /** Sends a request and gives the answer, an error too. Rejects when the connection ends first. */
  request(unit: AttUnit): Promise<AttUnit>;
  /** Sends a unit that has no answer. Resolves when it is on its way; rejects when the connection is over. */
  send(unit: AttUnit): Promise<void>;
  /** Where notifications and indications go. */
  onValue: (unit: ValueUnit) => void;
  /** Ends the connection; its user gets `reason` as the error. */
  end(reason: Error): void;
}

export type ValueUnit = Extract<AttUnit, { readonly op: "notification" | "indication" }>;

/** Values that wait for a handler; a device that sends more is disconnected. */
const waiting_max = 4_096;
/** Answers that one discovery or one long value may take. */
const steps_max = 512;

type Handler = (value: Uint8Array, moment: Moment) => Promise<void>;

/** A GATT client: the procedures of Core 5.4, Vol 3, Part G, 4, that products need. */
export class GattConnection implements Connection {
  readonly address: string;
  readonly name?: string;
  readonly #bearer: Bearer;
  readonly #clock: Clock;
  readonly #handlers = new Map<number, Handler>();
  readonly #characteristics = new Map<string, Promise<Found[]>>();
  #services: Promise<readonly Service[]> | undefined;
  /** An indication that came before its handler: it is neither lost nor confirmed. */
  #early: { unit: ValueUnit; moment: Moment } | undefined;
  #handled: Promise<void> = Promise.resolve();
  #waiting = 0;
  #failed = false;

  constructor(options: { address: string; name?: string | undefined; bearer: Bearer; clock: Clock }) {
    this.address = options.address;
    if (options.name !== undefined) this.name = options.name;
    this.#bearer = options.bearer;
    this.#clock = options.clock;
    this.#bearer.onValue = (unit) => {
      const moment = this.#clock.now();
      this.#take(unit, moment);
    };
  }

  async characteristic(service: string, uuid: string): Promise<Characteristic | undefined> {
    this.#services ??= this.#discoverServices();
    const wanted = (await this.#services).find((one) => one.uuid === service);
    if (wanted === undefined) return undefined;
    const discovery = this.#characteristics.get(service) ?? this.#discoverCharacteristics(wanted);
    this.#characteristics.set(service, discovery);
    const found = (await discovery).find((one) => one.uuid === uuid);
    return found === undefined ? undefined : this.#characteristicOf(found);
  }

  #characteristicOf(found: Found): Characteristic {
    const bearer = this.#bearer;
    return {
      uuid: found.uuid,
      properties: found.properties,
      get write_bytes_max() {
        return bearer.mtu - 3;
      },
      read: () => this.#read(found),
      write: (value, { response = true } = {}) => this.#write(found, value, response),
      subscribe: (handler) => this.#subscribe(found, handler),
    };
  }

  /** Discover All Primary Services, 4.4.1. */
  async #discoverServices(): Promise<readonly Service[]> {
    const services: Service[] = [];
    for (let start = 1, step = 0; start <= handle_max && step < steps_max; step += 1) {
      const answer = await this.#bearer.request({
        op: "readByGroupRequest",
        start,
        end: handle_max,
        uuid: attributeType.primaryService,
      });
      if (isNotFound(answer)) break;
      const { entries } = expected(answer, "readByGroupResponse", "its services");
      services.push(...entries.map(serviceOf));
      start = next(start, entries.at(-1)?.end);
    }
    return services;
  }

  /** Discover All Characteristics of a Service, 4.6.1. */
  async #discoverCharacteristics(service: Service): Promise<Found[]> {
    const declarations: (Declaration & { handle: number })[] = [];
    for (let start = service.start, step = 0; start <= service.end && step < steps_max; step += 1) {
      const answer = await this.#bearer.request({
        op: "readByTypeRequest",
        start,
        end: service.end,
        uuid: attributeType.characteristic,
      });
      if (isNotFound(answer)) break;
      const { entries } = expected(answer, "readByTypeResponse", "its characteristics");
      for (const { handle, value } of entries) {
        const declaration = decodeDeclaration(value);
        if (declaration !== undefined) declarations.push({ ...declaration, handle });
      }
      start = next(start, entries.at(-1)?.handle);
    }
    return declarations.map((declaration, at) => ({
      ...declaration,
      end: (declarations[at + 1]?.handle ?? service.end + 1) - 1,
    }));
  }

  /** Read Characteristic Value, 4.8.1, and Read Long Characteristic Values, 4.8.3. */
  async #read({ uuid, valueHandle: handle }: Found): Promise<Uint8Array> {
    const first = await this.#bearer.request({ op: "readRequest", handle });
    let { value } = expected(first, "readResponse", `the reading of ${uuid}`);
    let whole = value.length < this.#bearer.mtu - 1;
    for (let step = 0; !whole && step < steps_max; step += 1) {
      const more = await this.#bearer.request({ op: "readBlobRequest", handle, offset: value.length });
      if (more.op === "error" && endsOfValue.has(more.code)) break;
      const part = expected(more, "readBlobResponse", `the reading of ${uuid}`).value;
      value = Buffer.concat([value, part]);
      whole = part.length < this.#bearer.mtu - 1;
    }
    return new Uint8Array(value);
  }

  /** Write Characteristic Value, 4.9.3, and Write Without Response, 4.9.1. */
  async #write({ uuid, valueHandle: handle }: Found, value: Uint8Array, response: boolean): Promise<void> {
    if (value.length > this.#bearer.mtu - 3) {
      throw new RangeError(`${value.length} bytes for ${uuid}, ${this.#bearer.mtu - 3} fit`);
    }
    if (!response) await this.#bearer.send({ op: "writeCommand", handle, value });
    else {
      const answer = await this.#bearer.request({ op: "writeRequest", handle, value });
      expected(answer, "writeResponse", `the writing of ${uuid}`);
    }
  }

  /** Notifications, 4.10, and Indications, 4.11. */
  async #subscribe(found: Found, handler: Handler): Promise<void> {
    const mode = found.properties.has("indicate") ? "indicate" : "notify";
    if (!found.properties.has(mode))
      throw new Error(`${this.address} does not send changes of ${found.uuid}`);
    const handle = await this.#configurationOf(found);
    // Before the device is asked to send: its first value may come together with the answer.
    this.#handlers.set(found.valueHandle, handler);
    const value = Uint8Array.of(configuration[mode], 0);
    const answer = await this.#bearer.request({ op: "writeRequest", handle, value });
    expected(answer, "writeResponse", `the subscription to ${found.uuid}`);
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined) this.#take(early.unit, early.moment);
  }

  async #configurationOf({ uuid, valueHandle, end }: Found): Promise<number> {
    const answer = await this.#bearer.request({
      op: "readByTypeRequest",
      start: valueHandle,
      end,
      uuid: attributeType.clientConfiguration,
    });
    const { entries } = expected(answer, "readByTypeResponse", `the settings of ${uuid}`);
    const [first] = entries;
    if (first === undefined) throw new Error(`${this.address} has no settings for ${uuid}`);
    return first.handle;
  }

  #take(unit: ValueUnit, moment: Moment): void {
    const handler = this.#handlers.get(unit.handle);
    if (handler === undefined) {
      if (unit.op === "indication") this.#early = { unit, moment };
      return;
    }
    if (this.#waiting >= waiting_max) {
      this.#bearer.end(new Error(`${this.address} sends faster than its values can be kept`));
      return;
    }
    this.#waiting += 1;
    this.#handled = this.#handled.then(() => this.#handle(handler, unit, moment));
  }

  async #handle(handler: Handler, unit: ValueUnit, moment: Moment): Promise<void> {
    try {
      // After a value that could not be stored no later one is stored, so that none is skipped.
      if (this.#failed) return;
      await handler(unit.value, moment);
      // Only now: the device forgets the measurement when it has this.
      if (unit.op === "indication") await this.#bearer.send({ op: "confirmation" });
    } catch (thrown) {
      this.#failed = true;
      this.#bearer.end(thrown instanceof Error ? thrown : new Error(messageOf(thrown)));
    } finally {
      this.#waiting -= 1;
    }
  }
}

interface Service {
  readonly uuid: string;
  readonly start: number;
  readonly end: number;
}

interface Found extends Declaration {
  /** The last handle of the characteristic: its settings stand before it. */
  readonly end: number;
  readonly properties: ReadonlySet<CharacteristicProperty>;
}

const handle_max = 0xffff;

/** A device that is at the end of a long value says either. */
const endsOfValue: ReadonlySet<number> = new Set([attError.invalidOffset, attError.notLong]);

/** The UUID's length is that of the service; a device may not answer with an older handle, which would not end. */
function next(start: number, last: number | undefined): number {
  return last === undefined || last < start ? handle_max + 1 : last + 1;
}

function serviceOf({ handle, end, value }: AttributeGroup): Service {
  return { uuid: decodeUuid(value), start: handle, end };
}

function isNotFound(answer: AttUnit): boolean {
  return answer.op === "error" && answer.code === attError.notFound;
}

/** The answer as the unit that it should be. */
function expected<Op extends AttUnit["op"]>(
  answer: AttUnit,
  op: Op,
  what: string,
): Extract<AttUnit, { readonly op: Op }> {
  if (answer.op === op) return answer as Extract<AttUnit, { readonly op: Op }>;
  if (answer.op === "error") {
    throw new Error(`${what} was refused with ATT error 0x${answer.code.toString(16).padStart(2, "0")}`);
  }
  throw new Error(
    `${what} was answered with opcode 0x${encodeAtt(answer)[0]?.toString(16)}, not 0x${opcodeOf(op).toString(16)}`,
  );
}
