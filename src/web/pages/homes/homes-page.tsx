import { claimText, openText } from "../alerts/alerts-page.tsx";
import type { Why } from "../home/home-needs.ts";
import { knownText } from "../home/home-words.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { Frame } from "../parts/page-frame.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { fillOf, Patterns } from "../parts/uncovered-shapes.tsx";
import type { FrameData } from "../site.ts";
import { listText, momentText, numberText, type Times } from "../time-text.ts";
import { activity_days, activity_size, activityLevels } from "./activity-look.ts";
import type { MissingRow } from "./daily-arrivals.ts";
import {
  facets,
  firstAddress,
  type HomesViewName,
  hrefTo,
  isOfAll,
  pathTo,
  shown_id,
  views,
} from "./homes-address.ts";
import type { HomesData, HomesView, LosingHome } from "./homes-data.ts";
import {
  BatteryTable,
  FirmwareTable,
  HomeTable,
  ReplacedTable,
  SilentTable,
  VersionTable,
} from "./homes-tables.tsx";
import { MissingMap } from "./missing-map.tsx";

/** All homes: the tasks first, then the arrivals of each home. */
export function HomesPage(data: HomesData & FrameData) {
  const { address, all, cut, homes, needy, visits, remote, view, found, pages, locale, now_ms } = data;
  return (
    <Frame {...data}>
      <div class="homes">
        <h1>{sentence(data)}</h1>
        {all === 0 && cut ? (
          <p>Ask the person who gave you the token which homes it shows.</p>
        ) : all === 0 ? (
          <>
            <p>A home appears here after its first upload. To make the token for it, run at central:</p>
            <p>
              <code>
                <CommandText>lintel token create NAME --scope sync --home ID</CommandText>
              </code>
            </p>
          </>
        ) : (
          <>
            {address.show === "homes" ? <p class="quiet">{remoteSentence(data)}</p> : null}
            {data.alerts === null ? null : (
              <p>
                <a class="to-alerts" href="/alerts">
                  {alertSentence(data.alerts, locale)}
                </a>
              </p>
            )}
            <Views data={data} />
            {needy.length === 0 ? null : (
              <ul class="needy">
                {needy.map((home) => (
                  <Needy key={home.homeid} home={home} locale={locale} now_ms={now_ms} />
                ))}
              </ul>
            )}
            {address.show === "homes" && visits + remote > needy_short ? (
              <p class={visits + remote > needy.length ? undefined : "on-phone"}>
                <a href={hrefTo({ ...address, sort: "needs", down: false, page: 1 })}>
                  All {numberText(visits + remote, locale)} that need something
                </a>
              </p>
            ) : null}
            <Choose {...data} />
            {homes === 0 ? null : (
              <section id={shown_id} class="shown">
                {address.show === "homes" ? (
                  <h2>
                    {found === 1
                      ? "1 home, its last 30 nights"
                      : `${numberText(found, locale)} homes, the last 30 nights of each`}
                  </h2>
                ) : null}
                <Shown view={view} data={data} />
                <Pages address={address} pages={pages} />
              </section>
            )}
          </>
        )}
      </div>
    </Frame>
  );
}

/** The answer of what is shown. */
function sentence(data: HomesData & FrameData): string {
  const { address, all, cut, homes, view } = data;
  if (all === 0) return cut ? "Your token shows no home that has uploaded." : "No home has uploaded yet.";
  if (homes === 0) return "No home is as you chose.";
  return "rows" in view ? visitsSentence(data, !isOfAll(address)) : viewSentence(data);
}

function visitsSentence({ homes, visits, locale }: HomesData & FrameData, isPart: boolean): string {
  if (homes === 1) return `This home needs ${visits === 0 ? "no" : "a"} visit.`;
  const chosen = `${isPart ? "these " : ""}${numberText(homes, locale)} homes`;
  if (visits === 0) return `None of ${chosen} needs a visit.`;
  return `${numberText(visits, locale)} of ${chosen} ${visits === 1 ? "needs" : "need"} a visit.`;
}

function remoteSentence({ remote, visits }: HomesData): string | null {
  if (remote === 0) return null;
  return `${remote} ${visits > 0 ? "more " : ""}${remote === 1 ? "needs" : "need"} something that can be done remotely.`;
}

function alertSentence(counts: NonNullable<HomesData["alerts"]>, locale: string): string {
  const { open } = counts;
  if (open === 0) return "No alert is open.";
  return `${openText(open, locale)}. ${claimText(counts, locale)}`;
}

