import type { Plots } from "../parts/plots.ts";
import { drawCurve } from "./curve.ts";
import { drawRaster } from "./raster.ts";

/** Drawings as a browser makes them. */
export const plots: Plots = { raster: drawRaster, curve: drawCurve };
