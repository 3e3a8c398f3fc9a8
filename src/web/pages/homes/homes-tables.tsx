import { day_ms } from "../../../base/time.ts";
import { DeviceLink } from "../parts/page-frame.tsx";
import { Table } from "../parts/table.tsx";
import { agoText, calendarText, exactText, momentText, numberText } from "../time-text.ts";
import type { ArrivalState } from "./daily-arrivals.ts";
import { firstAddress, type HomesAddress, hrefTo, pathTo, type Sort, sorts } from "./homes-address.ts";
import type { BatteryRow, FirmwareRow, HomeRow, ReplacedRow, SilentRow, VersionRow } from "./homes-data.ts";

interface TableOfRows<Row> {
  readonly rows: readonly Row[];
  readonly locale: string;
  readonly now_ms: number;
}

/** Homes as rows, each with its last nights. */
export function HomeTable(of: TableOfRows<HomeRow> & { address: HomesAddress }) {
  const { rows, address, locale, now_ms } = of;
  return (
    <>
      <NightLegend />
      <Table
        name="Homes"
        class="home-rows"
        stacked
        head={[
          sortedBy("home", address),
          sortedBy("needs", address),
          "Last 30 nights",
          sortedBy("upload", address),
          sortedBy("silent", address),
          sortedBy("backlog", address),
          sortedBy("version", address),
        ]}
      >
        {rows.map(({ homeid, zone, nights, last, upload_ms, backlog, items, silent, version, needs }) => (
          <tr key={homeid}>
            <HomeCell homeid={homeid} />
            <td class={needs === "visit" ? "person" : undefined}>
              {needs === "visit" ? "needs a visit" : needs === "remote" ? "needs a look" : ""}
            </td>
            <td class="nights whole">
              <NightCells nights={nights} last={last} locale={locale} />
            </td>
            <td data-label={sorts.upload}>
              {upload_ms === null ? (
                "never"
              ) : (
                <span title={exactText(upload_ms, { locale, zone, now_ms })}>
                  {agoText(upload_ms, { now_ms })}
                </span>
              )}
            </td>
            <td data-label={sorts.silent} class={silent > 0 ? "person" : "quiet usual"}>
              {silent > 0 ? `${silent} of ${items}` : `none of ${items}`}
            </td>
            <td data-label={sorts.backlog} class={backlog ? undefined : "usual"}>
              {backlog ? numberText(backlog, locale) : "nothing"}
            </td>
            <td data-label={sorts.version} class="usual">
              {version ?? "unknown"}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

function sortedBy(sort: Sort, address: HomesAddress) {
  const isSorted = address.sort === sort;
  const down = isSorted && !address.down;
  return (
    <th key={sort} scope="col" aria-sort={isSorted ? (address.down ? "descending" : "ascending") : undefined}>
      <a href={hrefTo({ ...address, sort, down, page: 1 })}>{sorts[sort]}</a>
      {isSorted ? <span aria-hidden="true">{address.down ? " ↓" : " ↑"}</span> : null}
    </th>
  );
}

/** Nights side by side, the oldest first. All that is drawn is told apart by its form. */
function NightCells(of: { nights: readonly ArrivalState[]; last: string; locale: string }) {
  const { nights, last, locale } = of;
  const last_ms = Date.parse(last);
  const dateOf = (place: number) => {
    const day_at_ms = last_ms - (nights.length - 1 - place) * day_ms;
    return calendarText(new Date(day_at_ms).toISOString().slice(0, 10), locale);
  };
  return (
    <svg
      role="img"
      aria-label={nightsText(nights, dateOf)}
      width={nights.length * cell}
      height={cell_height}
      viewBox={`0 0 ${nights.length * cell} ${cell_height}`}
    >
      {nights.map((state, place) => (
        <NightCell
          key={place}
          state={state}
          x={place * cell}
          title={`${dateOf(place)}: ${meanings[state]}`}
        />
      ))}
    </svg>
  );
}

function NightCell({ state, x, title }: { state: ArrivalState; x: number; title?: string }) {
  if (state === "none") return null;
  return (
    <g>
      {title === undefined || state === "arrived" ? null : <title>{title}</title>}
      {shapeOf(state, x)}
    </g>
  );
}

function shapeOf(state: ArrivalState, x: number) {
  const common = { class: `night ${state}`, x: x + 1, width: cell - 2 };
  const [half, right] = [cell_height / 2, x + cell - 1];
  if (state === "late") return <rect {...common} y={half} height={half - 1} />;
  if (state === "due") return <rect {...common} y={cell_height - 3} height={2} />;
  if (state === "differing") {
    const lower = `M${right} ${half}v${half - 1}h-${(cell - 2) / 2}z`;
    return <path class={common.class} d={`M${x + 1} 1h${cell - 2}L${x + 1} ${cell_height - 1}z${lower}`} />;
  }
  // A line lies to both sides of its edge.
  const inset = state === "missing" ? line_width / 2 : 0;
  const [width, height] = [common.width - 2 * inset, cell_height - 2 - 2 * inset];
  return <rect {...common} x={common.x + inset} width={width} y={1 + inset} height={height} />;
}

/** How a night is drawn, in one line. */
function NightLegend() {
  return (
    <ul class="legend" aria-label="How nights are drawn">
      {(["arrived", "late", "differing", "missing", "due"] as const).map((state) => (
        <li key={state}>
          <svg width={cell} height={cell_height} aria-hidden="true" focusable="false">
            <NightCell state={state} x={0} />
          </svg>
          {meanings[state]}
        </li>
      ))}
    </ul>
  );
}

const meanings: Readonly<Record<ArrivalState, string>> = {
  arrived: "arrived",
  late: "late",
  differing: "differs from the gateway",
  missing: "missing",
  due: "not due yet",
  none: "before the first upload",
};

function nightsText(nights: readonly ArrivalState[], dateOf: (place: number) => string): string {
  const known = nights.filter((state) => state !== "none");
  if (known.length === 0) return "no nights yet";
  const others = nights.flatMap((state, place) =>
    state === "arrived" || state === "none" ? [] : [`${dateOf(place)} ${state}`],
  );
  const arrived = known.filter((state) => state === "arrived").length;
  return `${arrived} of ${known.length} nights arrived in time${others.length === 0 ? "" : `; ${others.join(", ")}`}`;
}

export function SilentTable({ rows, locale, now_ms }: TableOfRows<SilentRow>) {
  return (
    <Table name="Silent devices" stacked head={["Home", "Device", "Not heard since"]}>
      {rows.map(({ homeid, zone, typename, itemname, heard_ms }) => (
        <tr key={`${homeid} ${itemname}`}>
          <DeviceCells {...{ homeid, typename, itemname }} />
          <td data-label="Not heard since">
            {heard_ms === null ? "it was set up" : momentText(heard_ms, { locale, zone, now_ms })}
          </td>
        </tr>
      ))}
    </Table>
  );
}

/** Devices that nobody waits for any more, for who keeps the inventory. */
export function ReplacedTable({ rows, locale, now_ms }: TableOfRows<ReplacedRow>) {
  return (
    <>
      <h2>Replaced, and still in the inventory: import their items as Decommissioned</h2>
      <Table name="Replaced devices" stacked head={["Home", "Device", "Replaced by", "When"]}>
        {rows.map(({ homeid, zone, typename, itemname, by, at_ms }) => (
          <tr key={`${homeid} ${itemname}`}>
            <DeviceCells {...{ homeid, typename, itemname }} />
            <td data-label="Replaced by">{by}</td>
            <td data-label="When">{momentText(at_ms, { locale, zone, now_ms })}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}

export function BatteryTable({ rows, locale, now_ms }: TableOfRows<BatteryRow>) {
  const isKnown = rows.some(({ known_ms }) => known_ms !== null);
  const head = ["Home", "Device", "Battery", ...(isKnown ? ["Known since"] : [])];
  return (
    <Table name="Batteries nearly empty" stacked head={head}>
      {rows.map(({ homeid, zone, typename, itemname, percent, millivolts, known_ms }) => (
        <tr key={`${homeid} ${itemname}`}>
          <DeviceCells {...{ homeid, typename, itemname }} />
          <td data-label="Battery">
            {percent === null
              ? millivolts === null
                ? ""
                : `${numberText(millivolts / 1000, locale, 2)} V`
              : `${numberText(percent, locale)} %`}
          </td>
          {isKnown ? (
            <td data-label="Known since">
              {known_ms === null ? "" : momentText(known_ms, { locale, zone, now_ms })}
            </td>
          ) : null}
        </tr>
      ))}
    </Table>
  );
}

export function VersionTable({ rows, locale }: TableOfRows<VersionRow>) {
  return (
    <Table name="Versions" stacked head={["Version", "Homes", "Rings", "Which", "Refused, or went back"]}>
      {rows.map(({ version, rings, homes, homeids, refused }) => (
        <tr key={version}>
          <th scope="row">{version ?? "unknown"}</th>
          <td class="number" data-label="Homes">
            {numberText(homes, locale)}
          </td>
          <td data-label="Rings">{rings.length === 0 ? "none" : rings.join(", ")}</td>
          <td class="whole" data-label="Which">
            <HomeLinks homeids={homeids} />
            {homes > homeids.length && version !== null ? (
              <>
                {" "}
                <a
                  href={pathTo({ ...firstAddress, chosen: { version } })}
                  aria-label={`All homes with ${version}`}
                >
                  all
                </a>
              </>
            ) : null}
          </td>
          <td class="whole">
            {refused.map(({ homeid, message }, place) => (
              <>
                {place > 0 ? "; " : ""}
                <a href={`/homes/${homeid}`}>{homeid}</a> {message}
              </>
            ))}
          </td>
        </tr>
      ))}
    </Table>
  );
}

export function FirmwareTable({ rows, locale }: TableOfRows<FirmwareRow>) {
  return (
    <Table name="Firmware" stacked head={["Model", "Firmware", "Date code", "Devices", "Homes"]}>
      {rows.map(({ model, firmware, datecode, devices, homes, more }) => (
        <tr key={`${model} ${firmware} ${datecode}`}>
          <th scope="row">{model || "unknown"}</th>
          <td data-label="Firmware">{firmware}</td>
          <td data-label="Date code">{datecode ?? ""}</td>
          <td class="number" data-label="Devices">
            {numberText(devices, locale)}
          </td>
          <td class="whole" data-label="Homes">
            <HomeLinks homeids={homes} />
            {more > 0 ? ` and ${numberText(more, locale)} more` : ""}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function HomeLinks({ homeids }: { homeids: readonly number[] }) {
  return homeids.map((homeid, place) => (
    <>
      {place > 0 ? ", " : ""}
      <a href={`/homes/${homeid}`}>{homeid}</a>
    </>
  ));
}

function DeviceCells({ homeid, typename, itemname }: Pick<SilentRow, "homeid" | "typename" | "itemname">) {
  return (
    <>
      <HomeCell homeid={homeid} />
      <td>
        <DeviceLink kind={typename} name={itemname} title={itemname} />
      </td>
    </>
  );
}

export function HomeCell({ homeid }: { homeid: number }) {
  return (
    <th scope="row">
      <a href={`/homes/${homeid}`}>Home {homeid}</a>
    </th>
  );
}

const cell = 9;
/** As in homes.css. */
const line_width = 1.5;
const cell_height = 18;