function Needy({ home, locale, now_ms }: { home: LosingHome; locale: string; now_ms: number }) {
  const { homeid, zone, why, bring, missing } = home;
  return (
    <li class={bring.length > 0 ? "visit" : undefined}>
      <a class="home" href={`/homes/${homeid}`}>
        Home {homeid}
      </a>
      <div>
        {missing ? <p>{missing} % of the last 7 days is missing.</p> : null}
        <ul>
          {why.map((one) => (
            <li key={one.text}>
              <Reason why={one} times={{ locale, zone, now_ms }} />
            </li>
          ))}
        </ul>
        {bring.length === 0 ? null : <p class="bring">Bring {listText(bring)}.</p>}
      </div>
    </li>
  );
}

function Reason({ why: { text, names = [], since_ms, known_ms }, times }: { why: Why; times: Times }) {
  const since = since_ms === undefined ? "" : ` since ${momentText(since_ms, times)}`;
  const named = names.slice(0, names_max);
  const more = names.length - named.length;
  return (
    <>
      {named.map((name, place) => (
        <>
          {place > 0 ? ", " : ""}
          <bdi>{name}</bdi>
        </>
      ))}
      {more > 0 ? ` and ${more} more` : ""}
      {names.length > 0 ? ": " : ""}
      {text}
      {since}
      {knownText(known_ms, times)}
    </>
  );
}

function Views({ data: { address, silent, batteries, locale } }: { data: HomesData & FrameData }) {
  const counts: Partial<Record<HomesViewName, number>> = { silent, batteries };
  return (
    <nav class="views" aria-label="What is shown">
      {Object.entries(views).map(([show, name]) => {
        const count = counts[show as HomesViewName];
        const { find, chosen } = address;
        const href = pathTo({ ...firstAddress, show: show as HomesViewName, find, chosen });
        return (
          <a key={show} href={href} aria-current={address.show === show ? "page" : undefined}>
            {name}
            {count === undefined ? "" : ` ${numberText(count, locale)}`}
          </a>
        );
      })}
    </nav>
  );
}

/** A form that chooses among the homes. Its answer has an address of its own, to be kept. */
function Choose({ address, all, facets: offered, locale }: HomesData & FrameData) {
  const { show, find, chosen, sort, down } = address;
  return (
    <form class="choose" method="get" action={`/#${shown_id}`}>
      <label>
        Find a home
        <input name="find" type="search" defaultValue={find} placeholder="number, words" />
      </label>
      {offered
        .filter(({ name, values }) => values.length > 1 || chosen[name] !== undefined)
        .map(({ name, values }) => (
          <label key={name}>
            {facets[name]}
            <select name={name}>
              <option value="">all</option>
              {values.map(({ value, text, homes }) => (
                <option key={value} value={value} selected={value === chosen[name]}>
                  {text} ({numberText(homes, locale)})
                </option>
              ))}
            </select>
          </label>
        ))}
      {show === "homes" ? null : <input type="hidden" name="show" value={show} />}
      {sort === "home" ? null : <input type="hidden" name="sort" value={sort} />}
      {down ? <input type="hidden" name="down" /> : null}
      <button type="submit">Show</button>
      {isOfAll(address) ? null : (
        <a href={hrefTo({ ...address, find: "", chosen: {}, page: 1 })}>Show all {numberText(all, locale)}</a>
      )}
    </form>
  );
}

function viewSentence({ view, homes, found, pages, locale }: HomesData & FrameData): string {
  const count = numberText(found, locale);
  const ofHomes = homes === 1 ? "1 home" : `${numberText(homes, locale)} homes`;
  if ("map" in view) return missingSentence(view.map, pages === 1, ofHomes);
  if ("pictures" in view) return activitySentence(view.late, homes === 1 ? null : ofHomes);
  if ("silent" in view)
    return found === 0
      ? "No device is silent."
      : `${count} ${found === 1 ? "device is" : "devices are"} silent.`;
  if ("batteries" in view)
    return found === 0
      ? "No battery is nearly empty."
      : `${count} ${found === 1 ? "battery is" : "batteries are"} nearly empty.`;
  if ("mixed" in view)
    return found === 0
      ? "No device tells its firmware."
      : view.mixed === 0
        ? "All devices of a model have the same firmware."
        : `Devices of ${view.mixed} ${view.mixed === 1 ? "model" : "models"} have different firmware.`;
  const running = "versions" in view ? view.versions.filter((one) => one.homes > 0).length : 0;
  if (running > 1) return `${ofHomes} run ${running} versions.`;
  return homes === 1 ? "1 home runs 1 version." : `All ${ofHomes} run the same version.`;
}

