import { type Static, Type } from "@sinclair/typebox";
import {
  identifying,
  integer,
  integerOrNull,
  type KnownWords,
  orNull,
  record,
  textOrNull,
} from "../records/record-field.ts";

/** Rooms and roles that names of items and rooms have words for. A role says what a sensor watches, whatever it is called. */
export const roles = [
  "front door",
  "bed",
  "bedroom",
  "bathroom",
  "kitchen",
  "living room",
  "fridge",
  "medicine",
] as const;

export type Role = (typeof roles)[number];

/** Words for rooms, with the room that they mean. A home's own words for its rooms stand beside them. */
const roomForms: readonly (readonly [RegExp, string])[] = [
  [/\b(bed ?room|schlafzimmer)\b/, "bedroom"],
  [/\b(bath ?room|toilet|wc|bad|badezimmer)\b/, "bathroom"],
  [/\b(kitchen|küche)\b/, "kitchen"],
  [/\b(living|living ?room|lounge|wohnzimmer)\b/, "living room"],
  [/\b(hall|hallway|corridor|flur)\b/, "hall"],
  [/\b(dining|dining ?room)\b/, "dining room"],
  [/\b(study|office)\b/, "study"],
];

const roleWords: readonly (readonly [RegExp, Role])[] = [
  [/\b(front|entrance|main|apartment|flat) ?door\b/, "front door"],
  [/\b(fridge|refrigerator)\b/, "fridge"],
  [/\b(medicine|medication|pills?)\b/, "medicine"],
  [/\bbed\b/, "bed"],
];

/** Where a sensor is, and what it watches: by the names that the home has given it, or by the name of its item. Words that everybody writes alike are one room, others are as the home calls them. */
export function placeOf(
  itemname: string,
  given: { readonly name?: string | undefined; readonly room?: string | undefined } | undefined,
): { readonly room: string | null; readonly role: Role | null } {
  return {
    room: given?.room === undefined ? roomInWords(itemname) : (roomInWords(given.room) ?? given.room),
    role: roleInWords(given?.name ?? "") ?? roleInWords(itemname),
  };
}

/** The room that a name has a word for: `kitchen-wall` is in the kitchen. Null where it has none. */
export function roomInWords(name: string): string | null {
  return wordIn(roomForms, name);
}

/** The role that a name has words for: `front-door` is the front door. A room that has a role gives it to its sensors. */
export function roleInWords(name: string): Role | null {
  return wordIn(roleWords, name);
}

function wordIn<Word>(words: readonly (readonly [RegExp, Word])[], name: string): Word | null {
  const plain = name.toLowerCase().replaceAll(/[-_.]+/g, " ");
  return words.find(([form]) => form.test(plain))?.[1] ?? null;
}

/** Rooms by words that tell of nobody: packages without names keep these as they are. */
export const roomWords: KnownWords = {
  isKnown: (room) => roomForms.some(([, word]) => word === room),
  as: "room",
};

/** Where an item of a home is, and what it watches: what derived measures are made by. */
export const Place = record("Place", {
  homeid: identifying("home", integer("the home")),
  itemid: identifying("item", integer("the item")),
  itemname: identifying("itemname", Type.String({ description: "its name" })),
  typename: identifying(
    "nobody",
    Type.String({ description: "its type, as paths of the interface have it" }),
  ),
  room: identifying(roomWords, textOrNull("the room that it is in")),
  role: identifying("nobody", textOrNull(`what it watches: ${roles.join(", ")}`)),
  line: identifying(roomWords, textOrNull("the line of curtain sensors that it is in")),
  order: integerOrNull("its place in that line, from 1 on"),
  metres: orNull(Type.Number(), "its distance along that line (m)"),
});

export type Place = Static<typeof Place>;

/** Path of the places of a home in the interface. */
export function placesPath(home: number | string = "{id}"): string {
  return `/homes/${home}/places`;
}
