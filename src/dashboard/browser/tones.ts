import type { Tones } from "../parts/tones.ts";

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
