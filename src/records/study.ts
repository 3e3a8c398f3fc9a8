import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull } from "./field.ts";

/** A study of the research programme. */
export const Study = Type.Object({
  studyid: integer("study identifier"),
  studyname: textOrNull("study name"),
  studyinvestigator: textOrNull("investigator's name"),
  studyirb: integerOrNull("review-board identifier of the study"),
  studycriteria: textOrNull("enrollment criteria"),
  studysummary: textOrNull("summary"),
  studystart: integerOrNull("study start, unix timestamp"),
  studystop: integerOrNull("study end, unix timestamp"),
  active: flagOrNull("1 = active, 0 = not active"),
});

export type Study = Static<typeof Study>;
