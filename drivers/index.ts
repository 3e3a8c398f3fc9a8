import type { DriverDefinition } from "./driver.ts";
import { gpioDriver } from "./gpio/driver.ts";
import { pillboxDriver } from "./pillbox/driver.ts";
import { zigbeeDriver } from "./zigbee/driver.ts";

/** Every driver, by the order in which they are started. The one list: nothing else names them. */
export const drivers: readonly DriverDefinition[] = [gpioDriver, zigbeeDriver, pillboxDriver];
