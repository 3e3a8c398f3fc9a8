import type { Dose, DoseStatus } from "../../../domain/derived/doses.ts";
import { HeadCell, Table } from "../parts/table.tsx";
import { calendarText, clockText, dateText, type Times, weekdays } from "../time-text.ts";
import type { Doses } from "./box-doses.ts";

/** Doses of a pill box, a week in a row and a door in a column. */
export function DoseGrid({ doses, title = "Doses", id = "doses", ...data }: DoseGridOf) {
  const all = doses.weeks.flat().filter((dose) => dose !== null);
  const count = (status: DoseStatus) => all.filter((dose) => dose.status === status).length;
  const counted = (Object.keys(marks) as DoseStatus[])
    .filter((status) => count(status) > 0)
    .map((status) => `${marks[status].mark} ${count(status)} ${marks[status].word}`);
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <p>{counted.join(", ")}. A door that moves may mean a dose taken.</p>
      <Table
        name="Doses by week"
        class="doses"
        head={[
          "Week of",
          ...weekdays.map((weekday) => (
            <HeadCell key={weekday}>
              <abbr title={weekday}>{weekday.slice(0, 3)}</abbr>
            </HeadCell>
          )),
        ]}
      >
        {doses.weeks.map((week) => {
          const first = week.find((dose) => dose !== null);
          return (
            <tr key={first?.date}>
              <th scope="row">
                {first === undefined || first === null ? "" : calendarText(first.date, data.locale)}
              </th>
              {week.map((dose, door) => (
                <Cell key={weekdays[door]} dose={dose} times={data} />
              ))}
            </tr>
          );
        })}
      </Table>
      {doses.reloads.length === 0 ? null : (
        <p>
          Filled {doses.reloads.length === 1 ? "once" : `${doses.reloads.length} times`}, last on{" "}
          {dateText(doses.reloads.at(-1)?.from_ms ?? 0, data)}.
        </p>
      )}
      {doses.leftOpen
        .filter(({ to_ms }) => to_ms === undefined)
        .map(({ door, from_ms }) => (
          <p key={door} class="person">
            The door of {weekdays[door]} has been open since {dateText(from_ms, data)},{" "}
            {clockText(from_ms, data)}: close it.
          </p>
        ))}
    </section>
  );
}

interface DoseGridOf extends Times {
  readonly doses: Doses;
  readonly title?: string;
  /** Of its heading. */
  readonly id?: string;
}

function Cell({ dose, times }: { dose: Dose | null; times: Times }) {
  if (dose === null) return <td />;
  const { word, mark } = marks[dose.status];
  const at = dose.at_ms === undefined ? "" : clockText(dose.at_ms, times);
  return (
    <td class={`dose ${dose.status}`} data-date={dose.date} data-status={dose.status} title={dose.reason}>
      <span aria-hidden="true">{mark}</span> {at}
      {dose.status === "taken" ? null : <span class="word"> {word}</span>}
    </td>
  );
}

const marks: Readonly<Record<DoseStatus, { readonly word: string; readonly mark: string }>> = {
  taken: { word: "taken", mark: "●" },
  late: { word: "late", mark: "◐" },
  missed: { word: "missed", mark: "×" },
  unknown: { word: "not known", mark: "▨" },
  due: { word: "due", mark: "○" },
};
