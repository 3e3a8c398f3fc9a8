import type { Drawing, RasterOptions } from "../parts/plots-and-tones.ts";
import { turnsOf } from "./day-spiral.ts";
import { drawRaster } from "./raster-drawing.ts";

/** Draws days as the turns of a spiral. Pages that show rows do not load it. */
export function drawSpiral(canvas: HTMLCanvasElement, options: RasterOptions): Drawing {
  return drawRaster(canvas, options, turnsOf);
}
