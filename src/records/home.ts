import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull } from "./field.ts";

/** A home in which items are installed. */
export const Home = Type.Object(
  {
    homeid: integer("home identifier"),
    address: textOrNull("street address"),
    cityname: textOrNull("city"),
    cityid: integerOrNull("city identifier"),
    citystatename: textOrNull("state name"),
    citystateid: integerOrNull("state identifier"),
    citystateabbr: textOrNull("state abbreviation"),
    countryname: textOrNull("country"),
    countryabbr: textOrNull("country abbreviation"),
    countryid: integerOrNull("country identifier"),
    zip: integerOrNull("postal code"),
    timezone: textOrNull("time zone"),
    apartment: textOrNull("apartment number"),
    homephones: textOrNull("home phone number"),
    homephoneids: integerOrNull("home phone identifier"),
    locationid: integerOrNull("location identifier"),
    locationname: textOrNull("location name"),
    hometype: flagOrNull("0 = house, 1 = apartment"),
  },
  { title: "Home" },
);

export type Home = Static<typeof Home>;
