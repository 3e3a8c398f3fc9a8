/** A sensor of a line, and where along it: metres from any point on the line. */
interface PlacedSensor {
  readonly item: string;
  readonly metres: number;
}

/** Curtain sensors in a line, in the order in which they hang. */
export interface WalkingLine {
  readonly name: string;
  readonly sensors: readonly PlacedSensor[];
}

/** A sensor began to see somebody. Unix milliseconds, in which walking speed is measured. */
export interface SensorPass {
  readonly item: string;
  readonly at_ms: number;
}

export interface WalkingPass {
  /** When the first sensor of it saw somebody. */
  readonly from_ms: number;
  readonly to_ms: number;
  /** Metres a second. */
  readonly speed: number;
  /** Whether the metres of the line rise or fall along it. */
  readonly direction: "rising" | "falling";
  /** How many sensors saw it. */
  readonly sensors: number;
}

/** Why sightings that belong together are no walk. */
export const passRejections = {
  too_few_sensors: "too few sensors of the line saw it",
  turned_back: "turned back on the way",
  several_people: "sensors fired in no order: several people",
  uneven: "stopped or was overtaken on the way",
  too_fast: "faster than 2.5 m/s",
  too_slow: "slower than 0.1 m/s",
} as const;

export type PassRejection = keyof typeof passRejections;

export interface WalkingFindings {
  readonly walks: readonly WalkingPass[];
  /** How often something along the line was no walk, by reason. */
  readonly rejected: Readonly<Record<PassRejection, number>>;
}

/**
 * Walks along a line of restricted-view infrared sensors, and their speeds.
 *
 * The method is that of Hagler, Austin, Hayes, Kaye and Pavel, "Unobtrusive and ubiquitous in-home monitoring: a
 * methodology for continuous assessment of gait velocity in elders", IEEE Trans. Biomed. Eng. 57 (2010) 813–820,
 * doi:10.1109/TBME.2009.2036732: sensors in a row over a hallway, a speed fitted to when each of them fired. There,
 * against a gait mat, single walks came out within 7.1 cm/s of the truth on average (SD 11.3 cm/s), 1.1 cm/s (SD 9.1)
 * once calibrated. Hayes, Hagler, Austin, Kaye and Pavel (EMBC 2009, doi:10.1109/IEMBS.2009.5334746) found the home's
 * typical speed slower than a timed walk in the clinic. Such a line cannot tell who walks: in a home of several people
 * speeds are a mixture (Austin, Hayes, Kaye, Mattek and Pavel 2011, PMC3093199).
 *
 * Sightings that follow each other faster than the slowest walker could are looked at together. They are walks where
 * they fall into runs in the order of the line, each seen by all of its sensors or all but one (three at least);
 * otherwise they are counted under what they most likely were. Positions are exact and times are not, so the least
 * squares are of time against position, and the speed is one over the slope.
 */
export function walkingPassesOf(
  line: readonly PlacedSensor[],
  sightings: readonly SensorPass[],
): WalkingFindings {
  const places = new Map(line.map(({ item, metres }) => [item, metres]));
  const passes = sightings
    .flatMap(({ item, at_ms }) => {
      const metres = places.get(item);
      return metres === undefined ? [] : [{ metres, at_ms }];
    })
    .sort((one, other) => one.at_ms - other.at_ms || one.metres - other.metres);
  const bounds = boundsOf(line);
  const walks: WalkingPass[] = [];
  const rejected = Object.fromEntries(Object.keys(passRejections).map((reason) => [reason, 0])) as Record<
    PassRejection,
    number
  >;
  for (const episode of episodesOf(passes, bounds.pause_ms_max)) {
    const runs = oneWayParts(episode);
    const reason = disorderOf(runs, bounds.sensors_min);
    if (reason !== undefined) rejected[reason]++;
    else
      for (const run of runs) {
        const walk = measured(run, bounds.spacing_m);
        if (typeof walk === "string") rejected[walk]++;
        else walks.push(walk);
      }
  }
  return { walks, rejected };
}

interface Crossing {
  readonly metres: number;
  readonly at_ms: number;
}

