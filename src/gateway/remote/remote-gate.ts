import { type Clock, clockQuality } from "../../base/clock.ts";
import type { RemoteSettings } from "../../config/gateway-config.ts";
import {
  argumentFault,
  isSignedBy,
  type RemoteRequestName,
  remote_valid_ms_max,
  remoteRow,
  type SignedRequest,
} from "../../domain/remote-request.ts";

/** A request that was let in, and the key that has signed it; or why it was not, in words. */
export type RemoteJudgement =
  | { readonly request: RemoteRequestName; readonly argument: string; readonly key: string }
  | { readonly refused: string };

/**
 * Whether a box does what a request asks for. Central is not believed: whoever holds it, or the token of this box, can only hand on what the study has signed, once,
 * to the box that it was signed for, before it expires.
 *
 * @param options.last the highest number that was let in, by key
 */
export function judgeRequest(
  signed: SignedRequest,
  {
    home,
    settings,
    last,
    clock,
  }: {
    home: number;
    settings: RemoteSettings;
    last: ReadonlyMap<string, number>;
    clock: Clock;
  },
): RemoteJudgement {
  const key = settings.keys.find((one) => isSignedBy(signed, one));
  if (key === undefined) return { refused: "no key of [remote] keys has signed it" };
  if (signed.home !== home) return { refused: `it was signed for home ${signed.home}` };
  const { unix_ms, quality } = clock.now();
  if (quality !== clockQuality.synchronised)
    return {
      refused: "the clock of this box is not known to be right, so nobody knows whether it has expired",
    };
  if (signed.expires_ms <= unix_ms) return { refused: "it has expired" };
  if (signed.expires_ms - unix_ms > remote_valid_ms_max)
    return { refused: `it is valid for longer than ${remote_valid_ms_max / 3_600_000} h` };
  if (signed.number <= (last.get(key) ?? 0))
    return { refused: "its number is not above that of the last one: it was sent before" };
  const row = remoteRow(signed.request);
  if (row === undefined) return { refused: "there is no such request" };
  const { argument } = signed;
  const fault = argumentFault(row, argument);
  if (fault !== undefined) return { refused: `it ${fault}` };
  const request = signed.request as RemoteRequestName;
  if (!settings.allow.includes(request)) return { refused: "[remote] allow does not have it" };
  return { request, argument: argument ?? "", key };
}
