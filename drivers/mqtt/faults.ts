import { messageOf, OperatorError } from "../../src/base/errors.ts";

/** A fault of a connection to a broker, in one line with its remedy. */
export function faultOf(thrown: unknown, url: string): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const { code } = (thrown ?? {}) as { code?: unknown };
  const known = faults[String(code)];
  if (known !== undefined) return new OperatorError(`the MQTT broker ${url} ${known[0]}`, known[1]);
  return new OperatorError(
    `the MQTT broker ${url} cannot be reached (${messageOf(thrown)})`,
    "see that it runs, and that [mqtt] url is right",
  );
}

/** One fault for every way in which a broker is not there, so that its absence is one line. */
export function goneFault(url: string): OperatorError {
  return new OperatorError(`the MQTT broker ${url} ${away[0]}`, away[1]);
}

export function silentFault(url: string): OperatorError {
  return new OperatorError(`the MQTT broker ${url} does not answer`, "see that it runs, and is a broker");
}

const away = ["is away", "see that it runs, can be reached, and that [mqtt] url is right"] as const;
const credentials = "correct user and password_file in [mqtt]";
const certificate = "name the certificate of its authority in [mqtt] ca";

/** By the code of a failed connection: of the system, of TLS, of MQTT 3.1.1 (3.2.2.3) and of MQTT 5 (2.4). */
const faults: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ECONNREFUSED: away,
  ECONNRESET: away,
  ENOTFOUND: ["has a name that nobody knows", "correct [mqtt] url, or the network's names"],
  ETIMEDOUT: away,
  EHOSTUNREACH: away,
  ENETUNREACH: away,
  SELF_SIGNED_CERT_IN_CHAIN: ["has a certificate that is not trusted", certificate],
  DEPTH_ZERO_SELF_SIGNED_CERT: ["has a certificate that is not trusted", certificate],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ["has a certificate that is not trusted", certificate],
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ["has a certificate that is not trusted", certificate],
  CERT_HAS_EXPIRED: ["has a certificate that has expired", "give it a new one"],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "has a certificate for another name",
    "write the name that it is for in [mqtt] url",
  ],
  "2": ["refuses this client's name", "let it accept names that begin with lintel-"],
  "4": ["refuses user or password", credentials],
  "5": ["does not let Lintel in", credentials],
  "134": ["refuses user or password", credentials],
  "135": ["does not let Lintel in", credentials],
  "139": away,
  "142": ["has another client of this name", "see that no other gateway has the same [home] id"],
};
