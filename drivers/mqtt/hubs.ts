import { esphome } from "./esphome.ts";
import type { Hub } from "./hub.ts";
import { openmqttgateway } from "./openmqttgateway.ts";
import { zigbee2mqtt } from "./zigbee2mqtt.ts";
import { zwaveJsUi } from "./zwave-js-ui.ts";

/** Every table of topics: the one list. */
export const hubs: readonly Hub[] = [zigbee2mqtt, esphome, openmqttgateway, zwaveJsUi];
