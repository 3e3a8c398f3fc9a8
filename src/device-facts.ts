import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";

/**
 * Facts of a device that its readings do not tell: how its driver makes them, and what it never tells. A driver makes them of its table of
 * models, or of what the device itself says of itself, so that a methods section can be written from them.
 */
export const DeviceFacts = Type.Object(
  {
    /** The device in a few words: `wall motion sensor`. */
    description: Type.Optional(Type.String({ maxLength: 120 })),
    /** `received`: bit by bit as the device sent it. `translated`: made of something else. `from`: what that is, in the words of its protocol. */
    events: Type.Optional(
      Type.Object(
        {
          form: Type.Union([Type.Literal("received"), Type.Literal("translated")]),
          from: Type.String({ maxLength: 160 }),
        },
        { additionalProperties: false },
      ),
    ),
    /** Quantities that it is able to measure. */
    measures: Type.Optional(
      Type.Array(
        Type.Object(
          { quantity: Type.String({ maxLength: 40 }), unit: Type.String({ maxLength: 16 }) },
          { additionalProperties: false },
        ),
        { maxItems: 24 },
      ),
    ),
    /** States that one would expect it to tell and that it never tells: `the end of a movement`. */
    never: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 6 })),
    /** For how long after an event it sees nothing, seconds. */
    blind_s: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
    /** How often it is heard although nothing happens, seconds, where its model is known to differ from others of its kind. */
    cadence_s: Type.Optional(Type.Number({ minimum: 1, maximum: 31 * 86_400 })),
    /** In what it tells its battery, before that becomes per cent or millivolts: `half per cent`. */
    battery: Type.Optional(Type.String({ maxLength: 80 })),
  },
  { additionalProperties: false },
);
export type DeviceFacts = Static<typeof DeviceFacts>;

const check = TypeCompiler.Compile(DeviceFacts);

/** Facts as they can be kept: texts and lists that are too long are cut; undefined where they are none. */
export function keptFacts({
  description,
  events,
  measures,
  never,
  battery,
  ...rest
}: DeviceFacts): DeviceFacts | undefined {
  const kept = {
    ...rest,
    ...(description === undefined ? {} : { description: cut(description, 120) }),
    ...(events === undefined ? {} : { events: { ...events, from: cut(events.from, 160) } }),
    ...(measures === undefined ? {} : { measures: measures.filter(isShort).slice(0, 24) }),
    ...(never === undefined ? {} : { never: never.map((text) => cut(text, 100)).slice(0, 6) }),
    ...(battery === undefined ? {} : { battery: cut(battery, 80) }),
  };
  return check.Check(kept) ? kept : undefined;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function isShort({ quantity, unit }: { readonly quantity: string; readonly unit: string }): boolean {
  return quantity.length <= 40 && unit.length <= 16;
}
