/**
 * A hardware address in the one form that items are found by: lower case, pairs of hex digits joined by
 * colons. Takes the forms people write (`00-0D-6F…`, `000d6f…`, `0x000d6f…`); what is no such number is only
 * trimmed and lowered, and undefined stands for nothing at all.
 */
export function normalAddress(written: string): string | undefined {
  const text = written.trim().toLowerCase();
  const digits = text.replace(/^0x/, "").replace(/[\s:.-]/g, "");
  if (/^([0-9a-f]{2})+$/.test(digits)) return (digits.match(/../g) ?? []).join(":");
  return text === "" ? undefined : text;
}
