import { type FleetHome, type FleetNeedType, fleetNeeds } from "../../../domain/fleet-home.ts";
import { numbersIn } from "../../../domain/records/visible-records.ts";
import { needsVisit } from "../home/home-needs.ts";
import type { Asked } from "../site.ts";
import { type FacetName, facetNames, type HomesAddress } from "./homes-address.ts";

/** A way to choose among homes: its values, the one that most homes have first. */
export interface Facet {
  readonly name: FacetName;
  readonly values: readonly FacetValue[];
}

interface FacetValue {
  /** As the address has it. */
  readonly value: string;
  readonly text: string;
  /** Homes that have it, of those that the other facets leave. */
  readonly homes: number;
}

/** The homes that an address chooses among some, and what else could be chosen. */
export async function chosenHomes(
  asked: Asked,
  homes: readonly FleetHome[],
  { find, chosen }: HomesAddress,
): Promise<{ readonly homes: readonly FleetHome[]; readonly facets: readonly Facet[] }> {
  const valuesOf = await valuesIn(asked, homes);
  const has = (name: FacetName, home: FleetHome) => {
    const value = chosen[name];
    return value === undefined || valuesOf[name](home).some((one) => one.value === value);
  };
  const found = homes.filter(isFound(find));
  const facets = facetNames.map((name): Facet => {
    const left = found.filter((home) => facetNames.every((other) => other === name || has(other, home)));
    const all = Map.groupBy(
      left.flatMap((home) => valuesOf[name](home)),
      ({ value }) => value,
    );
    const values = [...all].map(([value, own]) => ({
      value,
      text: own[0]?.text ?? value,
      homes: own.length,
    }));
    values.sort((one, other) => other.homes - one.homes || one.text.localeCompare(other.text, "en"));
    const own = chosen[name];
    if (own !== undefined && !all.has(own)) values.unshift({ value: own, text: own, homes: 0 });
    return { name, values: values.slice(0, values_max) };
  });
  return { homes: found.filter((home) => facetNames.every((name) => has(name, home))), facets };
}

type ValuesOf = Readonly<Record<FacetName, (home: FleetHome) => readonly Omit<FacetValue, "homes">[]>>;

/** The values that homes have, as far as the reader sees what these are made of. */
async function valuesIn(asked: Asked, homes: readonly FleetHome[]): Promise<ValuesOf> {
  const regions = new Map(
    (await asked.store.records("homes")).map(({ homeid, citystatename, countryname }) => [
      homeid,
      citystatename ?? countryname,
    ]),
  );
  const studies = await studiesOf(asked, homes);
  return {
    need: needValues,
    region: ({ homeid }) => {
      const region = regions.get(homeid) ?? undefined;
      return region === undefined ? [] : [{ value: region, text: region }];
    },
    study: ({ homeid }) => studies.get(homeid) ?? [],
    version: ({ version }) => (version === null ? [] : [{ value: version, text: version }]),
  };
}

/** The needs of a home: of whom it needs something, and each by itself. */
function needValues(home: FleetHome) {
  if (home.needs.length === 0) return [{ value: "none", text: "Nothing" }];
  const who = needsVisit(home)
    ? { value: "visit", text: "A visit" }
    : { value: "remote", text: "Something remotely" };
  const types = new Set<FleetNeedType>(home.needs.map(({ type }) => type));
  return [who, ...[...types].map((type) => ({ value: type, text: fleetNeeds[type].title }))];
}

/** The studies of the subjects of homes, by home: of those that the reader sees. */
async function studiesOf({ site, store }: Asked, homes: readonly FleetHome[]) {
  const studies = new Map(
    (await store.records("studies")).map(({ studyid, studyname }) => [studyid, studyname]),
  );
  if (studies.size === 0) return new Map<number, never>();
  const subjects = numbersIn(await store.records("subjects"), "subjectid");
  const homesOf = Map.groupBy(
    await site.store.recordsWith(
      "project_enrollments",
      "homeid",
      homes.map(({ homeid }) => homeid),
    ),
    ({ subjectid }) => subjectid,
  );
  const enrollments = await site.store.recordsWith("study_enrollments", "studyid", [...studies.keys()]);
  const found = new Map<number, Map<string, { value: string; text: string }>>();
  for (const { studyid, subjectid } of enrollments) {
    if (!subjects.has(Number(subjectid))) continue;
    const value = String(studyid);
    const text = studies.get(Number(studyid)) ?? `Study ${value}`;
    for (const homeid of numbersIn(homesOf.get(subjectid) ?? [], "homeid")) {
      const own = found.get(homeid) ?? new Map();
      found.set(homeid, own.set(value, { value, text }));
    }
  }
  return new Map([...found].map(([homeid, own]) => [homeid, [...own.values()]]));
}

function isFound(text: string): (home: FleetHome) => boolean {
  if (text === "") return () => true;
  if (/^\d+$/.test(text)) return ({ homeid }) => String(homeid).startsWith(text);
  const wanted = text.toLocaleLowerCase();
  return ({ needs, version }) =>
    [version ?? "", ...needs.map(({ message }) => message)].some((one) =>
      one.toLocaleLowerCase().includes(wanted),
    );
}

/** Values of a facet that can be chosen. */
const values_max = 100;
