import type { Frame as FrameData } from "../../page.ts";
import { Legend, Patterns } from "../../parts/coverage.tsx";
import { Frame } from "../../parts/frame.tsx";
import type { HomeData } from "./data.ts";

export function HomePage({ home, ...frame }: HomeData & FrameData) {
  return (
    <Frame {...frame}>
      <Patterns />
      <h1>{home === null ? "Home" : `Home ${home}`}</h1>
      <Legend />
    </Frame>
  );
}
