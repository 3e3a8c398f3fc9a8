import { Frame, Moment } from "../parts/page-frame.tsx";
import type { FrameData, HeardBy } from "../site.ts";
import { listText, numberText, type Times } from "../time-text.ts";
import type { AlertGroup, AlertsData } from "./alerts-data.ts";

/** Open alerts, home by home, with a form for whoever deals with them, and how they reach people. */
export function AlertsPage(data: AlertsData & FrameData) {
  const { isOn, groups, name, delivery, zone, locale, now_ms, page, pages } = data;
  const times = { locale, zone, now_ms };
  const canTick = name !== null && groups.some(hasUnclaimed);
  return (
    <Frame {...data}>
      <div class="alerts">
        <h1>{answer(data)}</h1>
        {isOn ? null : (
          <p>
            Start central with <code>--alerts FILE</code>, and it writes to people when a home needs somebody.
          </p>
        )}
        {groups.length === 0 ? null : (
          <form method="post" action="/alerts/acknowledge">
            {groups.map((group) => (
              <Group key={group.home} group={group} canTick={canTick} times={times} />
            ))}
            {canTick ? (
              <p class="claim">
                <label>
                  Your name{" "}
                  <input name="by" required maxLength={100} defaultValue={name ?? ""} autoComplete="name" />
                </label>
                <button type="submit">I deal with the ticked ones</button>
              </p>
            ) : null}
          </form>
        )}
        {pages === 1 ? null : <Pages page={page} pages={pages} />}
        {isOn && name === null && groups.some(hasUnclaimed) ? (
          <p class="quiet">To say that you deal with an alert, sign in with a token of scope admin.</p>
        ) : null}
        {delivery === null ? null : <Delivery {...delivery} canTest={name !== null} times={times} />}
        {isOn ? <p class="quiet">Times are those of {zone}.</p> : null}
      </div>
    </Frame>
  );
}

function answer({ isOn, open, unclaimed, homes, ofCentral, locale }: AlertsData & FrameData): string {
  if (!isOn) return "Central tells nobody what homes need.";
  if (open === 0) return "No alert is open.";
  const places = [
    ...(homes === 0 ? [] : [homes === 1 ? "one home" : `${numberText(homes, locale)} homes`]),
    ...(ofCentral ? ["central itself"] : []),
  ];
  return `${openText(open, locale)}, of ${listText(places)}. ${claimText({ open, unclaimed }, locale)}`;
}

/** How many alerts are open, one at least. */
export function openText(open: number, locale: string): string {
  return open === 1 ? "One alert is open" : `${numberText(open, locale)} alerts are open`;
}

/** Whether anybody deals with open alerts. */
export function claimText(
  { open, unclaimed }: Pick<AlertsData, "open" | "unclaimed">,
  locale: string,
): string {
  if (unclaimed === 0) return `Somebody deals with ${open === 1 ? "it" : "each"}.`;
  if (open === 1) return "Nobody deals with it.";
  return `Nobody deals with ${unclaimed === open ? "any" : numberText(unclaimed, locale)} of them.`;
}

function hasUnclaimed({ alerts }: AlertGroup): boolean {
  return alerts.some(({ acknowledged }) => acknowledged === null);
}

function Group(props: { group: AlertGroup; canTick: boolean; times: Times }) {
  const { group, canTick, times } = props;
  const { home, alerts } = group;
  return (
    <section>
      <h2>{home === null ? "Central itself" : <a href={`/homes/${home}`}>Home {home}</a>}</h2>
      <ul>
        {alerts.map((alert) => (
          <Alert key={alert.id} alert={alert} canTick={canTick} times={times} />
        ))}
      </ul>
    </section>
  );
}

function Alert(props: { alert: AlertGroup["alerts"][number]; canTick: boolean; times: Times }) {
  const { alert, canTick, times } = props;
  const { id, title, message, since_ms, told, later, acknowledged } = alert;
  const words = (
    <span>
      <strong class={acknowledged === null ? "person" : undefined}>{title}</strong>
      <span class="message">
        <bdi>{message}</bdi>
      </span>
      <span class="small">
        Since <Moment at_ms={since_ms} times={times} />.{" "}
        {told === null ? (
          `It will be told ${later}.`
        ) : (
          <>
            {told.to.length === 0
              ? "People have"
              : `${listText(told.to)} ${told.to.length === 1 ? "has" : "have"}`}{" "}
            known since <Moment at_ms={told.at_ms} times={times} />.
          </>
        )}{" "}
        {acknowledged === null ? null : (
          <>
            <bdi>{acknowledged.by ?? "Somebody"}</bdi> deals with it since{" "}
            <Moment at_ms={acknowledged.at_ms} times={times} />.
          </>
        )}{" "}
        Number {id}.
      </span>
    </span>
  );
  if (!canTick || acknowledged !== null) return <li class={canTick ? "claimed" : undefined}>{words}</li>;
  return (
    <li>
      <label>
        <input type="checkbox" name="alert" value={id} />
        {words}
      </label>
    </li>
  );
}

function Pages({ page, pages }: Pick<AlertsData, "page" | "pages">) {
  return (
    <nav class="pages" aria-label="Pages">
      {page > 1 ? <a href={`/alerts?page=${page - 1}`}>Before</a> : null}
      <span>
        Page {page} of {pages}
      </span>
      {page < pages ? <a href={`/alerts?page=${page + 1}`}>Next</a> : null}
    </nav>
  );
}

/** Recipients, what waits for them, and what nobody took. */
function Delivery(props: NonNullable<AlertsData["delivery"]> & { canTest: boolean; times: Times }) {
  const { recipients, undelivered, canTest, times } = props;
  return (
    <section id="recipients">
      <h2>Who hears of alerts</h2>
      <ul>
        {recipients.map((recipient) => (
          <Recipient key={recipient.to} recipient={recipient} times={times} />
        ))}
      </ul>
      {canTest ? (
        <form method="post" action="/alerts/test">
          <button type="submit">Send each a test</button>
        </form>
      ) : null}
      {undelivered.length === 0 ? null : (
        <>
          <h2>What could not be delivered</h2>
          <ul>
            {undelivered.toReversed().map(({ to, made_ms, failure }) => (
              <li key={`${to} ${made_ms}`}>
                <bdi>{to}</bdi>
                <span class="small">
                  Of <Moment at_ms={made_ms} times={times} />. Given up after three days: <bdi>{failure}</bdi>
                  . The next message has these alerts again.
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function Recipient({ recipient, times }: { recipient: HeardBy; times: Times }) {
  const { to, duties, waiting, test } = recipient;
  return (
    <li>
      <bdi>{to}</bdi>
      <span class="small">
        For {listText(duties)}.{" "}
        {waiting === null ? null : (
          <span class="person">
            Alerts wait since <Moment at_ms={waiting.made_ms} times={times} />
            {waiting.failure === null ? "" : `: ${waiting.failure}`}.{" "}
          </span>
        )}
        {test === null ? null : (
          <>
            Test of <Moment at_ms={test.at_ms} times={times} />:{" "}
            <bdi>{test.outcome ?? "under way, look again in a moment"}</bdi>.
          </>
        )}
      </span>
    </li>
  );
}
