import { type Static, Type } from "@sinclair/typebox";

/** The body of every answer that is not a success. */
export const ErrorRecord = Type.Object(
  {
    code: Type.Integer({ description: "numeric code of the error" }),
    message: Type.String({ description: "description of the error code" }),
  },
  { title: "Error" },
);

export type ErrorRecord = Static<typeof ErrorRecord>;
