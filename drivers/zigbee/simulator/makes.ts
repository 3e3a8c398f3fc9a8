import { ZnpSimulator } from "./coordinator.ts";
import { DeconzSimulator } from "./deconz/coordinator.ts";
import { EmberSimulator } from "./ember/coordinator.ts";
import type { SimulatorOptions, StickSimulator } from "./stick.ts";

/** Makes of simulated sticks, by the name that the configuration has for them. */
export const makes = ["zstack", "ember", "deconz"] as const;
export type Make = (typeof makes)[number];

export function isMake(name: string): name is Make {
  return (makes as readonly string[]).includes(name);
}

export function listenAs(make: Make, options: SimulatorOptions): Promise<StickSimulator> {
  switch (make) {
    case "zstack":
      return ZnpSimulator.listen(options);
    case "ember":
      return EmberSimulator.listen(options);
    case "deconz":
      return DeconzSimulator.listen(options);
  }
}
