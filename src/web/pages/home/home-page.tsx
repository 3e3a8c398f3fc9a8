import { Notes } from "../notes/notes-part.tsx";
import { notesAbout, type ShownNote } from "../parts/note-words.ts";
import { deviceHref, Frame, Moment, placeOfZone } from "../parts/page-frame.tsx";
import { Legend, Patterns } from "../parts/uncovered-shapes.tsx";
import type { FrameData } from "../site.ts";
import { clockText, dateText, numberText, type Times } from "../time-text.ts";
import { Answer } from "./home-answer.tsx";
import type { HomePageData, WalkingRow } from "./home-data.ts";
import type { DeviceRow } from "./home-devices.ts";
import { batteryText, DoseLegend, LatestWords, NeedWords, signalText } from "./home-words.tsx";
import { Axis, Strip } from "./strip.tsx";
import { type StripSpanName, spans, type TimeWindow } from "./strip-window.ts";

export function HomePage(data: HomePageData & FrameData) {
  const { zone, path, window, paused, erased, needs, devices, isWhole, here_ms, maySetUp, locale, now_ms } =
    data;
  const times = { locale, zone, now_ms };
  return (
    <Frame {...data}>
      <Patterns />
      <div class="home">
        <div class="home-head">
          <WhereAndWhen data={data} times={times} />
          <Spans path={path} span={window.span} />
        </div>
        <h1>
          <Answer {...{ paused, erased, needs, devices, isWhole, here_ms, times }} />
        </h1>
        {needs.length === 0 ? null : (
          <ul class="home-needs">
            {needs.map((need, place) => (
              <li key={`${need.type} ${"name" in need ? (need.name ?? place) : place}`}>
                <NeedWords need={need} times={times} isTold={needs.length === 1} maySetUp={maySetUp} />
              </li>
            ))}
          </ul>
        )}
        {devices.length > 0 ? <Groups data={data} times={times} /> : null}
        {devices.length === 0 && erased === null ? <Nothing isWhole={isWhole} /> : null}
        {maySetUp ? (
          <p class="on-screen">
            <a href="/walk">Set up this home: let devices in, name them, walk and test</a>
          </p>
        ) : null}
      </div>
    </Frame>
  );
}

function WhereAndWhen({ data: { home, here_ms }, times }: { data: HomePageData; times: Times }) {
  const { zone, now_ms } = times;
  return (
    <p class="where">
      {home === null ? "Home" : `Home ${home}`} · {dateText(now_ms, times)}, {clockText(now_ms, times)}{" "}
      {placeOfZone(zone)}
      {here_ms ? (
        <>
          {" "}
          · last sent <Moment at_ms={here_ms} times={times} />
        </>
      ) : null}
    </p>
  );
}

/** The devices, and below them how they are drawn. */
function Groups({ data, times }: { data: HomePageData; times: Times }) {
  const { path, window, devices, walking, noting, proposals, accepted } = data;
  return (
    <>
      {groupsOf(devices).map(({ title, rows }) => (
        <section key={title} class="group" aria-label={title}>
          <div class="group-head">
            <h2 class="group-title">{title}</h2>
            <Axis window={window} times={times} />
          </div>
          {walking
            .filter(({ items }) => rows.some(({ name }) => name === items[0]))
            .map((line) => (
              <Walking key={line.name} line={line} locale={times.locale} />
            ))}
          <ul class="home-devices">
            {rows.map((row) => (
              <Device key={`${row.kind} ${row.name}`} {...{ row, window, times }} notes={noting.notes} />
            ))}
          </ul>
        </section>
      ))}
      <Legend spans={devices.flatMap(({ uncovered }) => uncovered)} night={window.nights.length > 0} />
      {devices.some(({ latest }) => latest?.type === "doses") ? <DoseLegend /> : null}
      <Proposals names={proposals} />
      <Notes
        {...noting}
        times={times}
        path={window.span === "day" ? path : `${path}?span=${window.span}`}
        chosen={{ from_ms: window.from_ms, to_ms: Math.min(window.to_ms, times.now_ms) }}
      />
      <p class="on-screen">
        <a href={path === "/" ? "/day" : `${path}/day`}>The day of this home, hour by hour and in words</a>
      </p>
      <p class="on-screen">
        <a href={path === "/" ? "/mesh" : `${path}/mesh`}>How devices hear each other</a>
      </p>
      <p class={accepted === null ? "on-screen" : undefined}>
        <a href={path === "/" ? "/acceptance" : `${path}/acceptance`}>The record of the installation</a>
        {accepted === null ? "" : `: ${accepted}`}
      </p>
      <p class="on-screen">
        <a href={path === "/" ? "/burn-in" : `${path}/burn-in`}>The hardware at the bench</a>
      </p>
      <p class="on-screen">
        <a href={path === "/" ? "/recorded" : `${path}/recorded`}>What is recorded here, and what is not</a>
      </p>
    </>
  );
}

