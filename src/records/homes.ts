import { type Static, Type } from "@sinclair/typebox";
import { flagOrNull, integer, integerOrNull, textOrNull, unixTimeOrNull } from "./field.ts";
import { Item } from "./items.ts";

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

/** An item in a home over a span of time. */
export const HomeInventory = Type.Object(
  {
    homeid: integer("home"),
    item: Item,
    start: unixTimeOrNull("when the item was installed in the home"),
    stop: unixTimeOrNull("when it was taken away"),
  },
  { title: "Home inventory" },
);

export type HomeInventory = Static<typeof HomeInventory>;
