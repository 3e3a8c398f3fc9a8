import { type Static, Type } from "@sinclair/typebox";
import {
  flagOrNull,
  integer,
  integerOrNull,
  orNull,
  textOrNull,
  textOrNullWord,
  unixTimeOrNull,
} from "./field.ts";

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

/** A phone of a subject. */
export const Phone = Type.Object(
  {
    subjectid: integer("subject"),
    phoneid: integer("phone identifier"),
    phone: textOrNull("phone number"),
  },
  { title: "Phone" },
);

export type Phone = Static<typeof Phone>;

/** An item in the hands of a subject over a span of time. */
export const SubjectInventory = Type.Object(
  {
    subjectid: integer("subject"),
    itemid: integer("item identifier"),
    itemname: textOrNull("item name"),
    serialnumber: textOrNull("serial number"),
    macaddress: textOrNull("MAC address"),
    modelid: integerOrNull("model identifier"),
    modelname: textOrNull("model name"),
    hasbatteries: flagOrNull("0 = no batteries, 1 = has batteries"),
    lastbatterychange: textOrNullWord("date of last battery change"),
    subjectspecific: flagOrNull("0 = not specific to a home or subject, 1 = specific"),
    vendorid: integerOrNull("vendor identifier"),
    vendorname: textOrNull("vendor"),
    typeid: integerOrNull("type identifier"),
    typename: textOrNull("type name"),
    subtypeid: integerOrNull("subtype identifier"),
    subtypename: textOrNullWord("subtype name"),
    start: textOrNull("date and time the item was assigned to the subject"),
    stop: textOrNull("date and time it was unassigned"),
  },
  { title: "Subject inventory" },
);

export type SubjectInventory = Static<typeof SubjectInventory>;
