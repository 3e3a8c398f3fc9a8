import { bleDriver } from "./ble/driver.ts";
import { bthomeDevices } from "./bthome/driver.ts";
import type { DriverDefinition } from "./driver.ts";
import { gpioDriver } from "./gpio/driver.ts";
import { mqttDriver } from "./mqtt/driver.ts";
import type { PeripheralDefinition } from "./peripheral.ts";
import { pillboxDriver } from "./pillbox/driver.ts";
import { scales } from "./scale/driver.ts";
import { vitals } from "./vitals/driver.ts";
import { watchDriver } from "./watch/driver.ts";
import { watchPeripheral } from "./watch/peripheral.ts";
import { zigbeeDriver } from "./zigbee/driver.ts";

/** Bluetooth products: the first that recognises a device has it. */
export const peripherals: readonly PeripheralDefinition[] = [
  bthomeDevices,
  ...scales,
  watchPeripheral,
  vitals,
];

/** Every driver, by the order in which they are started. The one list: nothing else names them. */
export const drivers: readonly DriverDefinition[] = [
  gpioDriver,
  zigbeeDriver,
  pillboxDriver,
  watchDriver,
  bleDriver(peripherals),
  mqttDriver,
];
