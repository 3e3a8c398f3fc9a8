import { describe, expect, test } from "bun:test";
import { sightingOf } from "../../drivers/bthome/sighting.ts";
import { hubs } from "../../drivers/mqtt/hubs.ts";
import { decodeBattery } from "../../drivers/scale/standard.ts";
import { decodeLine } from "../../drivers/watch/health-log.ts";
import { toldBy } from "../../drivers/wire/properties.ts";

/** A message of each hub that tells a charge, and something else where it needs that. */
const messages: Record<string, (percent: number) => readonly [topic: string, told: object]> = {
  zigbee2mqtt: (battery) => ["0x00124b0021a8ec79", { battery, occupancy: true }],
  openmqttgateway: (batt) => ["gateway/BTtoMQTT/A4C138000001", { id: "A4:C1:38:00:00:01", tempc: 20, batt }],
  "zwave-js-ui": (value) => ["nodeID_7/battery/endpoint_0/level", { value, time: 1_800_000_000_000 }],
};

/** The charge as it is heard; undefined where none is. */
const charges: Record<string, (percent: number) => number | undefined> = {
  "an object of BTHome": (value) => {
    const seen = sightingOf([
      { id: 0x2d, value: 1 },
      { id: 0x01, value },
    ] as never);
    return typeof seen === "object" ? seen.battery_percent : undefined;
  },
  "a scale's characteristic": (percent) => decodeBattery(Uint8Array.of(percent)),
  "a watch's line": (bat) => {
    const message = decodeLine(JSON.stringify({ t: "status", bat }));
    return message?.kind === "battery" ? message.percent : undefined;
  },
  "a property": (battery) => toldBy({ battery }, new Map()).battery.battery_percent,
  ...Object.fromEntries(
    hubs.flatMap((hub) => {
      const message = messages[hub.name];
      if (message === undefined) return [];
      const read = (percent: number) => {
        const [topic, told] = message(percent);
        const payload = new TextEncoder().encode(JSON.stringify(told));
        const localAddress = "02:00:00:00";
        const heard = hub.read({ path: topic.split("/"), topic, payload, localAddress }, new Map());
        if (typeof heard !== "object" || !("device" in heard)) throw new Error(JSON.stringify(heard));
        return heard.battery_percent;
      };
      return [[`a message of ${hub.title}`, read] as const];
    }),
  ),
};

describe.each(Object.entries(charges))("the charge in %s", (_name, chargeOf) => {
  test("is heard from empty to full", () => {
    for (const percent of [0, 1, 50, 99, 100]) expect(chargeOf(percent)).toBe(percent);
  });

  test("is none, or full, above 100 %", () => {
    for (const percent of [101, 255]) expect([undefined, 100]).toContain(chargeOf(percent));
  });
});

test("each hub that tells a charge by a number is here", () => {
  // ESPHome's battery is a sign, or a measure of any name.
  expect(hubs.map(({ name }) => name).filter((name) => name !== "esphome")).toEqual(Object.keys(messages));
});
