import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, textOrNull, unixTimeOrNull } from "./field.ts";

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
