/** Messages as the hubs publish them, byte for byte but for what Lintel does not read. */
export interface HubPublish {
  readonly topic: string;
  readonly payload: string;
  readonly retain?: boolean;
}

/** A device of Zigbee2MQTT: https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html#zigbee2mqtt-bridge-devices */
export interface ZigbeeDevice {
  /** `0x00158d0001a2b3c4` */
  readonly ieee: string;
  readonly name: string;
  readonly model: string;
  readonly vendor: string;
  readonly firmware?: string;
  readonly exposes?: readonly {
    readonly type: string;
    readonly property: string;
    readonly unit?: string;
    readonly access?: number;
  }[];
}

export function zigbeeDevices(devices: readonly ZigbeeDevice[]): HubPublish {
  const coordinator = {
    ieee_address: "0x00124b0012345678",
    type: "Coordinator",
    friendly_name: "Coordinator",
    supported: true,
    definition: null,
  };
  const list = devices.map(({ ieee, name, model, vendor, firmware, exposes = [] }) => ({
    ieee_address: ieee,
    type: "EndDevice",
    network_address: 29_159,
    supported: true,
    disabled: false,
    friendly_name: name,
    definition: { source: "native", model, vendor, description: "", exposes, options: [] },
    power_source: "Battery",
    interview_state: "SUCCESSFUL",
    manufacturer: vendor,
    model_id: model,
    ...(firmware === undefined ? {} : { software_build_id: firmware, date_code: "20240501" }),
  }));
  return {
    topic: "zigbee2mqtt/bridge/devices",
    payload: JSON.stringify([coordinator, ...list]),
    retain: true,
  };
}

export function zigbeeInfo(advanced: { cache_state: boolean; last_seen: string }): HubPublish {
  const info = {
    version: "2.6.0",
    permit_join: false,
    config: { advanced, mqtt: { base_topic: "zigbee2mqtt" } },
  };
  return { topic: "zigbee2mqtt/bridge/info", payload: JSON.stringify(info), retain: true };
}

export function zigbeeState(name: string, values: Readonly<Record<string, unknown>>): HubPublish {
  return { topic: `zigbee2mqtt/${name}`, payload: JSON.stringify({ linkquality: 120, ...values }) };
}

/** A sensor of an ESPHome node, as `mqtt_component.cpp` tells of it. */
export function esphomeConfig(options: {
  mac: string;
  node: string;
  component: "binary_sensor" | "sensor";
  object: string;
  deviceClass: string;
  unit?: string;
}): HubPublish {
  const { mac, node, component, object, deviceClass, unit } = options;
  const config = {
    dev_cla: deviceClass,
    ...(unit === undefined ? {} : { unit_of_meas: unit, stat_cla: "measurement" }),
    name: object,
    stat_t: `${node}/${component}/${object}/state`,
    avty_t: `${node}/status`,
    uniq_id: `ESP${component}${object}`,
    dev: {
      ids: mac,
      name: node,
      sw: "2025.11.0 (config hash 0x1a2b3c4d)",
      mdl: "esp32dev",
      mf: "Espressif",
      cns: [["mac", mac]],
    },
  };
  const topic = `homeassistant/${component}/${node}/${object}/config`;
  return { topic, payload: JSON.stringify(config), retain: true };
}

/** ESPHome retains states unless it is told not to. */
export function esphomeState(
  node: string,
  component: "binary_sensor" | "sensor",
  object: string,
  state: string,
): HubPublish {
  return { topic: `${node}/${component}/${object}/state`, payload: state, retain: true };
}

/** A broadcast that OpenMQTTGateway has decoded. */
export function theengsBroadcast(mac: string, values: Readonly<Record<string, unknown>>): HubPublish {
  const payload = { id: mac, mac_type: 0, adv_type: 0, rssi: -71, type: "UNIQ", ...values };
  return {
    topic: `home/OpenMQTTGateway/BTtoMQTT/${mac.replaceAll(":", "")}`,
    payload: JSON.stringify(payload),
  };
}

/** The status of a node, which Z-Wave JS UI tells when it starts and when it changes. */
export function zwaveStatus(node: string, nodeId: number, time: number): HubPublish {
  const status = { time, value: true, status: "Alive", nodeId };
  return { topic: `zwave/${node}/status`, payload: JSON.stringify(status), retain: true };
}

/** A value as an entire value object; `property` is the topic behind the endpoint. */
export function zwaveValue(
  node: string,
  told: {
    nodeId: number;
    commandClass: string;
    property: string;
    value: unknown;
    unit?: string;
    time: number;
  },
): HubPublish {
  const { nodeId, commandClass, property, value, unit, time } = told;
  const payload = { nodeId, endpoint: 0, readable: true, writeable: false, unit, value, lastUpdate: time };
  return { topic: `zwave/${node}/${commandClass}/endpoint_0/${property}`, payload: JSON.stringify(payload) };
}
