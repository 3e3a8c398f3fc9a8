import { type Static, Type } from "@sinclair/typebox";
import { integer, textOrNull } from "./field.ts";

/** Something about a subject's sensors or data that needs attention. */
export const Alert = Type.Object(
  {
    subjectid: integer("subject"),
    alerttypeid: integer("alert type identifier"),
    alerttypename: textOrNull("category of the alert: a sensor, a data stream or a database object, mostly"),
    alertmessage: textOrNull("descriptive message"),
  },
  { title: "Alert" },
);

export type Alert = Static<typeof Alert>;
