import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull } from "./field.ts";

/** A subject's status with a study over a span of time. */
export const StudyEnrollment = Type.Object({
  subjectid: integer("subject"),
  studyid: integer("study identifier"),
  studyname: textOrNull("study name"),
  studyinvestigator: textOrNull("investigator's name"),
  studyirb: integerOrNull("review-board identifier of the study"),
  studycriteria: textOrNull("enrollment criteria"),
  studysummary: textOrNull("summary"),
  studystart: integerOrNull("study start, unix timestamp"),
  studystop: integerOrNull("study end, unix timestamp"),
  studystatusid: integerOrNull("subject's status with the study"),
  studystatusname: textOrNull("name of that status"),
  studystateid: integerOrNull("subject's state in the study"),
  studystatename: textOrNull("name of that state"),
  studychangebyname: textOrNull("name of the person who changed the status"),
  studystatecomment: textOrNull("comment on the status"),
  studystatestart: integerOrNull("when the current status began, unix timestamp"),
  studystatestop: integerOrNull("when the current status ends, unix timestamp; 0 when open-ended"),
  active: flagOrNull("1 = active, 0 = not active"),
});

export type StudyEnrollment = Static<typeof StudyEnrollment>;
