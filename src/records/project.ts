import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull } from "./field.ts";

/** A project of the research programme. */
export const Project = Type.Object({
  projectid: integer("project identifier"),
  projectname: textOrNull("project name"),
  start: integerOrNull("project start, unix timestamp"),
  stop: integerOrNull("project end, unix timestamp"),
  active: flagOrNull("1 = active, 0 = not active"),
});

export type Project = Static<typeof Project>;
