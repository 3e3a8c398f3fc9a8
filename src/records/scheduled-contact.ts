import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull } from "./field.ts";

/** A contact with a subject that the programme has planned. */
export const ScheduledContact = Type.Object(
  {
    subjectid: integer("subject"),
    schedcontactid: integer("scheduled contact identifier"),
    schedcontactname: textOrNull("name"),
    schedcontacttypename: textOrNull("type"),
    increment: integerOrNull("number of units between contacts"),
    unitname: textOrNull("name of the unit"),
    unitid: integerOrNull("unit identifier"),
    offset: integerOrNull("units after enrollment before the first contact"),
    notplanned: flagOrNull("planned flag: 0 no, 1 yes"),
    notscheduled: flagOrNull("scheduled flag: 0 no, 1 yes"),
    notcompleted: flagOrNull("completed flag: 0 no, 1 yes"),
    dateplanned: textOrNull("date the contact was planned"),
    datescheduled: textOrNull("date it was scheduled for"),
    datecompleted: textOrNull("date it was completed"),
  },
  { title: "Scheduled contact" },
);

export type ScheduledContact = Static<typeof ScheduledContact>;
