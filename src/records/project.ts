import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, textOrNull, unixTimeOrNull } from "./field.ts";

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
