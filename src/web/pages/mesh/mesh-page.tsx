import { type MeshRow, qualityNote } from "../../../domain/mesh-words.ts";
import { signalText } from "../home/home-words.tsx";
import { Frame, Moment } from "../parts/page-frame.tsx";
import { Table } from "../parts/table.tsx";
import type { FrameData } from "../site.ts";
import type { MeshData } from "./mesh-data.ts";

/** How the Zigbee devices of a home hear each other: what to do first, then each device with its way. */
export function MeshPage(data: MeshData & FrameData) {
  const { mesh, scanned_ms, first_ms, scans, zone, ...frame } = data;
  const times = { locale: frame.locale, zone, now_ms: frame.now_ms };
  if (mesh === null || scanned_ms === null || first_ms === null)
    return (
      <Frame {...frame} zone={zone}>
        <h1>How the Zigbee devices hear each other is not known yet.</h1>
        <p>
          A gateway with a Zigbee stick asks its devices every six hours who hears whom. To ask now, run{" "}
          <code>lintel mesh</code> at the gateway.
        </p>
      </Frame>
    );
  return (
    <Frame {...frame} zone={zone}>
      <h1>{mesh.answer}</h1>
      {mesh.needs.length === 1 ? (
        <p>{mesh.needs[0]?.remedy}</p>
      ) : (
        <Sentences of={mesh.needs.map(({ what, remedy }) => `${what} ${remedy}`)} />
      )}
      <p class="quiet">
        Asked <Moment at_ms={scanned_ms} times={times} />. To ask again, run <code>lintel mesh</code> at the
        gateway.
      </p>
      <Sentences of={mesh.carried} title="Routers that others hang on" />
      <Sentences of={mesh.batteries} title="Batteries" />
      <Sentences of={mesh.changes} title="What has changed" />
      {mesh.rows.length === 0 ? null : (
        <>
          <h2>Each device and its way</h2>
          <Table
            name="Ways of devices"
            stacked
            head={["Device", "Heard through", "Link", "Link back", ...(scans > 1 ? ["Link at first"] : [])]}
          >
            {mesh.rows.map((row) => (
              <Way key={row.address} row={row} isLong={scans > 1} />
            ))}
          </Table>
        </>
      )}
      {scans > 1 ? (
        <p class="quiet">
          {scans} scans are kept. The first one is of <Moment at_ms={first_ms} times={times} />.
        </p>
      ) : null}
      {mesh.channel === null ? null : <p>{mesh.channel}</p>}
      <p class="quiet">{qualityNote}</p>
    </Frame>
  );
}

function Sentences({ of, title }: { of: readonly string[]; title?: string }) {
  if (of.length === 0) return null;
  return (
    <>
      {title === undefined ? null : <h2>{title}</h2>}
      <ul>
        {of.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  );
}

function Way({ row, isLong }: { row: MeshRow; isLong: boolean }) {
  const { name, through, quality, back, first } = row;
  const weak = quality !== null && signalText(quality) === "weak";
  return (
    <tr>
      <th scope="row">
        <bdi title={row.address}>{name}</bdi>
      </th>
      <td data-label="Heard through">
        <bdi>{through ?? "nobody names it"}</bdi>
      </td>
      <td class={weak ? "person" : undefined} data-label="Link">
        {quality === null ? "" : `${quality} (${signalText(quality)})`}
      </td>
      <td data-label="Link back">{back ?? ""}</td>
      {isLong ? <td data-label="Link at first">{first ?? ""}</td> : null}
    </tr>
  );
}
