import type { Drawing, Plots, Tones } from "../parts/plots-and-tones.ts";

/** Drawings as a browser makes them. What draws them is loaded by pages that have some: curves take a library that is larger than all the rest. */
export const plots: Omit<Plots, "open"> = {
  raster: (canvas, options) => {
    const failed = () => options.drawn(undefined);
    return options.form === "spiral"
      ? later(
          () => import("./spiral-drawing.ts"),
          ({ drawSpiral }) => drawSpiral(canvas, options),
          failed,
        )
      : later(
          () => import("./raster-drawing.ts"),
          ({ drawRaster }) => drawRaster(canvas, options),
          failed,
        );
  },
  curve: (box, options) =>
    later(
      () => import("./curve-drawing.ts"),
      ({ drawCurve }) => drawCurve(box, options),
      () => options.said("This cannot be drawn now: load the page again."),
    ),
};

/** A drawing that begins once what draws it is there, unless it was stopped by then. */
function later<Loaded>(
  load: () => Promise<Loaded>,
  draw: (loaded: Loaded) => Drawing,
  failed: () => void,
): Drawing {
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
    follow: () => drawing?.follow(),
    stop: () => {
      isStopped = true;
      drawing?.stop();
    },
  };
}

let context: AudioContext | undefined;

/** One short tone at a time, made here: nothing is loaded. */
export const tones: Tones = {
  allow() {
    context ??= new AudioContext();
    void context.resume();
    tones.play();
  },
  play() {
    if (context === undefined) return;
    const { currentTime: now } = context;
    const tone = new OscillatorNode(context, { frequency: 880 });
    const volume = new GainNode(context, { gain: 0.3 });
    // Falls off by itself: a tone that is cut clicks.
    volume.gain.setTargetAtTime(0, now + 0.15, 0.05);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + 0.5);
    document.documentElement.dataset["tones"] = String(
      Number(document.documentElement.dataset["tones"] ?? 0) + 1,
    );
  },
};