/** @param isAll the rows are those of all homes that are shown on any page */
function missingSentence(rows: readonly MissingRow[], isAll: boolean, ofHomes: string): string {
  const [worst] = rows.toSorted((one, other) => other.percent - one.percent);
  if (!isAll || worst === undefined) return `Data that is missing in the last 60 days, of ${ofHomes}`;
  if (worst.percent === 0) return `Nothing is missing in the last 60 days, of ${ofHomes}.`;
  return `Home ${worst.homeid} has lost most: ${worst.percent}\u00a0% of its data of the last 60 days is missing.`;
}

/** The homes whose pictures end early. */
function activitySentence(late: readonly number[], homes: string | null): string {
  if (late.length === 0) {
    const of = homes === null ? "this home" : `all ${homes}`;
    return `The activity of ${of} is known up to the last night.`;
  }
  const named = late.slice(0, late_named);
  const more = late.length - named.length;
  const which = listText([...named.map((homeid) => `${homeid}`), ...(more === 0 ? [] : [`${more} more`])]);
  return late.length === 1
    ? `Home ${which} is late: its activity of the last nights is not known.`
    : `Homes ${which} are late: their activity of the last nights is not known.`;
}

function Shown({ view, data }: { view: HomesView; data: HomesData & FrameData }) {
  const { address, locale, now_ms } = data;
  const of = { locale, now_ms };
  if ("rows" in view) return <HomeTable rows={view.rows} address={address} {...of} />;
  if ("map" in view) return <MissingMap {...view} locale={locale} />;
  if ("pictures" in view) return <ActivityPictures homeids={view.pictures} />;
  if ("silent" in view)
    return (
      <>
        {view.silent.length === 0 ? null : <SilentTable rows={view.silent} {...of} />}
        {view.replaced.length === 0 ? null : <ReplacedTable rows={view.replaced} {...of} />}
      </>
    );
  if ("batteries" in view)
    return view.batteries.length === 0 ? null : <BatteryTable rows={view.batteries} {...of} />;
  if ("firmware" in view)
    return view.firmware.length === 0 ? null : <FirmwareTable rows={view.firmware} {...of} />;
  return <VersionTable rows={view.versions} {...of} />;
}

/** Small pictures of homes, all in one form, to be looked at together. */
function ActivityPictures({ homeids }: { homeids: readonly number[] }) {
  const { width, height, day } = activity_size;
  return (
    <>
      <Patterns />
      <p class="quiet">
        The last {activity_days} days. A row is a day, the newest on top, and a column an hour from midnight
        to midnight. Days before the first reading are left out.
      </p>
      <ul class="legend" aria-label="How activity is drawn">
        {activityLevels.map(({ words }, place) => (
          <li key={words}>
            <Swatch width={14}>
              <rect
                fill="var(--accent)"
                opacity={(place + 1) / activityLevels.length}
                width="14"
                height="14"
              />
            </Swatch>
            {words}
          </li>
        ))}
        <li>
          <Swatch width={14}>
            <rect fill={fillOf("not_listening")} width="14" height="14" />
          </Swatch>
          not known: not all rooms were observed
        </li>
      </ul>
      <ul class="pictures">
        {homeids.map((homeid) => (
          <li key={homeid}>
            <a href={`/homes/${homeid}/day`}>
              <img
                src={`/plots/homes/${homeid}/activity.svg`}
                {...{ width, height }}
                loading="lazy"
                alt={`Active minutes by hour, ${height / day} days`}
              />
              Home {homeid}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Pages({ address, pages }: Pick<HomesData, "address" | "pages">) {
  if (pages === 1) return null;
  const to = (page: number, text: string) => <a href={hrefTo({ ...address, page })}>{text}</a>;
  return (
    <nav class="pages" aria-label="Pages">
      {address.page > 1 ? to(address.page - 1, "Before") : null}
      <span>
        Page {address.page} of {pages}
      </span>
      {address.page < pages ? to(address.page + 1, "Next") : null}
    </nav>
  );
}

const names_max = 6;
/** Homes that the sentence about activity names. */
const late_named = 5;
/** As many a phone shows, see homes.css. */
const needy_short = 5;
