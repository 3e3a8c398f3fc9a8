import { sensor, start_ms } from "../../testbed/sample.ts";
import { dayOf, type SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { gatewayOf } from "../central/receiver/receiving.ts";

/** The gateway of home 12 with a hundred readings of its sensor on one day, and how its readings of that day after a number are asked for. */
export function sensorDay(after_seq: number) {
  const own: SimulatedGateway = gatewayOf(12, 100);
  const day = dayOf(start_ms);
  const ofDay = {
    epoch: own.epoch,
    through_seq: 100,
    series: "wirelesssensor_events",
    kind: "wirelesssensors",
    address: sensor(12).address,
    day,
    after_seq,
  } as const;
  return { own, day, ofDay };
}
