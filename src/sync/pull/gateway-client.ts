import type { ListedGateway } from "../../config/gateway-list.ts";
import { hour_ms } from "../../durations.ts";
import { type ClientBounds, type ClientOptions, HttpClient } from "../../http-client/http-client.ts";
import { syncPath } from "../protocol.ts";

/** A gateway as central asks it. `token` is a sync token that the gateway has made. */
export function gatewayClient(
  { home, url, place }: ListedGateway,
  options: Omit<ClientOptions, "url" | "interface" | "wording" | "bounds">,
): HttpClient {
  return new HttpClient({
    ...options,
    url,
    interface: syncPath,
    bounds: gatewayBounds,
    wording: {
      name: `the gateway of home ${home}`,
      kind: "a Lintel gateway",
      asker: "central",
      run: "pull",
      hastening: "is the line to it a slow one?",
      url_setting: `url (${place})`,
      certificate_setting: `in certificate = "…" (${place})`,
      url_example: "http://10.8.0.12:8080",
      token_remedy: `make one at the gateway with lintel token create central --scope sync --home ${home}, and write it into the token_file of ${place}`,
    },
  });
}

const gatewayBounds: ClientBounds = {
  // Others wait for their turn meanwhile.
  run_ms_max: hour_ms,
  // A gateway that does not answer is asked again later: other gateways have their turns until then.
  failures_max: 3,
  // A Pi that reads its card for a batch; one that is off is given up after these.
  answer_ms_max: 20_000,
};
