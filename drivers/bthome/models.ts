import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { Product } from "../driver.ts";

/** Sensors by the local name that they broadcast. Source: https://shelly-api-docs.shelly.cloud, "BLU devices". */
export const models: Readonly<Record<string, { readonly model: string; readonly vendor: string }>> = {
  "SBDW-002C": { model: "SBDW-002C", vendor: "Shelly" },
  "SBMO-003Z": { model: "SBMO-003Z", vendor: "Shelly" },
  "SBBT-002C": { model: "SBBT-002C", vendor: "Shelly" },
  "SBHT-003C": { model: "SBHT-003C", vendor: "Shelly" },
};

const missed = "events whose broadcasts nobody heard";

/** Facts of a pill box, and of a door sensor as a box of one lid. */
export const boxFacts: DeviceFacts = {
  description: "pill box with seven doors that broadcasts each change",
  events: { form: "received", from: "state of the doors and count of changes (BTHome v2 objects 09 and 3D)" },
  never: [`${missed}, but for how many they were`],
  battery: "per cent",
};
export const lidFacts: DeviceFacts = {
  description: "door and window sensor that broadcasts each change",
  events: { form: "translated", from: "state of one door (BTHome v2 object 1A, 2D or 11), as bit 0" },
  never: [missed],
  battery: "per cent",
};

/** Facts of a sensor that has told these quantities so far. */
export function sensorFacts(
  told: ReadonlyMap<string, string>,
  { tellsBits }: { readonly tellsBits: boolean },
): DeviceFacts {
  const measures = [...told].map(([quantity, unit]) => ({ quantity, unit }));
  return {
    description: "sensor that broadcasts (BTHome v2)",
    ...(tellsBits
      ? {
          events: {
            form: "translated",
            from: "binary objects of BTHome v2: presence as bit 1, open and water as bit 0",
          },
        }
      : {}),
    ...(measures.length === 0 ? {} : { measures }),
    never: [missed],
    battery: "per cent",
  };
}

const key = "its bind key in `[ble.keys]` where it encrypts";

export const products: readonly Product[] = [
  { name: "Pill boxes that broadcast", needs: key, series: ["pillbox_events"], facts: boxFacts },
  {
    name: "Door and window sensors as boxes of one lid",
    needs: key,
    series: ["pillbox_events"],
    facts: lidFacts,
  },
  {
    name: `Sensors of BTHome v2, of any maker; known by name: ${Object.values(models)
      .map(({ vendor, model }) => `${vendor} ${model}`)
      .join(", ")}`,
    needs: `${key}; door and window sensors that are on a door in \`[ble.bthome] sensors\``,
    series: ["wirelesssensor_events", "wirelesssensor_measures"],
    facts: sensorFacts(new Map(), { tellsBits: true }),
  },
];
