import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type ClockQuality, clockQuality } from "./clock.ts";
import { identifying } from "./records/identifying.ts";

/** How the time of a reading was made: the words that are served for what is kept as a number (`clockQuality`). */
export const clockWords = {
  synchronised: "the gateway's clock was right when it came",
  unsynchronised: "nothing had confirmed the gateway's clock",
  corrected: "it came before the gateway knew the time, which it learned before it was switched off",
  bounded:
    "the gateway never learned the time before it was switched off: it lies between what is known before and after",
  device: "the device's own clock, put right by what it was off when it was read",
  device_unmeasured: "the device's own clock, put right by what it was off when that was last known",
} as const;

export type ClockWord = keyof typeof clockWords;

const wordOf: Readonly<Record<ClockQuality, ClockWord>> = {
  [clockQuality.synchronised]: "synchronised",
  [clockQuality.unsynchronised]: "unsynchronised",
  [clockQuality.corrected]: "corrected",
  [clockQuality.bounded]: "bounded",
  [clockQuality.device]: "device",
  [clockQuality.deviceUnmeasured]: "device_unmeasured",
};

/** The word for a kept number. */
export function clockWord(quality: number): ClockWord {
  return wordOf[quality as ClockQuality];
}

/** Where a reading is from and how its time was made: told of every series, beside its fields, to those who take all of it. */
export const Provenance = Type.Object({
  homeid: identifying(
    "home",
    Type.Union([Type.Integer(), Type.Null()], {
      description: "the home in which it was recorded; null where a gateway was not told its number",
    }),
  ),
  clock: Type.Union((Object.keys(clockWords) as ClockWord[]).map((word) => Type.Literal(word)) as TSchema[], {
    description: `how its time was made: ${Object.entries(clockWords)
      .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
      .join("; ")}`,
  }),
});

export type Provenance = Omit<Static<typeof Provenance>, "clock"> & { readonly clock: ClockWord };
