import { clockQuality } from "../../src/base/clock.ts";
import { bytesOf, type ProvenTable } from "../wire/example.ts";
import { adType, decodeAdvertisingData } from "./advertising.ts";
import { decodeDeclaration, propertyBits } from "./gatt.ts";
import { decodeAdvertisingReports, reportKinds } from "./hci.ts";

const moment = { unix_ms: 0, monotonic_ms: 0, quality: clockQuality.synchronised };
const assigned = "Assigned Numbers 2.3";
const uart = "9ecadc240ee5a9e093f3a3b50100406e";
const report = (kind: string, told: string) =>
  ["Core 5.4, Vol 4, Part E, 7.7.65.2", [`043e0f0201${kind}01a5808fe6485403020106c4`, told]] as const;
const declaration = (bits: string, told: string) =>
  ["Core 5.4, Vol 3, Part G, 3.3.1.1", [`${bits} 0300 372a`, told]] as const;

export const bleTables: readonly ProvenTable[] = [
  {
    name: "ble AD types",
    rows: Object.keys(adType),
    proofs: {
      flags: [assigned, ["020106", "services"]],
      someServices16: [assigned, ["03021d18", "services 181d"], ["05021d180f18", "services 181d 180f"]],
      services16: [assigned, ["03031d18", "services 181d"]],
      someServices128: [assigned, [`1106${uart}`, "services 6e400001-b5a3-f393-e0a9-e50e24dcca9e"]],
      services128: [assigned, [`1107${uart}`, "services 6e400001-b5a3-f393-e0a9-e50e24dcca9e"]],
      shortName: [assigned, ["0408426f78", "services name Box"]],
      name: [assigned, ["0409426f78", "services name Box"]],
      serviceData16: [assigned, ["0516d2fc4001", "services data fcd2=4001"]],
      serviceData32: [assigned, ["07209efe00000102", "services data fe9e=0102"]],
      serviceData128: [assigned, [`1221${uart}03`, "services data 6e400001-b5a3-f393-e0a9-e50e24dcca9e=03"]],
      manufacturer: [assigned, ["05ff9005aabb", "services maker 0590=aabb"], ["02ff90", "services"]],
    },
    moment,
    feed: (message) => {
      const {
        name,
        services = [],
        serviceData = {},
        manufacturerData,
      } = decodeAdvertisingData(bytesOf(message));
      return [
        "services",
        ...services,
        ...(name === undefined ? [] : [`name ${name}`]),
        ...Object.entries(serviceData).map(([uuid, data]) => `data ${uuid}=${data.toHex()}`),
        ...(manufacturerData === undefined
          ? []
          : [
              `maker ${manufacturerData.company.toString(16).padStart(4, "0")}=${manufacturerData.data.toHex()}`,
            ]),
      ].join(" ");
    },
  },
  {
    name: "ble kinds of reports",
    rows: Object.keys(reportKinds),
    proofs: {
      connectable: report("00", "connectable random 54:48:e6:8f:80:a5 -60 dBm"),
      directed: report("01", "directed random 54:48:e6:8f:80:a5 -60 dBm"),
      scannable: report("02", "scannable random 54:48:e6:8f:80:a5 -60 dBm"),
      nonconnectable: report("03", "nonconnectable random 54:48:e6:8f:80:a5 -60 dBm"),
      scanResponse: report("04", "scanResponse random 54:48:e6:8f:80:a5 -60 dBm"),
    },
    moment,
    feed: (message) => {
      const [one] = decodeAdvertisingReports(Buffer.from(bytesOf(message))) ?? [];
      return `${one?.kind} ${one?.addressType} ${one?.address} ${one?.rssi} dBm`;
    },
  },
  {
    name: "ble properties of characteristics",
    rows: Object.keys(propertyBits),
    proofs: {
      read: declaration("02", "read 3 2a37"),
      writeWithoutResponse: declaration("04", "writeWithoutResponse 3 2a37"),
      write: declaration("08", "write 3 2a37"),
      notify: declaration("10", "notify 3 2a37"),
      indicate: declaration("20", "indicate 3 2a37"),
    },
    moment,
    feed: (message) => {
      const { properties = [], valueHandle, uuid } = decodeDeclaration(bytesOf(message)) ?? {};
      return [...properties, valueHandle, uuid].join(" ");
    },
  },
];
