import type { Kind } from "../../../domain/kinds.ts";
import { signalText } from "../home/home-words.tsx";
import { Frame } from "../parts/page-frame.tsx";
import { Table } from "../parts/table.tsx";
import { Faults } from "../setup-visit/setup-visit-parts.tsx";
import { kindText } from "../setup-visit/setup-visit-words.ts";
import type { FrameData } from "../site.ts";
import { clockText, numberText, secondText, type Times, yearDateText } from "../time-text.ts";
import type { AcceptanceData } from "./acceptance-data.ts";

/** A record of an installation: the answer, its faults, and all that was found, on one A4 page. */
export function AcceptancePage(data: AcceptanceData & FrameData) {
  const { record, all, zone, home, role, ...frame } = data;
  if (record === null)
    return (
      <Frame {...frame} zone={zone}>
        <h1>Nobody has accepted this home yet.</h1>
        <p>
          A technician proves each device on the page <code>/walk</code> of the gateway, or with{" "}
          <code>lintel accept</code>.
        </p>
      </Frame>
    );
  const { answer, signed, key } = record;
  const [newest] = all;
  const times = { locale: frame.locale, zone, now_ms: frame.now_ms };
  return (
    <Frame {...frame} zone={zone}>
      <article class="acceptance">
        <h1>{answer}</h1>
        {newest === undefined || newest.number === signed.number ? null : (
          <p>
            This record is no longer the newest:{" "}
            <a href="?">
              number {newest.number}, {newest.passed ? "accepted" : "not accepted"}
            </a>
            .
          </p>
        )}
        <Faults faults={signed.faults} />
        <RecordFacts signed={signed} times={times} />
        {record.night === null && signed.number !== newest?.number ? null : (
          <Night record={record} times={times} />
        )}
        <Devices record={record} times={times} />
        <p class="signature">Signature of {signed.tester}</p>
        <p class="quiet">
          Signed by the box with the key <code class="key">{key}</code>. The record never changes; its first
          night is signed beside it.
        </p>
        <p class="on-screen">Print this page with the browser, on A4.</p>
        {all.length < 2 ? null : <Others all={all} shown={signed.number} times={times} />}
      </article>
    </Frame>
  );
}

type Shown = NonNullable<AcceptanceData["record"]>;

function RecordFacts({ signed, times }: { signed: Shown["signed"]; times: Times }) {
  const { number, homeid, tester, started, finished, timezone, release, lines, upload, clockknown } = signed;
  const dateAndTime = (at_s: number) =>
    `${yearDateText(at_s * 1000, times)}, ${clockText(at_s * 1000, times)}`;
  return (
    <dl class="facts">
      <dt>Record</dt>
      <dd>
        number {number} of {homeid === null ? "a home without a number" : `home ${homeid}`}
      </dd>
      <dt>Tried by</dt>
      <dd>{tester}</dd>
      <dt>When</dt>
      <dd>
        {dateAndTime(started)} to {clockText(finished * 1000, times)} ({timezone})
      </dd>
      <dt>Clock</dt>
      <dd>{clockknown ? "right" : "not known to be right"}</dd>
      <dt>Lintel</dt>
      <dd>{release}</dd>
      <dt>Upload</dt>
      <dd>{uploadText(upload)}</dd>
      {lines.flatMap(({ line, walks, fault }) =>
        fault === null
          ? walks.map(({ direction, fired, took }) => (
              <LineWalk key={`${line} ${direction}`} line={line} fired={fired} took={took} times={times} />
            ))
          : [<LineWalk key={line} line={line} fired={[fault]} took={null} times={times} />],
      )}
    </dl>
  );
}

function LineWalk(of: { line: string; fired: readonly string[]; took: number | null; times: Times }) {
  const { line, fired, took, times } = of;
  return (
    <>
      <dt>Walk in {line}</dt>
      <dd>
        {fired.length === 0 ? "nobody was seen" : fired.join(", ")}
        {took === null ? "" : `, in ${numberText(took, times.locale, 1)}\u00a0s`}
      </dd>
    </>
  );
}

