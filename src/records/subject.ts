import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull, orNull, textOrNull, unixTimeOrNull } from "./field.ts";

/** A participant of a study. */
export const Subject = Type.Object(
  {
    subjectid: integer("unique database identifier"),
    subjectname: textOrNull("name of the subject"),
    titleid: integerOrNull("title code: 0 Mr, 1 Mrs, 3 Miss, 4 Dr or Ms"),
    titlename: textOrNull("title"),
    lname: textOrNull("last name"),
    fname: textOrNull("first name"),
    oadc: integerOrNull("identifier in an external database"),
    email: textOrNull("e-mail address"),
    genderid: orNull(Type.Boolean(), "gender code: false (0) female, true (1) male"),
    gendername: textOrNull("gender"),
    dob: unixTimeOrNull("date of birth; negative before 1970"),
    dod: unixTimeOrNull("date of death"),
  },
  { title: "Subject" },
);

export type Subject = Static<typeof Subject>;
