import { measuresOf } from "../../measures.ts";
import type { FrameData } from "../../page.ts";
import { Frame } from "../../parts/frame.tsx";
import { CurveFigure } from "./curve.tsx";
import type { DeviceData } from "./data.ts";
import { DoseGrid } from "./dose-grid.tsx";
import { DayOpened, Newest } from "./events.tsx";
import { RasterFigure } from "./raster.tsx";
import { Sentence } from "./sentence.tsx";
import { SpanControl } from "./span-control.tsx";
import { Take } from "./take.tsx";

export function DevicePage(data: DeviceData & FrameData) {
  const { locale, now_ms, trail, words, known, made, day, shown } = data;
  return (
    <Frame {...{ locale, now_ms, trail }}>
      <article class="device">
        <h1>
          <bdi>{data.title}</bdi>
        </h1>
        <Sentence {...data} />
        {shown === null ? null : (
          <>
            <SpanControl {...data} />
            {measuresOf(shown.series).map((name) => (
              <RasterFigure key={name} {...data} device={data.name} name={name} />
            ))}
            {[...data.curves, ...data.walking].map((curve) => (
              <CurveFigure key={curve.title} {...data} curve={curve} />
            ))}
            {data.doses === null ? null : <DoseGrid {...data} doses={data.doses} />}
            {day === null ? null : <DayOpened {...data} day={day} />}
            <Newest {...data} />
            <Take {...data} shown={shown} />
          </>
        )}
        <section aria-labelledby="facts">
          <h2 id="facts">What it tells</h2>
          <dl class="facts">
            <dt>It tells</dt>
            <dd>{words.tells}</dd>
            <dt>It does not know</dt>
            <dd>{words.tellsNot}</dd>
            <dt>When it is heard</dt>
            <dd>{words.heard}</dd>
            <Lines lines={known} />
          </dl>
          {made.length === 0 ? null : (
            <details>
              <summary>How its readings are made, for a methods section</summary>
              <dl class="facts">
                <Lines lines={made} />
              </dl>
            </details>
          )}
        </section>
      </article>
    </Frame>
  );
}

function Lines({ lines }: { lines: DeviceData["known"] }) {
  return (
    <>
      {lines.flatMap(({ title, value }) => [
        <dt key={`${title} is`}>{title}</dt>,
        <dd key={title}>
          <bdi>{value}</bdi>
        </dd>,
      ])}
    </>
  );
}
