/** Kinds of notes on time. */
export const noteKinds = ["visitor", "away", "hospital", "furniture", "sensor_moved", "other"] as const;
export type NoteKind = (typeof noteKinds)[number];

/** Sources of notes. */
export const noteSources = ["home", "coordinator", "import"] as const;

/** Characters of the words of a note. */
export const note_words_max = 500;
