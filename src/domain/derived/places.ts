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
const roomWords: readonly (readonly [RegExp, string])[] = [
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
  return wordIn(roomWords, name);
}

/** The role that a name has words for: `front-door` is the front door. A room that has a role gives it to its sensors. */
export function roleInWords(name: string): Role | null {
  return wordIn(roleWords, name);
}

function wordIn<Word>(words: readonly (readonly [RegExp, Word])[], name: string): Word | null {
  const plain = name.toLowerCase().replaceAll(/[-_.]+/g, " ");
  return words.find(([form]) => form.test(plain))?.[1] ?? null;
}

/** Rooms by words that tell of nobody: packages without identifiers keep these as they are. */
export function isRoomWord(room: string): boolean {
  return roomWords.some(([, word]) => word === room);
}
