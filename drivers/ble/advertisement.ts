import type { Peripheral as NoblePeripheral } from "@stoprocent/noble";
import type { Advertisement } from "../peripheral.ts";
import { printedUuid } from "./uuid.ts";

/**
 * The packet that noble has just heard. noble adds each packet's fields to those of earlier ones; names and
 * services may stay, but data is a measurement, so it is taken out here and is not handed on twice.
 */
export function takeAdvertisement(peripheral: NoblePeripheral): Advertisement {
  // In 2.8.0 a field that was never heard is undefined, whatever its types say.
  const held = peripheral.advertisement as Partial<NoblePeripheral["advertisement"]>;
  const { localName, manufacturerData } = held;
  const serviceData = new Map(
    (held.serviceData ?? []).map(({ uuid, data }) => [printedUuid(uuid), new Uint8Array(data)] as const),
  );
  if (held.serviceData !== undefined) held.serviceData.length = 0;
  delete held.manufacturerData;
  return {
    address: peripheral.address.toLowerCase(),
    addressType: peripheral.addressType === "public" ? "public" : "random",
    ...(localName === undefined ? {} : { name: localName }),
    services: (held.serviceUuids ?? []).map(printedUuid),
    serviceData,
    ...(manufacturerData === undefined || manufacturerData.length < 2
      ? {}
      : {
          manufacturerData: {
            company: manufacturerData.readUInt16LE(0),
            data: new Uint8Array(manufacturerData.subarray(2)),
          },
        }),
    rssi: peripheral.rssi,
    connectable: Boolean(peripheral.connectable),
  };
}
