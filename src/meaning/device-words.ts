import type { DeviceRecord } from "../records/device.ts";

/** The facts of a device in words for a methods section, a line each; what is not known has none. */
export function methodsLines(device: DeviceRecord): { readonly title: string; readonly value: string }[] {
  const { description, driver, events, eventsfrom, measures, nevertells, blind, cadence } = device;
  const lines: Readonly<Record<string, string | undefined>> = {
    Device: description ?? undefined,
    "Heard by": driver === null ? undefined : (radios[driver] ?? driver),
    Recorded:
      events === null ? undefined : `${events === "received" ? "as received" : "translated"}: ${eventsfrom}`,
    Measures: some(measures.map(({ quantity, unit }) => (unit === "" ? quantity : `${quantity} (${unit})`))),
    "Never tells": some(nevertells),
    "Sees nothing": blind === null ? undefined : `for ${lengthText(blind)} after an event`,
    "Is heard": cadence === null ? "when it is used" : `at least every ${lengthText(cadence)}`,
    Battery: batteryText(device),
  };
  return Object.entries(lines).flatMap(([title, value]) => (value === undefined ? [] : [{ title, value }]));
}

/** The radio or wire of a driver, in the words of who set it up. */
const radios: Readonly<Record<string, string>> = {
  zigbee: "Zigbee",
  ble: "Bluetooth",
  pillbox: "the radio of polled pill boxes",
  watch: "a wire",
  mqtt: "another hub, by MQTT",
};

function batteryText({ battery, batteryvoltage, batteryunit }: DeviceRecord): string | undefined {
  return some([
    ...(battery === null ? [] : [`${Math.round(battery)} %`]),
    ...(batteryvoltage === null ? [] : [`${Math.round(batteryvoltage)} mV`]),
    ...(batteryunit === null ? [] : [`told in ${batteryunit}`]),
  ]);
}

function some(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join(", ");
}

function lengthText(seconds: number): string {
  if (seconds >= 7_200 && seconds % 3_600 === 0) return `${seconds / 3_600} h`;
  return seconds >= 120 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
