import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull, unixTimeOrNull } from "./field.ts";

/** A project of the research programme. */
export const Project = Type.Object(
  {
    projectid: integer("project identifier"),
    projectname: textOrNull("project name"),
    start: unixTimeOrNull("project start"),
    stop: unixTimeOrNull("project end"),
    active: flagOrNull("1 = active, 0 = not active"),
  },
  { title: "Project" },
);

export type Project = Static<typeof Project>;

/** A subject's part in a project over a span of time. */
export const ProjectEnrollment = Type.Object(
  {
    subjectid: integer("enrolled subject"),
    projectid: integer("project identifier"),
    homeid: integerOrNull("home enrolled in the project"),
    projectname: textOrNull("project name"),
    statename: textOrNull("subject's current state of involvement"),
    stateid: integerOrNull("identifier of that state"),
    start: unixTimeOrNull("start of involvement"),
    stop: unixTimeOrNull("end of involvement"),
  },
  { title: "Project enrollment" },
);

export type ProjectEnrollment = Static<typeof ProjectEnrollment>;

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

/** A subject's status with a study over a span of time. */
export const StudyEnrollment = Type.Object(
  {
    subjectid: integer("subject"),
    studyid: integer("study identifier"),
    studyname: textOrNull("study name"),
    studyinvestigator: textOrNull("investigator's name"),
    studyirb: integerOrNull("review-board identifier of the study"),
    studycriteria: textOrNull("enrollment criteria"),
    studysummary: textOrNull("summary"),
    studystart: unixTimeOrNull("study start"),
    studystop: unixTimeOrNull("study end"),
    studystatusid: integerOrNull("subject's status with the study"),
    studystatusname: textOrNull("name of that status"),
    studystateid: integerOrNull("subject's state in the study"),
    studystatename: textOrNull("name of that state"),
    studychangebyname: textOrNull("name of the person who changed the status"),
    studystatecomment: textOrNull("comment on the status"),
    studystatestart: unixTimeOrNull("when the current status began"),
    studystatestop: unixTimeOrNull("when the current status ends; 0 when open-ended"),
    active: flagOrNull("1 = active, 0 = not active"),
  },
  { title: "Study enrollment" },
);

export type StudyEnrollment = Static<typeof StudyEnrollment>;
