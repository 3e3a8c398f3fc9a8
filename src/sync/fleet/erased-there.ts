import type { StoredRecord } from "../../records/record-table.ts";
import type { CentralStore, GatewayRecord } from "../../store/central-store.ts";
import type { Erasure } from "../../store/erasure.ts";
import type { GatewayReport } from "../protocol.ts";

/** Erasures at central, and who lives where, as far as gateways say that they have erased somebody. */
export interface Erased {
  readonly here: readonly Erasure[];
  /** Homes that the enrollments of subjects name, by subject; those whom central knows nothing of have none. */
  readonly homesOf: ReadonlyMap<number, readonly (number | null)[]>;
}

/** For who may not see what was erased. */
export const nothingErased: Erased = { here: [], homesOf: new Map() };

export async function erasedOf(
  store: Pick<CentralStore, "erasures" | "recordsWith">,
  gateways: readonly GatewayRecord[],
): Promise<Erased> {
  const asked = gateways.flatMap(({ report }) => (report as Partial<GatewayReport>).erasures ?? []);
  const subjects = [...new Set(asked.flatMap(({ subject }) => subject ?? []))];
  if (asked.length === 0) return { here: [], homesOf: new Map() };
  const known = (await store.recordsWith("subjects", "subjectid", subjects)).map(
    ({ subjectid }) => subjectid,
  );
  const enrollments = await store.recordsWith("project_enrollments", "subjectid", subjects);
  const homes = Map.groupBy(enrollments, ({ subjectid }) => subjectid);
  const homeOf = ({ homeid }: StoredRecord) => (typeof homeid === "number" ? homeid : null);
  return {
    here: await store.erasures(),
    homesOf: new Map(known.map((subject) => [Number(subject), (homes.get(subject) ?? []).map(homeOf)])),
  };
}

/** Subjects that a gateway has erased and central has not; null is the home. Nobody is named by it who lived in other homes alone. */
export function unanswered(
  { erasures: there = [] }: Partial<GatewayReport>,
  home: number,
  { here, homesOf }: Erased,
): (number | null)[] {
  const asked = new Set(there.map(({ subject }) => subject));
  const isOpen = (subject: number | null) => {
    if (here.some((one) => one.subject === subject && (subject !== null || one.home === home))) return false;
    if (subject === null) return true;
    const homes = homesOf.get(subject)?.filter((homeid) => homeid !== null);
    return homes !== undefined && (homes.length === 0 || homes.includes(home));
  };
  return [...asked].filter(isOpen);
}
