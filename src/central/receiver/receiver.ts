import { X509Certificate } from "node:crypto";
import type { Static } from "@sinclair/typebox";
import type { Server } from "bun";
import { type AnyElysia, Elysia } from "elysia";
import type { Clock } from "../../base/clock.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import type { CentralStore } from "../../store/central/central-store.ts";
import { defaultQuotas, type Quotas } from "../../store/exchange.ts";
import { encodedBatch } from "../../transfer/batch-codec.ts";
import { compareDays } from "../../transfer/day-comparison.ts";
import { bodyOfFiles, FilesFault, filesInBody, keepFiles } from "../../transfer/kept-files.ts";
import {
  BackupsBody,
  batchHeader,
  DayQuery,
  type GatewayReport,
  type HeldAnswer,
  HeldQuery,
  HistoryQuery,
  homeHeader,
  positionHeader,
  RemoteAnswerBody,
  RemoteQuery,
  type ReportAnswer,
  ReportBody,
  remote_hold_ms,
  syncPath,
  type VerifyAnswer,
  VerifyBody,
  verify_days_max,
} from "../../transfer/protocol.ts";
import { batchAnswer, emptyAnswer, jsonAnswer, jsonAnswers } from "../../transfer/sync-answers.ts";
import { access, checkedOf } from "../../web/server/elysia-app.ts";
import { HttpError } from "../../web/server/http-errors.ts";
import { queryReader } from "../../web/server/parameters.ts";
import { jsonForm } from "../../web/server/request-body.ts";
import { namesTag } from "../../web/server/responses.ts";
import { fleetOf } from "../fleet/fleet.ts";
import { StoppedReleases } from "../fleet/stopped-releases.ts";
import { RemoteDesk } from "../remote/remote-desk.ts";
import { type AdmissionBounds, AdmissionQueue, type HomeCall, inTurn } from "./admission-queue.ts";
import { HomeAllowances, ReceivedCounts, takeReport } from "./home-allowances.ts";
import {
  answerToHeld,
  batchForm,
  dayForm,
  heldOfDay,
  isRestrictedIn,
  receiveBatch,
  receiveRepair,
  refusalOf,
  requireOwn,
  requireShown,
} from "./received-batches.ts";
import { homeRecordsOf } from "./records-of-home.ts";

/** Central's side of sync. */
export interface Receiver {
  readonly app: AnyElysia;
  readonly counts: ReceivedCounts;
  readonly queue: AdmissionQueue;
  readonly allowances: HomeAllowances;
  readonly desk: RemoteDesk;
}

/**
 * Central's routes for the gateways of all homes; a gateway reads and writes only its own home.
 *
 * @param options.version of this program, told to gateways
 * @param options.nextCertificate the certificate that central will have next, in PEM
 */
export function receiverOf({
  store,
  clock,
  version,
  quotas = defaultQuotas,
  log,
  nextCertificate = () => undefined,
  ...admission
}: {
  store: CentralStore;
  clock: Clock;
  version: string;
  quotas?: Quotas;
  log?: Log;
  nextCertificate?: (() => string | undefined) | undefined;
} & Partial<AdmissionBounds>): Receiver {
  const allowances = new HomeAllowances({ quotas, clock });
  const counts = new ReceivedCounts((home, readings) =>
    log?.warn(
      `home ${home} has sent ${readings} readings of a time that was erased, and they are not kept: a gateway that uploads erases them too (said once a home)`,
    ),
  );
  const queue = new AdmissionQueue({ clock, ...admission });
  const stopped = new StoppedReleases({ store, clock });
  const desk = new RemoteDesk({ store, clock, log });
  const parts = { store, clock, version, allowances, counts, queue, stopped, nextCertificate, desk };
  const app = new Elysia({ name: "sync", prefix: syncPath, serve: { maxRequestBodySize: drained_bytes } })
    .use(jsonAnswers)
    .use(homeRoutes(parts))
    .use(fleetRoute(parts));
  return { app, allowances, counts, queue, desk };
}

type Parts = Pick<Receiver, "allowances" | "counts" | "queue" | "desk"> & {
  readonly store: CentralStore;
  readonly clock: Clock;
  readonly version: string;
  readonly stopped: StoppedReleases;
  readonly nextCertificate: () => string | undefined;
};

