import { Notes } from "../notes/notes-part.tsx";
import { CommandText } from "../parts/command-text.tsx";
import { erasedText } from "../parts/erased-text.ts";
import { Frame } from "../parts/page-frame.tsx";
import { pausedText } from "../parts/paused-text.ts";
import type { FrameData, Keeping } from "../site.ts";
import { exactText, listText, momentText, numberText, type Times } from "../time-text.ts";
import type { DeviceGroup, KeyCounts, PersonKept, RecordedData, RemoteSeen } from "./recorded-data.ts";

/** All recorded data of a home in large type, for its residents and their family. It prints on A4. */
export function RecordedPage(data: RecordedData & FrameData) {
  const {
    groups,
    people,
    noting,
    today_ms,
    paused,
    erased,
    pauses,
    role,
    home,
    zone,
    keeping,
    uses,
    keys,
    remote,
    version,
    ...frame
  } = data;
  const times = { locale: frame.locale, zone, now_ms: frame.now_ms };
  const isRestricted = paused?.why === "restricted";
  const count = groups.reduce((sum, { devices }) => sum + devices.filter(({ away }) => !away).length, 0);
  return (
    <Frame {...frame} zone={zone}>
      <article class="recorded">
        <h1>{paused === null ? answer(count, frame.locale) : pausedText(paused, times)}</h1>
        {paused === null ? null : (
          <p>
            {isRestricted
              ? "Nothing more is recorded, and nothing was erased. If a law lets somebody look at it all the same, the study’s server notes each look."
              : `Nothing that the devices say of this time is kept. At other times: ${answer(count, frame.locale)}`}
          </p>
        )}
        {erased === null ? null : <p>{erasedText(erased, times)}</p>}
        {groups.map((group) => (
          <Group key={group.words.name} {...group} times={times} />
        ))}
        {count === 0 ? null : (
          <p>
            The box also records of each device when it last heard it, how full its battery is, and how strong
            its radio is.
          </p>
        )}
        <section>
          <h2>What is not recorded</h2>
          <ul>
            <li>No pictures and no film.</li>
            <li>No sound, and nothing that anybody says.</li>
            <li>Not who it was. The devices cannot distinguish people: they record guests and pets too.</li>
            <li>Not where you are when you leave your home.</li>
            <li>Nothing of your telephone, your television, your computer or your letters.</li>
          </ul>
        </section>
        {people.length === 0 ? null : <People people={people} locale={frame.locale} />}
        <Notes
          {...noting}
          times={times}
          path={role === "gateway" ? "/recorded" : `/homes/${home}/recorded`}
          chosen={{ from_ms: today_ms, to_ms: frame.now_ms }}
        />
        <Whereabouts role={role} keeping={keeping} keys={keys} times={times} />
        {isRestricted ? null : <Uses uses={uses} />}
        <Lookers keys={keys} locale={frame.locale} />
        {remote === null ? null : <Remote {...remote} times={times} />}
        <section>
          <h2>How to pause it</h2>
          <Pausing paused={paused} pauses={pauses} />
          <p>
            While it is paused, the box counts what the devices send and keeps nothing of it. It is never
            recorded later.
          </p>
          <p class="small">
            For the study’s staff:{" "}
            <code>
              <CommandText>
                {role === "gateway" ? "lintel pause" : `lintel pause --home ${home ?? "NUMBER"}`}
              </CommandText>
            </code>
          </p>
        </section>
        <section>
          <h2>How to have it erased</h2>
          <p>
            Ask somebody of the study, at any time. They can erase everything about a person, or about the
            whole home, for ever. The study’s server then refuses later data of those days.
          </p>
          <p>
            This does not erase copies that researchers have made for their work, or older backups. Ask for
            these as well.
          </p>
          <p class="small">
            For the study’s staff:{" "}
            <code>
              <CommandText>{eraseCommand(home, people)}</CommandText>
            </code>
          </p>
        </section>
        <p class="small">
          This page shows the state of {exactText(frame.now_ms, times)}. Its times are those of {zone}. Lintel{" "}
          {version}.
        </p>
      </article>
    </Frame>
  );
}

function answer(count: number, locale: string): string {
  if (count === 0) return "No device records anything in this home.";
  const devices = count === 1 ? "One device records" : `${numberText(count, locale)} devices record`;
  return `${devices} what happens in this home. No pictures are taken, and nothing listens to what you say.`;
}

/** Buttons, where the people of the home may pause by this page. */
function Pausing({ paused, pauses }: Pick<RecordedData, "paused" | "pauses">) {
  if (pauses.length === 0) return <p>Ask somebody of the study.</p>;
  if (paused?.why !== undefined) return <p>It has stopped. To let it go on, ask somebody of the study.</p>;
  return (
    <form class="pausing" method="post" action="/recorded/pause">
      {paused !== null ? (
        <button type="submit" name="do" value="resume">
          Record again
        </button>
      ) : (
        pauses.map((length) => (
          <button key={length} type="submit" name="for" value={length}>
            Pause for {length}
          </button>
        ))
      )}
    </form>
  );
}

/** The command for the study's staff: for the one person of the home, or for all of it. */
function eraseCommand(home: number | null, [person, ...others]: readonly PersonKept[]): string {
  if (person !== undefined && others.length === 0) return `lintel erase --subject ${person.subject}`;
  return `lintel erase --home ${home ?? "NUMBER"}`;
}

