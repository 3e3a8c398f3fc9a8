import { CommandText } from "../parts/command-text.tsx";
import { Frame } from "../parts/page-frame.tsx";
import type { FrameData } from "../site.ts";
import { yearDateText } from "../time-text.ts";
import type { BurnInData } from "./burn-in-data.ts";

/** The record of a burn-in on one page: the answer, and what each check found. */
export function BurnInPage(data: BurnInData & FrameData) {
  const { record, zone, ...frame } = data;
  if (record === null)
    return (
      <Frame {...frame} zone={zone}>
        <h1>Nobody has tested the hardware of this box yet.</h1>
        <p>
          At the bench, <code>lintel burn-in</code> tests the card, the power supply, the sticks and the
          sensors of a box before it goes to a home.
        </p>
      </Frame>
    );
  const { answer, changed, rows, ended_ms, version, key } = record;
  const times = { locale: frame.locale, zone, now_ms: frame.now_ms };
  return (
    <Frame {...frame} zone={zone}>
      <h1>{changed.length > 0 ? `Since the burn-in ${changedText(changed)}.` : answer}</h1>
      {changed.length > 0 ? (
        <p>
          Make it again:{" "}
          <code>
            <CommandText>lintel burn-in --again all</CommandText>
          </code>
          . At the last one: {answer}
        </p>
      ) : null}
      <ul>
        {rows.map(({ title, outcome, found, remedy }) => (
          <li key={title}>
            <strong>{title}</strong> <span class={outcome === "failed" ? "person" : "quiet"}>{outcome}</span>:{" "}
            {found} {remedy}
          </li>
        ))}
      </ul>
      <p class="quiet">
        Ended {yearDateText(ended_ms, times)} with Lintel {version}. Signed by the key{" "}
        <code class="key">{key}</code>.
      </p>
    </Frame>
  );
}

function changedText(changed: readonly string[]): string {
  return changed.length === 1
    ? `the ${changed[0]} was changed`
    : `the ${changed.slice(0, -1).join(", the ")} and the ${changed.at(-1)} were changed`;
}
