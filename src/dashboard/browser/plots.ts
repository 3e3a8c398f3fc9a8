import type { Drawing, Plots } from "../parts/plots.ts";

/** Drawings as a browser makes them. What draws them is loaded by pages that have some: curves take a library that is larger than all the rest. */
export const plots: Plots = {
  raster: (canvas, options) =>
    later({
      load: () => import("./raster.ts"),
      draw: ({ drawRaster }) => drawRaster(canvas, options),
      failed: () => options.drawn(undefined),
    }),
  curve: (box, options) =>
    later({
      load: () => import("./curve.ts"),
      draw: ({ drawCurve }) => drawCurve(box, options),
      failed: () => options.said("This cannot be drawn now: load the page again."),
    }),
};

/** A drawing that begins once what draws it is there, unless it was stopped by then. */
function later<Loaded>({ load, draw, failed }: Later<Loaded>): Drawing {
  let drawing: Drawing | undefined;
  let isStopped = false;
  load().then(
    (loaded) => {
      if (!isStopped) drawing = draw(loaded);
    },
    () => {
      if (!isStopped) failed();
    },
  );
  return {
    refresh: () => drawing?.refresh(),
    stop: () => {
      isStopped = true;
      drawing?.stop();
    },
  };
}

interface Later<Loaded> {
  readonly load: () => Promise<Loaded>;
  readonly draw: (loaded: Loaded) => Drawing;
  readonly failed: () => void;
}
