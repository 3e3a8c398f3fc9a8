import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull, unixTimeOrNull } from "./field.ts";

/** A study of the research programme. */
export const Study = Type.Object(
  {
    studyid: integer("study identifier"),
    studyname: textOrNull("study name"),
    studyinvestigator: textOrNull("investigator's name"),
    studyirb: integerOrNull("review-board identifier of the study"),
    studycriteria: textOrNull("enrollment criteria"),
    studysummary: textOrNull("summary"),
    studystart: unixTimeOrNull("study start"),
    studystop: unixTimeOrNull("study end"),
    active: flagOrNull("1 = active, 0 = not active"),
  },
  { title: "Study" },
);

export type Study = Static<typeof Study>;
