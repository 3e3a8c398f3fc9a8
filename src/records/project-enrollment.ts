import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, textOrNull } from "./field.ts";

/** A subject's part in a project over a span of time. */
export const ProjectEnrollment = Type.Object({
  subjectid: integer("enrolled subject"),
  projectid: integer("project identifier"),
  homeid: integerOrNull("home enrolled in the project"),
  projectname: textOrNull("project name"),
  statename: textOrNull("subject's current state of involvement"),
  stateid: integerOrNull("identifier of that state"),
  start: integerOrNull("start of involvement, unix timestamp"),
  stop: integerOrNull("end of involvement, unix timestamp"),
});

export type ProjectEnrollment = Static<typeof ProjectEnrollment>;
