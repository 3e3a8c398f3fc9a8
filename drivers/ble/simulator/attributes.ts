import type { CharacteristicProperty } from "../../peripheral.ts";
import { type AttUnit, attError, mtu_least, opcodeOf } from "../att.ts";
import { attributeType, configuration, encodeDeclaration } from "../gatt.ts";
import { encodeUuid, printedUuid } from "../uuid.ts";

export interface SimulatedService {
  readonly uuid: string;
  readonly characteristics: readonly SimulatedCharacteristic[];
}

export interface SimulatedCharacteristic {
  readonly uuid: string;
  readonly properties: readonly CharacteristicProperty[];
  /** The link that the device needs before it gives or takes the value or its settings: an encrypted one, or one paired by a number. */
  readonly needs?: "encryption" | "number";
  /** Gives the value for a read. A thrown RefusedError is sent as that ATT error. */
  readonly onRead?: () => Uint8Array;
  /** Takes a write, with or without response. A thrown RefusedError is sent as that ATT error. */
  readonly onWrite?: (value: Uint8Array) => void;
  /** Told when the central switches notifications or indications on or off. */
  readonly onSubscribe?: (mode: keyof typeof configuration) => void;
}

/** A request that the simulated device refuses, with an error code of `att.ts` or of its own profile. */
export class RefusedError extends Error {
  constructor(readonly code: number) {
    super(`refused with ATT error 0x${code.toString(16)}`);
  }
}

/** How safe the link is, and whether the device has a key for it. */
export interface LinkSafety {
  readonly level: "no" | "yes" | "byNumber";
  readonly bonded: boolean;
}

interface Attribute {
  readonly handle: number;
  readonly needs?: SimulatedCharacteristic["needs"];
  readonly type: string;
  /** Last handle of the group, for a service declaration. */
  readonly end?: number;
  read?: () => Uint8Array;
  write?: (value: Uint8Array) => void;
}

/**
 * The ATT server of a simulated device: its attribute table, and the answer to every request. Says nothing by
 * itself. One per connection, because subscriptions end with it.
 */
export class AttributeServer {
  mtu: number = mtu_least;
  readonly #mtu_max: number;
  readonly #safety: LinkSafety | undefined;
  readonly #attributes: Attribute[] = [];
  readonly #modes = new Map<number, keyof typeof configuration>();
  readonly #valueHandles = new Map<string, number>();

  constructor(services: readonly SimulatedService[], mtu_max: number, safety?: LinkSafety) {
    this.#mtu_max = mtu_max;
    this.#safety = safety;
    for (const service of services) this.#lay(service);
  }

  /** The answer to a unit from the central; undefined when there is none. */
  answer(unit: AttUnit): AttUnit | undefined {
    switch (unit.op) {
      case "mtuRequest":
        this.mtu = Math.max(mtu_least, Math.min(unit.mtu, this.#mtu_max));
        return { op: "mtuResponse", mtu: this.#mtu_max };
      case "readByGroupRequest":
        return this.#groups(unit);
      case "readByTypeRequest":
        return this.#byType(unit);
      case "findInformationRequest":
        return this.#information(unit);
      case "readRequest":
      case "readBlobRequest":
        return this.#read(unit);
      case "writeRequest":
      case "writeCommand":
        return this.#write(unit);
      default:
        return undefined;
    }
  }

  /** The handle of a characteristic's value. Throws a RangeError when there is none. */
  handleOf(service: string, uuid: string): number {
    const handle = this.#valueHandles.get(keyOf(service, uuid));
    if (handle === undefined) throw new RangeError(`the device has no ${uuid} in ${service}`);
    return handle;
  }

  modeOf(handle: number): keyof typeof configuration {
    return this.#modes.get(handle) ?? "off";
  }

  #lay(service: SimulatedService): void {
    const start = this.#attributes.length + 1;
    const count = service.characteristics.reduce((sum, one) => sum + (isSubscribable(one) ? 3 : 2), 0);
    const uuid = encodeUuid(service.uuid);
    this.#add({ type: attributeType.primaryService, end: start + count, read: () => uuid });
    for (const one of service.characteristics) {
      const valueHandle = this.#attributes.length + 2;
      const declaration = encodeDeclaration({
        properties: new Set(one.properties),
        valueHandle,
        uuid: one.uuid,
      });
      this.#add({ type: attributeType.characteristic, read: () => declaration });
      const { onRead, onWrite, needs } = one;
      this.#add({
        type: printedUuid(one.uuid.replaceAll("-", "")),
        ...(needs === undefined ? {} : { needs }),
        ...(onRead === undefined ? {} : { read: onRead }),
        ...(onWrite === undefined ? {} : { write: onWrite }),
      });
      this.#valueHandles.set(keyOf(service.uuid, one.uuid), valueHandle);
      if (isSubscribable(one)) this.#addConfiguration(valueHandle, one);
    }
  }

