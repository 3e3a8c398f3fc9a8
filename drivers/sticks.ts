/** A product on a serial line, as its name below /dev/serial/by-id tells it: maker, product and serial number of its USB chip. */
export interface Stick {
  /** In words, for whoever has it in hand. */
  readonly title: string;
  /** The driver that it is for; absent where the chip is in products of every kind. */
  readonly driver?: "zigbee" | "ble";
  /** The type of a Zigbee adapter. */
  readonly adapter?: "zstack" | "ember" | "deconz" | "zigate" | "zboss";
}

/**
 * The stick of this name below /dev/serial/by-id; undefined where nobody knows it. Names are those that zigbee-herdsman's own table of
 * adapters and the makers' pages give.
 */
export function stickNamed(name: string): Stick | undefined {
  return sticks.find(({ named }) => named.test(name));
}

/** The first that matches holds: what is more exact stands above. */
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
  { named: /conbee/i, title: "ConBee", driver: "zigbee", adapter: "deconz" },
  { named: /nabu_casa/i, title: "Home Assistant stick", driver: "zigbee", adapter: "ember" },
  { named: /slzb-0(6p|7p)/i, title: "SMLIGHT stick", driver: "zigbee", adapter: "zstack" },
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
