import type { DeviceData } from "./data.ts";

/** The readings shown, to take along: as files, and by the request that gives the same. */
export function Take({
  kind,
  name,
  span,
  shown,
  request,
}: DeviceData & { shown: NonNullable<DeviceData["shown"]> }) {
  const file = `/downloads/${kind}/${encodeURIComponent(name)}/${shown.path}`;
  const days = `from=${span.from}&until=${span.until}`;
  return (
    <section aria-labelledby="take">
      <h2 id="take">Take it along</h2>
      <p>
        What is shown, as it was recorded: <a href={`${file}.csv?${days}`}>as CSV</a>, or{" "}
        <a href={`${file}.json?${days}`}>as JSON</a>
      </p>
      <p>
        A program gets the same by this request, with a token of yours; each answer links to the next one.
      </p>
      <pre class="request">
        <code>{`curl -H "Authorization: Bearer $TOKEN" -H "Accept: application/json" '${request}'`}</code>
      </pre>
    </section>
  );
}