interface LineBounds {
  /** Fewer sensors than this are no walk. */
  readonly sensors_min: number;
  /** Longer than this between two sightings, and they have nothing to do with each other. */
  readonly pause_ms_max: number;
  /** Mean distance of neighbours. */
  readonly spacing_m: number;
}

function boundsOf(line: readonly PlacedSensor[]): LineBounds {
  const metres = line.map((sensor) => sensor.metres).sort((one, other) => one - other);
  // One sensor may have failed to fire, so the slowest walker has the way between the next but one to go.
  const farthest_m = Math.max(0, ...metres.map((at, index) => at - (metres[Math.max(0, index - 2)] ?? at)));
  return {
    sensors_min: Math.max(sensors_least, line.length - 1),
    pause_ms_max: (farthest_m / speed_min) * 1_000,
    spacing_m: ((metres.at(-1) ?? 0) - (metres[0] ?? 0)) / Math.max(1, metres.length - 1),
  };
}

/** Groups of passes that follow each other without a long pause. */
function episodesOf(passes: readonly Crossing[], pause_ms_max: number): Crossing[][] {
  const episodes: Crossing[][] = [];
  let last_ms = -Infinity;
  for (const pass of passes) {
    if (pass.at_ms - last_ms > pause_ms_max) episodes.push([]);
    episodes.at(-1)?.push(pass);
    last_ms = pass.at_ms;
  }
  return episodes;
}

/** An episode cut wherever the direction changes, each run with one sighting a sensor. */
function oneWayParts(episode: readonly Crossing[]): Crossing[][] {
  const runs: Crossing[][] = [];
  let run: Crossing[] = [];
  let direction = 0;
  for (const pass of episode) {
    const last = run.at(-1);
    const step = last === undefined ? 0 : Math.sign(pass.metres - last.metres);
    if (last === undefined) run = [pass];
    else if (step === 0) {
      // Who lingers before the first sensor sets out with its last sighting; later ones count when first reached.
      if (run.length === 1) run = [pass];
    } else if (direction === 0 || step === direction) {
      direction = step;
      run.push(pass);
    } else {
      runs.push(run);
      run = [pass];
      direction = 0;
    }
  }
  if (run.length > 0) runs.push(run);
  return runs;
}

/** Why the runs of an episode are no walks, if they are none. */
function disorderOf(runs: readonly Crossing[][], sensors_min: number): PassRejection | undefined {
  if (runs.every((run) => run.length >= sensors_min)) return undefined;
  if (runs.length === 1) return "too_few_sensors";
  return runs.length === 2 ? "turned_back" : "several_people";
}

function measured(run: readonly Crossing[], spacing_m: number): WalkingPass | PassRejection {
  const [from_ms, to_ms] = [run[0]?.at_ms ?? 0, run.at(-1)?.at_ms ?? 0];
  const times_s = run.map(({ at_ms }) => (at_ms - from_ms) / 1_000);
  const metres = run.map((pass) => pass.metres);
  const [mean_s, mean_m] = [mean(times_s), mean(metres)];
  const covariance = mean(
    run.map((_, index) => (of(times_s, index) - mean_s) * (of(metres, index) - mean_m)),
  );
  const slope_s_m = covariance / mean(metres.map((at) => (at - mean_m) ** 2));
  const speed = 1 / Math.abs(slope_s_m);
  if (!(speed <= speed_max)) return "too_fast";
  if (speed < speed_min) return "too_slow";
  const stray_m = run.map(
    (_, index) => Math.abs(of(times_s, index) - mean_s - slope_s_m * (of(metres, index) - mean_m)) * speed,
  );
  if (Math.max(...stray_m) > spacing_m * uneven_share_max) return "uneven";
  return { from_ms, to_ms, speed, direction: slope_s_m > 0 ? "rising" : "falling", sensors: run.length };
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
}

function of(numbers: readonly number[], index: number): number {
  return numbers[index] ?? Number.NaN;
}

/** Metres a second: what no walker indoors is above or below. */
const speed_max = 2.5;
const speed_min = 0.1;
/** A line through two points says nothing of its own error. */
const sensors_least = 3;
/** How far a walker may be from an even pace, in distances of neighbours. */
const uneven_share_max = 0.5;