/** Routes for sync tokens that are bound to a home, each request in its turn. */
function homeRoutes(parts: Parts) {
  const forms = {
    report: jsonForm(ReportBody, decodingBounds.report),
    verify: jsonForm(VerifyBody, decodingBounds.digests),
    backups: jsonForm(BackupsBody, decodingBounds.homeFiles),
    remote: jsonForm(RemoteAnswerBody, decodingBounds.remoteAnswer),
  };
  return new Elysia()
    .use(access)
    .guard({ auth: "sync" })
    .derive(({ authorization, headers, request }) => {
      const home = authorization.homeOf(checkedOf(request).token);
      requireHome(headers[homeHeader.toLowerCase()], home);
      return { home };
    })
    .post("/report", inTurn(parts, forms.report, report), {
      ...unread,
      detail: { summary: "Takes what a gateway says of itself" },
    })
    .post("/batches", inTurn(parts, batchForm, receiveBatch), {
      ...unread,
      detail: { summary: "Takes a batch of readings" },
      beforeHandle: ({ headers, home }) => answerToHeld(headers[batchHeader.toLowerCase()], home, parts),
    })
    .post("/verify", inTurn(parts, forms.verify, verify), {
      ...unread,
      detail: { summary: "Days whose readings here differ from the digests" },
    })
    .put("/days", inTurn(parts, dayForm, receiveRepair), {
      ...unread,
      detail: { summary: "Puts the readings of a day right" },
      query: queryReader(DayQuery),
    })
    .get("/days", inTurn(parts, null, heldOfDay), {
      detail: { summary: "Readings of a day that are here, as a batch" },
      query: queryReader(DayQuery),
    })
    .get("/held", inTurn(parts, null, heldOfEpoch), {
      detail: { summary: "How far an epoch of the home is held" },
      query: queryReader(HeldQuery),
    })
    .get("/roster", inTurn(parts, null, homeRecords), {
      detail: { summary: "The programme's records for the home" },
    })
    .put("/backups", inTurn(parts, forms.backups, keepBackups), {
      ...unread,
      detail: { summary: "Keeps files of the home" },
    })
    .get("/backups", inTurn(parts, null, backups), {
      detail: { summary: "The files that are kept of the home" },
    })
    .get("/remote", remoteOrders(parts), {
      detail: { summary: "Requests of the study to the box, once there are any" },
      query: queryReader(RemoteQuery),
    })
    .post("/remote", inTurn(parts, forms.remote, remoteAnswered), {
      ...unread,
      detail: { summary: "How the box dealt with a request" },
    })
    .get("/history", inTurn(parts, null, history), {
      detail: { summary: "Readings of the items in the home, for a box that is restored" },
      query: queryReader(HistoryQuery),
    });
}

/** Elysia would read a body before the token is known. */
const unread = { parse: "none" } as const;

/** GET /fleet: which homes need a visit, and why; for administrators. */
function fleetRoute({ store }: Parts) {
  return new Elysia().use(access).get("/fleet", ({ now_ms }) => fleetOf(store, now_ms), {
    auth: "admin",
    detail: { summary: "Homes that need a visit, and why" },
  });
}

/** @throws HttpError where the gateway says that it is in another home than its token: nothing of either may get to the other */
function requireHome(said: string | undefined, home: number): void {
  if (said !== undefined && said !== String(home))
    throw new HttpError("home_other", { home, gateway_home: said }, {}, { reason: "home", held_seq: 0 });
}

/** Keeps what a gateway says of itself, and answers how far its readings and notes are held. */
async function report({ home, now_ms, body }: HomeCall<ReportBody>, parts: Parts): Promise<ReportAnswer> {
  const { store, version, stopped } = parts;
  const { epochs, report } = body;
  const names = epochs.map(({ epoch }) => epoch);
  await requireOwn(store, names, home);
  const sender = { home, at_ms: now_ms };
  const held = await takeReport(parts, body, sender).catch((thrown) => {
    throw refusalOf(thrown, home);
  });
  return {
    home,
    now_ms,
    version,
    epochs: held.map(({ epoch, held_seq, held_note }) => ({ epoch, held_seq, held_note })),
    ...(await stopped.answerTo(report)),
    ...nextFor(report, parts.nextCertificate()),
  };
}

/** Central's next certificate, to a gateway that knows central by certificates and does not hold it. */
function nextFor({ central_certificate: known }: GatewayReport, next: string | undefined) {
  if (known === undefined || next === undefined) return {};
  const { fingerprint256 } = new X509Certificate(next);
  return [known.in_use, known.next].includes(fingerprint256) ? {} : { next_certificate: next };
}

