import { type TSchema, TypeGuard } from "@sinclair/typebox";
import type { RecordDefinition } from "../records/record-table.ts";

/** The fields that an import must give: those that say which record it is, and what can't be told without. */
export function requiredFields({ schema, identity, required = [] }: RecordDefinition): string[] {
  const identifying = identity.filter((field) => {
    const of = schema.properties[field];
    return of !== undefined && !isNullable(of);
  });
  return [...identifying, ...required];
}

/** Whether a field may be null. */
export function isNullable(schema: TSchema): boolean {
  return TypeGuard.IsUnion(schema) && schema.anyOf.some((member) => TypeGuard.IsNull(member));
}
