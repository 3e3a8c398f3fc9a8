import { attError } from "../att.ts";
import type { Bearer } from "../connection.ts";
import type { LinkSecurity } from "./link-security.ts";

/** A bearer whose requests are tried once more when the device has refused them for want of security, and has then got it. */
export function secured(bearer: Bearer, security: LinkSecurity): Bearer {
  return {
    get mtu() {
      return bearer.mtu;
    },
    get onValue() {
      return bearer.onValue;
    },
    set onValue(take) {
      bearer.onValue = take;
    },
    send: (unit) => bearer.send(unit),
    end: (reason) => bearer.end(reason),
    request: async (unit) => {
      const answer = await bearer.request(unit);
      if (answer.op !== "error" || !wanting.has(answer.code)) return answer;
      await security.raise(answer.code);
      return await bearer.request(unit);
    },
  };
}

/** Errors by which a device says that it wants to be paired with. */
const wanting: ReadonlySet<number> = new Set([
  attError.insufficientAuthentication,
  attError.insufficientEncryption,
]);