/** Devices that go by one name. */
function Group({ words, notes, devices, times }: DeviceGroup & { times: Times }) {
  return (
    <section>
      <h2>{words.name}</h2>
      <p>
        {words.tells} {words.tellsNot}
      </p>
      {notes.map(({ when, quantities }) => (
        <p key={when}>
          {when}: {listText(["the time", ...quantities])}.
        </p>
      ))}
      <ul class="devices">
        {devices.map(({ name, away, heard_ms, count }) => (
          <li key={`${name} ${away}`}>
            <bdi>{name}</bdi>
            <span>
              {away ? "no longer in use, " : ""}
              {heard_ms === null ? "not heard yet" : `last heard ${momentText(heard_ms, times)}`}
            </span>
            <span>{count === 1 ? "recorded once" : `recorded ${numberText(count, times.locale)} times`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function People({ people, locale }: { people: readonly PersonKept[]; locale: string }) {
  return (
    <section>
      <h2>What the study has written down about people here</h2>
      <p>What it says is not shown on this page.</p>
      <ul>
        {people.map(({ subject, fields, records }) => (
          <li key={subject}>
            {`Person ${subject}: `}
            {listText([
              ...fields,
              ...records.map(({ count, words }) => `${numberText(count, locale)} ${words}`),
            ]) || "a number, and nothing else"}
            .
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Where it is kept and sent, and for how long. */
function Whereabouts(props: { role: RecordedData["role"]; keeping: Keeping; keys: KeyCounts; times: Times }) {
  const { role, keeping, keys, times } = props;
  const { upload, uploaded_ms, keep_days } = keeping;
  const last = uploaded_ms === undefined ? undefined : momentText(uploaded_ms, times);
  if (role === "central")
    return (
      <section>
        <h2>Where it goes</h2>
        <p>
          The box in this home keeps it, and sends it to the study’s server, which made this page.
          {last === undefined ? " Nothing has come from it yet." : ` It last came ${last}.`}
        </p>
        <p>{keptText(keeping.retention, times)}</p>
      </section>
    );
  const days = keep_days === undefined ? undefined : numberText(keep_days, times.locale);
  return (
    <section>
      <h2>Where it goes</h2>
      {upload === undefined ? (
        <p>
          The box in this home keeps it, and sends it nowhere.
          {keys.sync === 0 ? "" : " A server of the study may fetch it from the box."}
        </p>
      ) : (
        <p>
          It is kept on the box in this home.{" "}
          {upload.at === undefined ? "Now and then" : `Each night at ${upload.at}`} the box sends it to the
          study’s server, <bdi class="address">{new URL(upload.url).host}</bdi>
          {upload.url.startsWith("https:")
            ? ", encrypted, so that nobody can read it on the way."
            : ", and it is not encrypted on the way."}
          {last === undefined ? " Nothing has been sent yet." : ` It was last sent ${last}.`}
        </p>
      )}
      <p>
        {days === undefined
          ? "It stays on the box until it is erased."
          : `The box keeps the last ${days} days, and what the server does not have yet.`}
        {upload === undefined ? "" : " On the server it stays until it is erased."}
      </p>
    </section>
  );
}

/** Files that the study makes of it, by what the people of the home allow. */
function Uses({ uses }: Pick<RecordedData, "uses">) {
  return (
    <section>
      <h2>What files the study may make of it</h2>
      <ul>
        {uses.map(({ use, isAllowed }) => (
          <li key={use}>
            {fileWords[use]}
            {isAllowed ? "." : ": none, because somebody in this home does not allow it."}
          </li>
        ))}
        <li>Files without names and without codes, for its own researchers.</li>
      </ul>
    </section>
  );
}

const fileWords: Readonly<Record<RecordedData["uses"][number]["use"], string>> = {
  identified: "Files with the names of people",
  coded: "Files with a code in the place of each name",
  shared: "Files for researchers outside of the study",
};

/** How long it stays on the server. */
function keptText(retention: Keeping["retention"], times: Times): string {
  if (retention === undefined) return "It stays on this server until it is erased.";
  const { years, until_ms, act } = retention;
  const when =
    until_ms === undefined
      ? `${years === 1 ? "One year" : `${years} years`} after the last person of this home has left the study`
      : `From ${momentText(until_ms, times)} on`;
  return act === "erase"
    ? `${when}, it is erased from this server by itself, unless somebody erases it before.`
    : `${when}, it is kept on this server and shown to nobody any more.`;
}

/** Requests of the study to the box, from afar. */
function Remote({ allowed, asked, times }: RemoteSeen & { times: Times }) {
  return (
    <section>
      <h2>What the study asks the box for</h2>
      {allowed === null ? null : allowed.length === 0 ? (
        <p>The box does nothing that the study asks for from afar. It only hears when to pause.</p>
      ) : (
        <p>
          The study may ask the box from afar to {listText(allowed)}. Besides pausing, the box does nothing
          else that comes from outside.
        </p>
      )}
      <p>{asked.length === 0 ? "Nothing was asked for so far." : "This was asked for:"}</p>
      {asked.length === 0 ? null : (
        <ul>
          {asked.map(({ at_ms, words, end }) => (
            <li key={at_ms}>
              {momentText(at_ms, times)}: to {words}. {end}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Numbers of tokens that can see the home, without the names of their owners. */
function Lookers({ keys: { read, admin, sync }, locale }: { keys: KeyCounts; locale: string }) {
  const keyText = (count: number) => (count === 1 ? "one key" : `${numberText(count, locale)} keys`);
  return (
    <section>
      <h2>Who may look</h2>
      <p>
        Only people with a key: a long secret word that the study gives out and can take back. These keys open
        what this home has recorded:
      </p>
      {read + admin + sync === 0 ? <p>Nobody has such a key.</p> : null}
      <ul>
        {read === 0 ? null : <li>{keyText(read)} to look, and no more</li>}
        {admin === 0 ? null : <li>{keyText(admin)} to look, and to manage the devices</li>}
        {sync === 0 ? null : <li>{keyText(sync)} for machines, which transfer the data</li>}
      </ul>
    </section>
  );
}