  #addConfiguration(valueHandle: number, { onSubscribe, needs }: SimulatedCharacteristic): void {
    this.#add({
      type: attributeType.clientConfiguration,
      ...(needs === undefined ? {} : { needs }),
      read: () => Uint8Array.of(configuration[this.modeOf(valueHandle)], 0),
      write: ([bits = 0]) => {
        const mode =
          bits & configuration.indicate ? "indicate" : bits & configuration.notify ? "notify" : "off";
        this.#modes.set(valueHandle, mode);
        onSubscribe?.(mode);
      },
    });
  }

  #add(attribute: Omit<Attribute, "handle">): void {
    this.#attributes.push({ handle: this.#attributes.length + 1, ...attribute });
  }

  #groups(unit: UnitOf<"readByGroupRequest">): AttUnit {
    if (unit.uuid !== attributeType.primaryService) {
      return errorTo(unit, unit.start, attError.unsupportedGroup);
    }
    const all = this.#within(unit).filter(({ type }) => type === attributeType.primaryService);
    const entries = all.map(({ handle, end = handle, read }) => ({ handle, end, value: givenBy(read) }));
    const fitting = this.#fitting(entries, 4);
    if (fitting.length === 0) return errorTo(unit, unit.start, attError.notFound);
    return { op: "readByGroupResponse", entries: fitting };
  }

  #byType(unit: UnitOf<"readByTypeRequest">): AttUnit {
    const all = this.#within(unit).filter(({ type }) => type === unit.uuid);
    const entries = all.map(({ handle, read }) => ({ handle, value: givenBy(read) }));
    const fitting = this.#fitting(entries, 2);
    if (fitting.length === 0) return errorTo(unit, unit.start, attError.notFound);
    return { op: "readByTypeResponse", entries: fitting };
  }

  #information(unit: UnitOf<"findInformationRequest">): AttUnit {
    const all = this.#within(unit);
    const short = all[0]?.type.length === 4;
    const entries = all
      .filter(({ type }) => (type.length === 4) === short)
      .slice(0, Math.floor((this.mtu - 2) / (short ? 4 : 18)))
      .map(({ handle, type }) => ({ handle, uuid: type }));
    if (entries.length === 0) return errorTo(unit, unit.start, attError.notFound);
    return { op: "findInformationResponse", entries };
  }

  #read(unit: UnitOf<"readRequest" | "readBlobRequest">): AttUnit {
    const attribute = this.#attributes[unit.handle - 1];
    if (attribute === undefined) return errorTo(unit, unit.handle, attError.invalidHandle);
    const unsafe = this.#unsafe(attribute);
    if (unsafe !== undefined) return errorTo(unit, unit.handle, unsafe);
    if (attribute.read === undefined) return errorTo(unit, unit.handle, attError.readNotPermitted);
    const offset = unit.op === "readBlobRequest" ? unit.offset : 0;
    try {
      const value = attribute.read();
      if (offset > value.length) return errorTo(unit, unit.handle, attError.invalidOffset);
      const part = value.slice(offset, offset + this.mtu - 1);
      return { op: unit.op === "readRequest" ? "readResponse" : "readBlobResponse", value: part };
    } catch (thrown) {
      return errorTo(unit, unit.handle, codeOf(thrown));
    }
  }

  #write(unit: UnitOf<"writeRequest" | "writeCommand">): AttUnit | undefined {
    const attribute = this.#attributes[unit.handle - 1];
    const answered = unit.op === "writeRequest";
    const refuse = (code: number) => (answered ? errorTo(unit, unit.handle, code) : undefined);
    if (attribute === undefined) return refuse(attError.invalidHandle);
    const unsafe = this.#unsafe(attribute);
    if (unsafe !== undefined) return refuse(unsafe);
    if (attribute.write === undefined) return refuse(attError.writeNotPermitted);
    try {
      attribute.write(unit.value);
    } catch (thrown) {
      return refuse(codeOf(thrown));
    }
    return answered ? { op: "writeResponse" } : undefined;
  }

  /** The error for a link that is not as safe as the attribute needs: Core 5.4, Vol 3, Part C, 10.3.1. */
  #unsafe({ needs }: Attribute): number | undefined {
    const { level, bonded } = this.#safety ?? { level: "no", bonded: false };
    if (needs === undefined || level === "byNumber" || (level === "yes" && needs === "encryption"))
      return undefined;
    return level === "no" && bonded ? attError.insufficientEncryption : attError.insufficientAuthentication;
  }

  #within({ start, end }: { start: number; end: number }): Attribute[] {
    return this.#attributes.slice(Math.max(0, start - 1), end);
  }

  /** As many as have values as long as the first one's and fit into one response. */
  #fitting<Entry extends { value: Uint8Array }>(entries: readonly Entry[], head_bytes: number): Entry[] {
    const value_bytes = entries[0]?.value.length ?? 0;
    const equal = entries.findIndex(({ value }) => value.length !== value_bytes);
    const alike = equal < 0 ? entries : entries.slice(0, equal);
    return alike.slice(0, Math.floor((this.mtu - 2) / (head_bytes + value_bytes)));
  }
}

type UnitOf<Op extends AttUnit["op"]> = Extract<AttUnit, { readonly op: Op }>;

function isSubscribable({ properties }: SimulatedCharacteristic): boolean {
  return properties.includes("notify") || properties.includes("indicate");
}

function keyOf(service: string, uuid: string): string {
  return `${service}/${uuid}`.toLowerCase();
}

function givenBy(read: (() => Uint8Array) | undefined): Uint8Array {
  return read?.() ?? new Uint8Array(0);
}

function errorTo(unit: AttUnit, handle: number, code: number): AttUnit {
  return { op: "error", request: opcodeOf(unit.op), handle, code };
}

function codeOf(thrown: unknown): number {
  if (thrown instanceof RefusedError) return thrown.code;
  throw thrown;
}