function Nothing({ isWhole }: Pick<HomePageData, "isWhole">) {
  if (!isWhole) return <p>Ask for a token that shows this home.</p>;
  return (
    <p>
      Devices appear here when Lintel hears them. To let devices in, run <code>lintel pair</code>.
    </p>
  );
}

function Spans({ path, span }: { path: string; span: StripSpanName }) {
  return (
    <nav class="home-spans" aria-label="How much time is shown">
      {Object.entries(spans).map(([name, { title }]) => (
        <a
          key={name}
          href={name === "day" ? path : `${path}?span=${name}`}
          aria-current={name === span ? "true" : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function Device(of: { row: DeviceRow; window: TimeWindow; notes: readonly ShownNote[]; times: Times }) {
  const { row, window, notes, times } = of;
  const { kind, name, title, heard_ms, latest, battery, linkquality, overdue, replaced } = row;
  return (
    <li class="device-row">
      <a class="name" href={deviceHref(kind, name)}>
        <bdi>{title}</bdi>
      </a>
      <Strip
        window={window}
        marks={row.marks}
        often={row.often}
        uncovered={row.uncovered}
        notes={notesAbout(notes, name)}
        times={times}
        latest_ms={latest?.at_ms ?? null}
        label={title}
      />
      <div class="latest">
        <LatestWords
          latest={latest}
          isPresent={row.uncovered.every(({ why }) => why !== "away")}
          times={times}
        />
      </div>
      <ul class="device-facts">
        {replaced === null ? null : (
          <li>
            replaced by <bdi>{replaced.by}</bdi>, <Moment at_ms={replaced.at_ms} times={times} as="day" />
          </li>
        )}
        <li class={overdue ? "needed" : undefined}>
          {heard_ms === null ? (
            "not heard yet"
          ) : (
            <>
              heard <Moment at_ms={heard_ms} times={times} as="ago" />
            </>
          )}
        </li>
        {battery === null ? null : (
          <li class={battery.low && replaced === null ? "needed" : undefined}>
            battery {batteryText(battery, times)}
          </li>
        )}
        {linkquality === null ? null : <li>signal {signalText(linkquality)}</li>}
      </ul>
    </li>
  );
}

function Walking({ line: { name, speeds }, locale }: { line: WalkingRow; locale: string }) {
  return (
    <p class="walking">
      <bdi>{name}</bdi>:{" "}
      {speeds === null
        ? "nobody walked past all sensors of this line"
        : `walking ${numberText(speeds.median, locale, 2)}\u00a0m/s, ${speeds.count === 1 ? "1 pass" : `${speeds.count} passes`}`}
    </p>
  );
}

/** Names that people gave to devices in the home, for the editor of the inventory. */
function Proposals({ names }: { names: HomePageData["proposals"] }) {
  if (names.length === 0) return null;
  return (
    <section aria-label="Names given in the home">
      <h2 class="group-title">Names given in the home, until the inventory has them</h2>
      <ul class="proposals">
        {names.map(({ itemname, name, room, instead }) => (
          <li key={itemname}>
            <bdi>{itemname}</bdi> is called <bdi>{name}</bdi>
            {room === null ? null : (
              <>
                {" "}
                in <bdi>{room}</bdi>
              </>
            )}
            {instead === null ? null : (
              <>
                , and replaces <bdi>{instead}</bdi>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Devices by room if they have one, else by kind, in a fixed order. */
export function groupsOf(devices: readonly DeviceRow[]): { title: string; rows: DeviceRow[] }[] {
  const inRooms = Map.groupBy(
    devices.filter(({ room }) => room !== null),
    ({ room }) => room as string,
  );
  const rooms = [...inRooms].map(([title, rows]) => ({ title, rows }));
  const others = Map.groupBy(
    devices.filter(({ room }) => room === null),
    groupOf,
  );
  const kinds = groupTitles.flatMap((title) => {
    const rows = others.get(title);
    if (rows === undefined) return [];
    return [{ title: rooms.length > 0 && title === "Rooms" ? "Other rooms" : title, rows }];
  });
  return [...rooms.sort((one, other) => one.title.localeCompare(other.title)), ...kinds];
}

function groupOf({ kind, subtype }: DeviceRow): (typeof groupTitles)[number] {
  if (kind === "pillboxes") return "Pill boxes";
  if (kind === "scales") return "Scale";
  if (kind === "watches") return "Watch";
  if (subtype === "door") return "Doors";
  if (subtype === "wall") return "Rooms";
  return subtype === "curtain" ? "Curtain sensors" : "Other sensors";
}

const groupTitles = [
  "Rooms",
  "Doors",
  "Curtain sensors",
  "Other sensors",
  "Pill boxes",
  "Scale",
  "Watch",
] as const;
