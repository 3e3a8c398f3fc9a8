import { day_ms } from "../../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../../src/demo/history.ts";
import { outagesBefore } from "../../../../src/demo/outages.ts";
import { SimulatedGateway } from "../../../../testbed/simulated-gateway.ts";
import { deviceIn, simulated } from "../../../benchmarks/with-source/central/home-data.ts";

/**
 * The readings that a home's gateway has to upload: 1,300 of days as the demo's, which is a day and a half. The same
 * for the same home.
 */
export function nightOf(home: number): SimulatedGateway {
  const gateway = new SimulatedGateway(home, `gateway of home ${home}`);
  const telling = new Telling(home * seeds_per_home, outagesBefore(first_ms + 90 * day_ms));
  const readings = midnightsOf(first_ms, first_ms + 2 * day_ms).flatMap(
    (midnight_ms) => telling.day(midnight_ms).readings,
  );
  for (const reading of readings.slice(0, night_readings))
    gateway.add({ ...simulated(reading), device: deviceIn(home, reading.device) });
  return gateway;
}

const night_readings = 1_300;
/** Each device has a seed of its own, beside that of the home. */
const seeds_per_home = 100;
const first_ms = Date.UTC(2026, 2, 10);
