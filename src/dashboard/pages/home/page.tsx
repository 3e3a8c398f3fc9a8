import type { Frame as FrameData } from "../../page.ts";
import { Frame } from "../../parts/frame.tsx";
import type { HomeData } from "./data.ts";

export function HomePage({ home, ...frame }: HomeData & FrameData) {
  return (
    <Frame {...frame}>
      <h1>{home === null ? "Home" : `Home ${home}`}</h1>
    </Frame>
  );
}
