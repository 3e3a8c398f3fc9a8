import { readdirSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";

/** A product on a serial line, as its name below /dev/serial/by-id tells it: maker, product and serial number of its USB chip. */
export interface Stick {
  /** In words, for whoever has it in hand. */
  readonly title: string;
  /** The driver that it is for; absent where the chip is in products of every kind. */
  readonly driver?: "zigbee" | "ble";
  /** The type of a Zigbee adapter. */
  readonly adapter?: "zstack" | "ember" | "deconz" | "zigate" | "zboss";
  /** The rate of its line in baud; absent: the one that is usual for its type. */
  readonly baudrate?: number;
  /** Whether both ends of its line hold each other back by RTS and CTS; absent: no. */
  readonly rtscts?: true;
}

/** The stick of this name below /dev/serial/by-id; undefined where nobody knows it. */
export function stickNamed(name: string): Stick | undefined {
  return sticks.find(({ named }) => named.test(name));
}

/**
 * The stick at a path: by the path's own name, or by a name in `directory` that leads to the same device, as for /dev/ttyUSB0. Undefined
 * where nobody knows it, or it is not plugged in.
 */
export function stickAt(path: string, directory = "/dev/serial/by-id"): Stick | undefined {
  const own = stickNamed(basename(path));
  if (own !== undefined) return own;
  try {
    const device = realpathSync(path);
    const name = readdirSync(directory).find((one) => realpathSync(join(directory, one)) === device);
    return name === undefined ? undefined : stickNamed(name);
  } catch {
    // Without a USB serial port there is no such directory, and a stick may be pulled out meanwhile.
    return undefined;
  }
}

/**
 * The first that matches holds: what is more exact stands above. Names, rates and flow control are those that zigbee-herdsman's own table of
 * adapters and the makers' pages give. zigbee-herdsman finds them for /dev/ttyUSB0 and its like alone, never for a lasting name.
 */
export const sticks: readonly (Stick & { readonly named: RegExp })[] = [
  {
    named: /sonoff.*plus.*cc2674p10/i,
    title: "Sonoff Dongle Plus PP10",
    driver: "zigbee",
    adapter: "zstack",
  },
  { named: /sonoff.*plus.*mg24/i, title: "Sonoff Dongle Plus MG24", driver: "zigbee", adapter: "ember" },
  { named: /sonoff.*lite.*mg21/i, title: "Sonoff Dongle Lite MG21", driver: "zigbee", adapter: "ember" },
  { named: /sonoff.*max/i, title: "Sonoff Dongle Max", driver: "zigbee", adapter: "ember" },
  { named: /sonoff.*plus_v2/i, title: "Sonoff ZBDongle-E", driver: "zigbee", adapter: "ember" },
  { named: /sonoff.*plus/i, title: "Sonoff ZBDongle-P", driver: "zigbee", adapter: "zstack" },
  { named: /conbee_iii/i, title: "ConBee III", driver: "zigbee", adapter: "deconz", baudrate: 115_200 },
  { named: /conbee/i, title: "ConBee", driver: "zigbee", adapter: "deconz" },
  { named: /nabu_casa_zwa/i, title: "Home Assistant stick for Z-Wave" },
  {
    named: /nabu_casa_zbt-2/i,
    title: "Home Assistant Connect ZBT-2",
    driver: "zigbee",
    adapter: "ember",
    baudrate: 460_800,
    rtscts: true,
  },
  {
    named: /nabu_casa/i,
    title: "Home Assistant SkyConnect or Connect ZBT-1",
    driver: "zigbee",
    adapter: "ember",
    rtscts: true,
  },
  { named: /slzb-0(6p|7p)/i, title: "SMLIGHT stick", driver: "zigbee", adapter: "zstack" },
  { named: /slzb-07/i, title: "SMLIGHT SLZB-07", driver: "zigbee", adapter: "ember", rtscts: true },
  { named: /slzb-/i, title: "SMLIGHT stick", driver: "zigbee", adapter: "ember" },
  { named: /electrolama|zzh/i, title: "Electrolama zzh!", driver: "zigbee", adapter: "zstack" },
  {
    named: /slae\.sh|cc2652|cc1352|zigstar/i,
    title: "stick with a CC2652",
    driver: "zigbee",
    adapter: "zstack",
  },
  { named: /cc2538/i, title: "stick with a CC2538", driver: "zigbee", adapter: "zstack" },
  { named: /cc2531/i, title: "stick with a CC2531", driver: "zigbee", adapter: "zstack" },
  {
    named: /texas_instruments/i,
    title: "LaunchPad of Texas Instruments",
    driver: "zigbee",
    adapter: "zstack",
  },
  { named: /zigate/i, title: "ZiGate", driver: "zigbee", adapter: "zigate" },
  { named: /zboss/i, title: "Nordic stick with ZBOSS", driver: "zigbee", adapter: "zboss" },
  { named: /zephyr.*(hci|bluetooth)|hci_uart|bluetooth/i, title: "Bluetooth controller", driver: "ble" },
  { named: /zephyr|nordic/i, title: "Nordic stick" },
  { named: /1a86/i, title: "serial chip CH340 or CH9102, which many products have" },
  { named: /cp210/i, title: "serial chip CP210x, which many products have" },
  { named: /ftdi|ft232|ft230/i, title: "serial chip of FTDI, which many products have" },
];
