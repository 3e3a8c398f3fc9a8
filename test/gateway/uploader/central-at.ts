import { CentralClient, type CentralClientOptions } from "../../../src/transfer/central-client.ts";
import { seeded } from "../../../testbed/sample.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";

/** Central at an address; waits between attempts pass at once, and are kept. */
export function centralAt(
  url: string,
  rest: Partial<CentralClientOptions> = {},
): { central: CentralClient; waits: number[]; reasons: string[]; clock: TravellingClock } {
  const clock = new TravellingClock();
  const waits: number[] = [];
  const reasons: string[] = [];
  const central = new CentralClient({
    url,
    token: "a.b",
    bytes_per_s: 1e9,
    clock,
    random: seeded(3),
    stop: new AbortController().signal,
    onRetry: (reason, delay_ms) => {
      reasons.push(reason);
      waits.push(delay_ms);
      setTimeout(() => clock.travel(delay_ms), 0);
    },
    ...rest,
  });
  return { central, waits, reasons, clock };
}
