import { decodeUuid, encodeUuid } from "./uuid.ts";

/** Fields of an advertising packet or a scan response, before they are encoded. */
export interface AdvertisingData {
  readonly name?: string;
  readonly services?: readonly string[];
  /** By UUID. */
  readonly serviceData?: Readonly<Record<string, Uint8Array>>;
  readonly manufacturerData?: { readonly company: number; readonly data: Uint8Array };
}

/** AD types, Assigned Numbers 2.3. */
export const adType = {
  flags: 0x01,
  someServices16: 0x02,
  services16: 0x03,
  someServices128: 0x06,
  services128: 0x07,
  shortName: 0x08,
  name: 0x09,
  serviceData16: 0x16,
  serviceData32: 0x20,
  serviceData128: 0x21,
  manufacturer: 0xff,
} as const;

/** Bytes of a legacy advertising packet: all that fits, Core 5.4, Vol 6, Part B, 2.3.1. */
export const legacy_bytes_max = 31;
const extended_bytes_max = 229;

/**
 * AD structures `length, type, data`, Core 5.4, Vol 3, Part C, 11. Without flags: a device that sends them
 * has them added by the caller. Throws a RangeError when it is more than one report holds.
 */
export function encodeAdvertisingData(data: AdvertisingData, bytes_max = extended_bytes_max): Uint8Array {
  const structures: Uint8Array[] = [];
  const add = (type: number, ...parts: Uint8Array[]) =>
    structures.push(
      Buffer.concat([Uint8Array.of(1 + parts.reduce((sum, part) => sum + part.length, 0), type), ...parts]),
    );
  const uuids = (data.services ?? []).map(encodeUuid);
  const short = uuids.filter(({ length }) => length === 2);
  const long = uuids.filter(({ length }) => length === 16);
  if (short.length > 0) add(adType.services16, ...short);
  if (long.length > 0) add(adType.services128, ...long);
  for (const [uuid, bytes] of Object.entries(data.serviceData ?? {})) {
    const key = encodeUuid(uuid);
    add(key.length === 2 ? adType.serviceData16 : adType.serviceData128, key, bytes);
  }
  if (data.manufacturerData !== undefined) {
    const { company, data: bytes } = data.manufacturerData;
    add(adType.manufacturer, Uint8Array.of(company & 0xff, company >> 8), bytes);
  }
  if (data.name !== undefined) add(adType.name, Buffer.from(data.name));
  const whole = Buffer.concat(structures);
  if (whole.length > bytes_max) {
    throw new RangeError(`${whole.length} bytes of advertising data, ${bytes_max} fit`);
  }
  return new Uint8Array(whole);
}

/** The other way round; a structure that is cut short ends it, and what came before is kept. */
export function decodeAdvertisingData(bytes: Uint8Array): AdvertisingData {
  const services: string[] = [];
  const serviceData: Record<string, Uint8Array> = {};
  let name: string | undefined;
  let manufacturerData: AdvertisingData["manufacturerData"];
  for (let at = 0; at + 1 < bytes.length; ) {
    const length = bytes[at] ?? 0;
    if (length === 0 || at + 1 + length > bytes.length) break;
    const data = bytes.subarray(at + 2, at + 1 + length);
    const uuid_bytes = uuidBytes[bytes[at + 1] ?? 0] ?? 0;
    switch (bytes[at + 1]) {
      case adType.someServices16:
      case adType.services16:
      case adType.someServices128:
      case adType.services128:
        for (let from = 0; from + uuid_bytes <= data.length; from += uuid_bytes) {
          services.push(decodeUuid(data.subarray(from, from + uuid_bytes)));
        }
        break;
      case adType.serviceData16:
      case adType.serviceData32:
      case adType.serviceData128:
        if (data.length >= uuid_bytes) {
          serviceData[decodeUuid(data.subarray(0, uuid_bytes))] = data.slice(uuid_bytes);
        }
        break;
      case adType.shortName:
      case adType.name:
        name = Buffer.from(data).toString();
        break;
      case adType.manufacturer:
        if (data.length >= 2) {
          manufacturerData = { company: (data[0] ?? 0) | ((data[1] ?? 0) << 8), data: data.slice(2) };
        }
        break;
    }
    at += 1 + length;
  }
  return {
    ...(name === undefined ? {} : { name }),
    services,
    serviceData,
    ...(manufacturerData === undefined ? {} : { manufacturerData }),
  };
}

const uuidBytes: Readonly<Record<number, number>> = {
  [adType.someServices16]: 2,
  [adType.services16]: 2,
  [adType.someServices128]: 16,
  [adType.services128]: 16,
  [adType.serviceData16]: 2,
  [adType.serviceData32]: 4,
  [adType.serviceData128]: 16,
};
