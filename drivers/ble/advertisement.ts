import type { Advertisement } from "../peripheral.ts";
import { decodeAdvertisingData } from "./advertising.ts";
import type { Report } from "./hci.ts";

/** An advertising packet, with what it tells itself; `completed` adds what earlier ones of the device told. */
export function advertisementOf({ address, addressType, kind, data, rssi }: Report): Advertisement {
  const { name, services = [], serviceData = {}, manufacturerData } = decodeAdvertisingData(data);
  return {
    address,
    addressType,
    ...(name === undefined ? {} : { name }),
    services,
    serviceData: new Map(Object.entries(serviceData)),
    ...(manufacturerData === undefined ? {} : { manufacturerData }),
    rssi,
    connectable: kind === "connectable" || kind === "directed",
  };
}

/** The part of what packets tell that stays; their data is a measurement, which does not. */
export type Told = Pick<Advertisement, "name" | "services">;

/** The packet with the name and services that earlier ones told. */
export function completed(heard: Advertisement, told: Told): Advertisement {
  const { name = told.name } = heard;
  const more = heard.services.filter((service) => !told.services.includes(service));
  const services = [...told.services, ...more].slice(0, services_max);
  return { ...heard, ...(name === undefined ? {} : { name }), services };
}

/** Services of one device that are remembered; a device has a few. */
const services_max = 32;