function uploadText({ url, sent, differingdays, failure }: Shown["signed"]["upload"]): string {
  if (url === null) return "none is configured: everything stays in this box";
  if (failure !== null) return `failed: ${failure}`;
  return `${sent} readings sent to ${url}; ${differingdays === 0 ? "no day differs" : `${differingdays} days differed, and were sent again`}`;
}

function Night({ record, times }: { record: Shown; times: Times }) {
  const { night } = record;
  if (night === null) return <p class="quiet">The box adds the first night on the next morning.</p>;
  const least = Math.min(1, ...night.coverage.map(({ covered }) => covered));
  const { commit, clockoffset, lateframes, faults } = night;
  return (
    <>
      <p>
        First night until {clockText(night.until * 1000, times)}: at least {Math.floor(least * 100)} % of the
        time of each device is covered; {lateframes === 0 ? "no message" : lateframes} late;{" "}
        {clockoffset === null ? "the clock does not tell its error" : `clock within ${clockoffset} ms`};{" "}
        {commit === null ? "no writes" : `the card writes within ${commit} ms`}.
      </p>
      <Faults faults={faults} />
    </>
  );
}

function Devices({ record, times }: { record: Shown; times: Times }) {
  const { signed, asks } = record;
  return (
    <Table name="Devices" head={["Name", "Room", "What", "Signal", "Battery", "Asked, and done"]}>
      {signed.devices.map((device, place) => (
        <tr key={device.macaddress}>
          <th scope="row">
            <bdi>{device.itemname}</bdi>
          </th>
          <td data-label="Room">{device.room ?? ""}</td>
          <td data-label="What">
            <span>
              {[
                kindText({ kind: device.typename as Kind, subtype: device.subtypename }),
                device.model,
                device.firmware && `firmware ${device.firmware}`,
              ]
                .filter((word) => word !== null && word !== "")
                .join(", ")}{" "}
              <small>
                {device.macaddress}
                {device.replaces === null ? "" : `, in place of ${device.replaces}`}
                {device.through === null ? "" : `, through ${device.through}`}
                {device.metres === null ? "" : `, at ${numberText(device.metres, times.locale, 2)}\u00a0m`}
              </small>
            </span>
          </td>
          <td data-label="Signal">{device.signal === null ? "" : signalText(device.signal)}</td>
          <td data-label="Battery">{batteryText(device)}</td>
          <td data-label="Task">
            <span>
              {asks[place]} {doneText(device, signed.lines, times)}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  );
}

type Device = Shown["signed"]["devices"][number];

function batteryText({ battery, batteryvoltage }: Device): string {
  if (battery !== null) return `${Math.round(battery)} %`;
  return batteryvoltage === null ? "" : `${batteryvoltage} mV`;
}

function doneText(device: Device, lines: Shown["signed"]["lines"], times: Times): string {
  const { task, asked, done, later, itemname } = device;
  const at = (at_s: number) => secondText(at_s * 1000, times);
  if (task === "walk") {
    const walks = lines.flatMap((line) => line.walks).filter(({ fired }) => fired.includes(itemname));
    return walks.length === 0 ? "Not seen." : `Seen ${walks.map(({ asked }) => at(asked)).join(" and ")}.`;
  }
  if (asked === null) return "Not tried.";
  if (done !== null) return `Asked ${at(asked)}, done ${at(done)}.`;
  return later ? "Tells later." : `Not done since ${at(asked)}.`;
}

function Others({ all, shown, times }: { all: AcceptanceData["all"]; shown: number; times: Times }) {
  return (
    <p class="on-screen">
      Other records:{" "}
      {all
        .filter(({ number }) => number !== shown)
        .map(({ number, finished_ms, passed }, place) => (
          <span key={number}>
            {place === 0 ? "" : ", "}
            <a href={`?number=${number}`}>
              {number} of {yearDateText(finished_ms, times)}
            </a>
            {passed ? "" : " (not accepted)"}
          </span>
        ))}
    </p>
  );
}