/** The number up to which an epoch of the home is held. */
async function heldOfEpoch(
  { home, query: { epoch } }: HomeCall<undefined, Static<typeof HeldQuery>>,
  { store }: Parts,
): Promise<HeldAnswer> {
  await requireOwn(store, [epoch], home);
  const [held] = await store.held([epoch]);
  return { epoch, held_seq: held?.held_seq ?? 0 };
}

/** The days of a gateway that differ from the readings held here. */
async function verify({ home, now_ms, body }: HomeCall<VerifyBody>, { store }: Parts): Promise<VerifyAnswer> {
  const { digests, ...request } = body;
  const { from_ms, before_ms } = request;
  const days = (before_ms - from_ms) / day_ms;
  if (from_ms % day_ms !== 0 || !Number.isInteger(days) || days < 1 || days > verify_days_max)
    throw new HttpError("body_unsuitable", {
      fault: `from_ms and before_ms must be 1 to ${verify_days_max} whole days apart, UTC`,
    });
  await requireOwn(store, [request.epoch], home);
  // Nothing is handed to the box, so that it is told of no difference either.
  if (await isRestrictedIn(store, home)) return { differing: [] };
  return { differing: await compareDays(store, { request, digests }, { home, at_ms: now_ms }) };
}

/** The programme's records for the home, as an import document; 304 to a gateway that has them already. */
async function homeRecords({ home, request: { headers } }: HomeCall, { store }: Parts): Promise<Response> {
  const { body, etag } = await homeRecordsOf(store, home);
  return namesTag(headers.get("if-none-match"), etag)
    ? new Response(null, { status: 304, headers: { ETag: etag } })
    : jsonAnswer(body, headers.get("accept-encoding") ?? undefined, { ETag: etag });
}

/** Keeps files of a home, each in the place of the one of its name before. */
async function keepBackups({ home, body }: HomeCall<BackupsBody>, { store }: Parts): Promise<Response> {
  try {
    await keepFiles(store, home, filesInBody(body));
  } catch (thrown) {
    if (thrown instanceof FilesFault) throw new HttpError("body_unsuitable", { fault: thrown.message });
    throw thrown;
  }
  return emptyAnswer();
}

/** The files that are kept of a home. */
async function backups({ home }: HomeCall, { store }: Parts): Promise<BackupsBody> {
  await requireShown(store, home);
  return bodyOfFiles(await store.backups(home));
}

/** Has a box wait for requests. It takes no place in the queue: nothing is worked on meanwhile. */
function remoteOrders({ desk }: Parts) {
  return async ({
    request,
    server,
    home,
    query,
  }: {
    readonly request: Request;
    readonly server: Server<unknown> | null;
    readonly home: number;
    readonly query: Static<typeof RemoteQuery>;
  }): Promise<Response> => {
    // Bun would close a connection on which nothing happens.
    server?.timeout(request, remote_hold_ms / 1000 + 15);
    const working = (query.working ?? "").split(",").filter(Boolean).map(Number);
    const orders = await desk.poll({ home, working, pauses_tag: query.pauses_tag, gone: request.signal });
    return orders === undefined ? emptyAnswer() : Response.json(orders);
  };
}

/** Keeps how the box dealt with a request; what it was not asked for, or has answered before, is let go. */
async function remoteAnswered(
  { home, now_ms, body: { number, ...answer } }: HomeCall<RemoteAnswerBody>,
  { desk }: Parts,
): Promise<Response> {
  await desk.answered(home, number, { ...answer, answered_ms: now_ms });
  return emptyAnswer();
}

/** Readings of the items that are in the home now, batch by batch, for a box that is restored. */
async function history(
  { home, query: { from, seq, at } }: HomeCall<undefined, Static<typeof HistoryQuery>>,
  { store }: Parts,
): Promise<Response> {
  await requireShown(store, home);
  const after = seq === undefined || at === undefined ? undefined : { seq, at };
  const made = await encodedBatch((readings_max) =>
    store.history({ home, from_ms: from, after, readings_max }),
  ).catch((thrown) => {
    if (!(thrown instanceof RangeError)) throw thrown;
    throw new HttpError("parameter_malformed", {
      parameter: "at",
      expected: "as the answer before named it",
    });
  });
  if (made === undefined) return emptyAnswer();
  return batchAnswer(made.bytes, { [positionHeader]: `${made.position.seq} ${made.position.at}` });
}

/** Up to four times the largest body is read and thrown away, so that a client that sends too much learns why; more is cut off. */
const drained_bytes = 4 * decodingBounds.homeFiles.sent_bytes_max;
