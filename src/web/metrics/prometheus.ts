import { disk_low_bytes } from "../../base/disk/disk-fault.ts";
import {
  backup_age_max_h,
  centralNeeds,
  certificate_left_min_h,
  fleetNeeds,
  type NeedDuty,
  type NeedLevel,
  needDuties,
} from "../../domain/fleet-home.ts";
import { homeFigures, needsMetric } from "./home-figures.ts";

/** An alerting rule of Prometheus. */
export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly keep_firing_for?: string;
  readonly labels: { readonly level: NeedLevel; readonly duty: NeedDuty };
  readonly annotations: { readonly summary: string };
}

/** Rules for each need of a home, after the time of its row, and for central itself. */
export function alertingRules(): AlertingRule[] {
  const homes = Object.entries(fleetNeeds).map(([need, { title, level, duty, after_h, over_h }]) => ({
    alert: `Lintel${titleCase(need)}`,
    expr: `sum by (home) (${needsMetric}{need="${need}"}) > 0`,
    for: `${after_h}h`,
    keep_firing_for: `${over_h}h`,
    labels: { level, duty },
    annotations: { summary: `${title}: home {{ $labels.home }}` },
  }));
  return [...homes, ...otherRules];
}

const serverRule = (
  alert: string,
  expr: string,
  lasting: string,
  level: NeedLevel,
  summary: string,
): AlertingRule => ({
  ...{ alert, expr, for: lasting },
  labels: { level, duty: "server" },
  annotations: { summary },
});

/** Rules that no row of the table of needs has: a server that is away knows of no needs. */
const otherRules: readonly AlertingRule[] = [
  serverRule(
    "LintelNotServing",
    'up{job="lintel"} == 0',
    "10m",
    "urgent",
    "{{ $labels.instance }} does not serve metrics",
  ),
  serverRule(
    "LintelServerDiskNearlyFull",
    `lintel_disk_free_bytes < ${disk_low_bytes}`,
    "5m",
    "urgent",
    "The disk of {{ $labels.instance }} is nearly full",
  ),
  serverRule(
    "LintelMemoryGrows",
    "lintel_home_memory_resident_bytes > 1.5 * min_over_time(lintel_home_memory_resident_bytes[7d])",
    "48h",
    "digest",
    "The gateway of home {{ $labels.home }} has half as much memory again as in the past week",
  ),
  serverRule(
    "LintelBackupOld",
    `lintel_backup_age_seconds > ${backup_age_max_h * 3_600}`,
    "1h",
    centralNeeds.backup_old.level,
    `{{ $labels.instance }} has no backup of the last ${backup_age_max_h / 24} days`,
  ),
  serverRule(
    "LintelCertificateEnds",
    `lintel_certificate_left_seconds < ${certificate_left_min_h * 3_600}`,
    "1h",
    centralNeeds.certificate_ends.level,
    `The TLS certificate of {{ $labels.instance }} ends within ${certificate_left_min_h / 24} days`,
  ),
  serverRule(
    "LintelMailsWait",
    "lintel_mails_waiting > 0",
    "4h",
    "normal",
    "{{ $labels.instance }} cannot deliver alerts about homes: lintel alerts list says why",
  ),
  serverRule(
    "LintelUploadsSentAway",
    "increase(lintel_later_total[1h]) > 0",
    "6h",
    "normal",
    "{{ $labels.instance }} has been full for hours, and sends gateways away",
  ),
];

/** A file of rules for Prometheus, which reads YAML: JSON is YAML too. */
export function prometheusRules() {
  return { groups: [{ name: "lintel", rules: alertingRules() }] };
}

/** A Grafana dashboard, to be imported: needs first, then each figure of homes. */
export function grafanaDashboard() {
  const byNeed = `count by (need) (${needsMetric})`;
  const panels = [
    panel("stat", "Homes", "lintel_homes"),
    panel("stat", "Homes that need somebody", `count(count by (home) (${needsMetric})) or vector(0)`),
    ...needDuties
      .filter((duty) => Object.values(fleetNeeds).some((row) => row.duty === duty))
      .map((duty) => panel("stat", `Needs for ${duty}`, `sum(${needsMetric}{duty="${duty}"}) or vector(0)`)),
    panel("timeseries", "Homes by need", byNeed, { legend: "{{need}}" }),
    panel("table", "Needs", `${needsMetric} > 0`, { instant: true }),
    panel("timeseries", "Homes by release", "count by (version) (lintel_home_release)", {
      legend: "{{version}}",
    }),
    ...homeFigures.map(({ name, help, unit }) =>
      panel("timeseries", help, `${unit === undefined ? name : `${name}_${unit}`}{home=~"$home"}`, {
        legend: "home {{home}}",
        unit: unit && grafanaUnits[unit],
      }),
    ),
  ];
  return {
    title: "Lintel: homes",
    uid: "lintel-homes",
    schemaVersion: 38,
    timezone: "browser",
    time: { from: "now-14d", to: "now" },
    refresh: "5m",
    templating: {
      list: [
        { name: "source", type: "datasource", query: "prometheus" },
        {
          ...{ name: "home", type: "query", datasource, includeAll: true, multi: true, allValue: ".*" },
          query: { query: "label_values(lintel_home_items, home)", refId: "home" },
          refresh: 2,
        },
      ],
    },
    annotations: { list: [] },
    panels: placed(panels),
  };
}

const datasource = { type: "prometheus", uid: "$source" } as const;

const grafanaUnits = { bytes: "bytes", seconds: "s", celsius: "celsius", ratio: "percentunit" } as const;

/** A panel of one query, not placed yet. */
function panel(
  type: "stat" | "table" | "timeseries",
  title: string,
  expr: string,
  { legend, unit, instant = false }: { legend?: string; unit?: string | undefined; instant?: boolean } = {},
) {
  return {
    ...{ type, title, datasource },
    fieldConfig: { defaults: unit === undefined ? {} : { unit }, overrides: [] },
    targets: [
      {
        ...{ refId: "A", datasource, expr, instant },
        ...(legend === undefined ? {} : { legendFormat: legend }),
        ...(type === "table" ? { format: "table" } : {}),
      },
    ],
  };
}

/** Panels in rows of a grid of 24 columns. */
function placed(panels: readonly ReturnType<typeof panel>[]) {
  let [x, y, bottom] = [0, 0, 0];
  return panels.map((one, place) => {
    const [w, h] = one.type === "stat" ? [4, 4] : [12, 8];
    if (x + w > 24) [x, y] = [0, bottom];
    const gridPos = { x, y, w, h };
    x += w;
    bottom = Math.max(bottom, y + h);
    return { id: place + 1, ...one, gridPos };
  });
}

function titleCase(name: string): string {
  return name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
}
