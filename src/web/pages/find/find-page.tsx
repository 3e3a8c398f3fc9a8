import { Frame } from "../parts/page-frame.tsx";
import type { FrameData } from "../site.ts";
import type { FindData, FoundGroup } from "./find-data.ts";

/** Homes, devices, people and pages by their names: a page by itself, which `browser/palette.ts` also shows over others. */
export function FindPage(data: FindData & FrameData) {
  const { asked, groups } = data;
  return (
    <Frame {...data}>
      <h1>{answer(data)}</h1>
      <form class="choose" method="get" action="/find">
        <label>
          Name, number or address <input name="q" type="search" defaultValue={asked} maxLength={100} />
        </label>
        <button type="submit">Find</button>
      </form>
      <div class="found">
        {groups.map((group) => (
          <Group key={group.title} {...group} />
        ))}
        {asked === "" ? null : (
          <p>
            <a href={`/docs?${new URLSearchParams({ q: asked })}`}>
              Look for “<bdi>{asked}</bdi>” in the documents
            </a>
          </p>
        )}
      </div>
    </Frame>
  );
}

function answer({ asked, groups }: FindData): string {
  if (asked === "") return "Find a home, a device, a person or a page.";
  const count = groups.reduce((sum, { found }) => sum + found.length, 0);
  if (count === 0) return `Nothing that you may see is called “${asked}”.`;
  return count === 1 ? `“${asked}”: one found` : `“${asked}”: ${count} found`;
}

function Group({ title, found }: FoundGroup) {
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {found.map(({ href, text, more }) => (
          <li key={`${href} ${more}`}>
            <a href={href}>
              <bdi>{text}</bdi> <small>{more}</small>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
