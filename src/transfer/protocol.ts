import { type Static, Type } from "@sinclair/typebox";
import { day_ms } from "../base/time.ts";
import { AcceptanceReport } from "../domain/acceptance.ts";
import { BurnInReport } from "../domain/burn-in.ts";
import { StoppedRelease, stopped_max, UpdateReport } from "../domain/fleet-home.ts";
import { conflicts_max } from "../domain/identity.ts";
import { remoteOutcomes, SignedRequest } from "../domain/remote-request.ts";
import {
  closed,
  DayDigest,
  DeviceHealth,
  day_max,
  Kind,
  number,
  Series,
  seq,
  time_ms,
  Word,
} from "../store/exchange.ts";
import type { DayReadings } from "../store/gateway/upload-store.ts";
import { NoteChanges } from "../store/note.ts";
import { PausedSpan } from "../store/pause.ts";

/**
 * The routes between gateway and central under `/sync/v1`. Bodies are JSON, with Content-Encoding zstd where they are
 * large, except batches (see batch-codec.ts). An error has the Error body of the API. Every request may be repeated: a
 * side that gets no answer sends it again.
 *
 * | route | served by | scope | what |
 * |---|---|---|---|
 * | POST /sync/v1/report | central | sync | ReportBody -> ReportAnswer: the first and the last word of an upload |
 * | POST /sync/v1/batches | central | sync | a batch -> BatchAnswer; 409 with BatchRefusal where it cannot follow what is held |
 * | POST /sync/v1/verify | central | sync | VerifyBody -> VerifyAnswer |
 * | PUT /sync/v1/days | central | sync | a batch of one day, named by DayQuery -> RepairAnswer |
 * | GET /sync/v1/days | central | sync | the batch of one day that central holds, by DayQuery |
 * | GET /sync/v1/held | central | sync | HeldAnswer, by HeldQuery: how far an epoch of the home is held |
 * | GET /sync/v1/roster | central | sync | the home's records as an import document, with ETag |
 * | PUT, GET /sync/v1/backups | central | sync | BackupsBody: files such as the backup of the Zigbee network |
 * | GET /sync/v1/history | central | sync | batches for a box that is restored, by HistoryQuery; 204 at the end |
 * | GET /sync/v1/remote | central | sync | RemoteOrders, by RemoteQuery, once there is anything for the box; 204 after `remote_hold_ms` |
 * | POST /sync/v1/remote | central | sync | RemoteAnswerBody: how the box dealt with a request; 204 |
 * | GET /sync/v1/fleet | central | admin | what `lintel fleet` shows |
 * | GET /sync/v1/report | gateway | sync, admin | SourceReport, by ReportQuery |
 * | GET /sync/v1/batches | gateway | sync, admin | the batch after BatchQuery; 204 where there is none |
 * | GET /sync/v1/digests, /sync/v1/days | gateway | sync, admin | digests of one day at most by DigestQuery, a batch of one day by DayQuery |
 * | GET /sync/v1/backups | gateway | sync, admin | BackupsBody: what an upload would have central keep |
 *
 * Times are unix milliseconds.
 *
 * A batch travels as it is encoded, as `batchType` and without a Content-Encoding: its compression is part of it. Every other body is JSON. POST /batches names
 * its batch in `batchHeader`, so that central can answer what it holds already without reading the body.
 *
 * A token of scope sync that is bound to no home is refused by central (401). Central that has no room now answers 429, one whose disk is full 507, and one whose
 * database is away 503, each with Retry-After in seconds: nothing was taken, and a gateway that comes back then goes before those that come later.
 */
export const syncPath = "/sync/v1";

/** Content-Type of a batch. */
export const batchType = "application/vnd.lintel.batch";
/** `Lintel-Batch: <epoch> <from_seq> <to_seq>` on POST /batches. */
export const batchHeader = "Lintel-Batch";
/** `Lintel-Home: <id>`, sent by a gateway whose configuration names its home: central refuses a token of another home (409). */
export const homeHeader = "Lintel-Home";
/** `Lintel-Position: <seq> <at>` on an answer of GET /history: what the next request hands back. */
export const positionHeader = "Lintel-Position";

export const EpochName = Type.String({ pattern: "^[0-9a-f]{32}$", title: "32 lower-case hex digits" });

/** A gateway uploads each night; the longest night is that of a change of the clock. */
const upload_due_max_ms = 2 * day_ms;
/** Names in the counts of dropped data. */
export const dropped_max = 300;
export const erasures_reported_max = 100;
export const poor_links_reported_max = 100;
export const pauses_reported_max = 1_000;
export const uncertain_times_reported_max = 100;
/** Lines of curtain sensors in a home, and sensors in a line. */
export const lines_reported_max = 20;
const line_sensors_max = 50;

/** `MachineHealth` of src/base/machine-health.ts. */
const MachineReport = Type.Object(
  {
    disk: Type.Optional(Word),
    written_bytes: Type.Optional(number),
    written_a_day_bytes: Type.Optional(number),
    life_used_percent: Type.Optional(number),
    spare_low: Type.Optional(Type.Boolean()),
    temperature_c: Type.Optional(Type.Number({ minimum: -273, maximum: 1_000 })),
    power_low: Type.Optional(Type.Boolean()),
    slowed: Type.Optional(Type.Boolean()),
    power_low_ms: Type.Optional(time_ms),
  },
  closed,
);

/** A device that claims the address of a known one and waits for a person: see src/domain/identity.ts. `known` and `claimed` say in words what either is. */
const ConflictReport = Type.Object(
  {
    address: Word,
    known: Word,
    claimed: Word,
    why: Word,
    first_ms: time_ms,
    last_ms: time_ms,
    count: number,
  },
  closed,
);

/** A line of curtain sensors, in metres. */
export const LineReport = Type.Object(
  {
    name: Word,
    sensors: Type.Array(Type.Object({ item: Word, metres: Type.Number() }, closed), {
      maxItems: line_sensors_max,
    }),
  },
  closed,
);

/** SHA-256 fingerprints of the certificates by which a gateway knows central, where no authority vouches for it: the one in use, and the one that it will take after that. */
const CentralCertificateReport = Type.Object({ in_use: Word, next: Type.Optional(Word) }, closed);
export type CentralCertificateReport = Static<typeof CentralCertificateReport>;

/** A gateway's report of itself: stored at central and shown by `lintel fleet`. */
export const GatewayReport = Type.Object(
  {
    version: Word,
    /** The gateway's clock when it said this. */
    now_ms: time_ms,
    clock_synchronised: Type.Boolean(),
    timezone: Word,
    /** Time until its timer starts the next upload; absent where its configuration names no time of day. */
    upload_due_in_ms: Type.Optional(Type.Integer({ minimum: 0, maximum: upload_due_max_ms })),
    /** How often its service was started again in the last day because it had ended by itself. */
    restarts: Type.Optional(number),
    /** Memory of the running gateway and of its machine, bytes, and since when it lets devices in; absent where no gateway runs, and where it lets none in. */
    memory_bytes: Type.Optional(number),
    machine_memory_bytes: Type.Optional(number),
    joining_since_ms: Type.Optional(time_ms),
    /** Minutes of the last day in which the gateway or one of its drivers did not listen: of the worst of these. */
    deaf_minutes: Type.Optional(Type.Integer({ minimum: 0, maximum: 24 * 60 })),
    last_seq: seq,
    /** Readings on disk that wait for the time. */
    waiting: number,
    disk_free_bytes: number,
    bytes_on_disk: number,
    /** The machine that it runs on, as far as that tells. */
    machine: Type.Optional(MachineReport),
    /** Counts of dropped data, by name. */
    dropped: Type.Record(Type.String({ pattern: "^[\\s\\S]{0,200}$" }), number, {
      ...closed,
      maxProperties: dropped_max,
    }),
    /** Devices heard by radio of late that nobody has admitted; absent where no gateway runs. */
    strangers: Type.Optional(number),
    /** Devices that claim the address of a known one, the first that did first; absent where nobody has to settle any. */
    conflicts: Type.Optional(Type.Array(ConflictReport, { maxItems: conflicts_max })),
    /** Zigbee devices that are heard badly by what they hang on, or worse than they were; absent where there are none. */
    poor_links: Type.Optional(
      Type.Array(Type.Object({ name: Word, item: Type.Boolean(), fallen: Type.Boolean() }, closed), {
        maxItems: poor_links_reported_max,
      }),
    ),
    /** Erasures that were asked for at the gateway, the newest; a null subject is its home. Central never erases because of it, and shows it. */
    erasures: Type.Optional(
      Type.Array(Type.Object({ at_ms: time_ms, subject: Type.Union([number, Type.Null()]) }, closed), {
        maxItems: erasures_reported_max,
      }),
    ),
    /** Pauses that the gateway knows of, the newest; absent where there are none. Central takes them over. */
    pauses: Type.Optional(Type.Array(PausedSpan, { maxItems: pauses_reported_max })),
    /** Stretches of time in which the gateway's clock was wrong by an unknown amount, the newest; absent where there are none. */
    doubts: Type.Optional(
      Type.Array(Type.Object({ from_ms: time_ms, to_ms: time_ms }, closed), {
        maxItems: uncertain_times_reported_max,
      }),
    ),
    /** Lines of curtain sensors in its configuration: central measures walking speed by them. Absent where there are none. */
    walking: Type.Optional(Type.Array(LineReport, { maxItems: lines_reported_max })),
    /** Of a gateway that updates itself. */
    update: Type.Optional(UpdateReport),
    central_certificate: Type.Optional(CentralCertificateReport),
    /** Of a gateway that has the record of one. */
    burn_in: Type.Optional(BurnInReport),
    acceptance: Type.Optional(AcceptanceReport),
    /** Days found to differ since the last report, and what stopped the upload before this one. */
    differing_days: number,
    /** Those that sending them again did not mend; absent: all of them may be such. */
    unmended_days: Type.Optional(number),
    failure: Type.Optional(Word),
  },
  closed,
);
export type GatewayReport = Static<typeof GatewayReport>;

export const ReportBody = Type.Object(
  {
    /** Every epoch of the gateway's store, oldest first. */
    epochs: Type.Array(Type.Object({ epoch: EpochName, first_seq: seq, last_seq: seq }, closed), {
      minItems: 1,
      maxItems: 100,
    }),
    condition: DeviceHealth,
    report: GatewayReport,
    /** Changes of the notes of the home since central sent its records; absent: none. */
    notes: Type.Optional(NoteChanges),
  },
  closed,
);
export type ReportBody = Static<typeof ReportBody>;

/** A gateway's report of itself to a central that pulls. */
export const SourceReport = Type.Object(
  {
    ...ReportBody.properties,
    /** The home that it is in, where it knows. */
    home: Type.Optional(number),
    /** Stamps below this may have been pruned: days before it are not compared. */
    pruned_before_ms: Type.Optional(time_ms),
  },
  closed,
);
export type SourceReport = Static<typeof SourceReport>;

export const ReportAnswer = Type.Object({
  /** The home that the token is bound to. */
  home: number,
  now_ms: time_ms,
  version: Word,
  /** How far each epoch of the report is held, in its order. */
  epochs: Type.Array(Type.Object({ epoch: EpochName, held_seq: seq, held_note: seq })),
  /** To a gateway that updates itself, where there are any. */
  stopped: Type.Optional(Type.Array(StoppedRelease, { maxItems: stopped_max })),
  /** The certificate that central will have next, in PEM, to a gateway that needs it and does not hold it. */
  next_certificate: Type.Optional(Type.String({ maxLength: 20_000 })),
});
export type ReportAnswer = Static<typeof ReportAnswer>;

export const BatchAnswer = Type.Object({ held_seq: seq, taken: number });
export type BatchAnswer = Static<typeof BatchAnswer>;

/** The body of a 409: an Error, and where to go on. */
export const BatchRefusalBody = Type.Object({
  code: Type.Integer(),
  message: Type.String(),
  reason: Type.Union([
    Type.Literal("gap"),
    Type.Literal("foreign"),
    Type.Literal("diverged"),
    Type.Literal("home"),
  ]),
  held_seq: seq,
});
export type BatchRefusalBody = Static<typeof BatchRefusalBody>;

/** Digests compared at once: a day of ten thousand devices. */
export const digests_max = 20_000;

/** A gateway's answer to GET /digests; `next_ms` is the first day after the requested ones that has readings. */
export const DigestsAnswer = Type.Object({
  digests: Type.Array(DayDigest, { maxItems: digests_max }),
  next_ms: Type.Optional(time_ms),
});
export type DigestsAnswer = Static<typeof DigestsAnswer>;

/** At most `verify_days_max` days at once, so that neither side works for long on one request. */
export const VerifyBody = Type.Object(
  {
    epoch: EpochName,
    through_seq: seq,
    from_ms: time_ms,
    before_ms: time_ms,
    digests: Type.Array(DayDigest, { maxItems: digests_max }),
  },
  closed,
);
export type VerifyBody = Static<typeof VerifyBody>;
export const verify_days_max = 31;

export const VerifyAnswer = Type.Object({
  /** Digests that differ, as central has them; a count of 0 where it has nothing. */
  differing: Type.Array(DayDigest),
});
export type VerifyAnswer = Static<typeof VerifyAnswer>;

export const RepairAnswer = Type.Object({ added: number, corrected: number, kept: number });
export type RepairAnswer = Static<typeof RepairAnswer>;

/** Files by name, in base64. */
export const BackupsBody = Type.Object(
  {
    files: Type.Record(
      Type.String({ pattern: "^[\\w.-]{1,100}$" }),
      Type.String({ maxLength: 3_000_000 }),
      closed,
    ),
  },
  closed,
);
export type BackupsBody = Static<typeof BackupsBody>;

/** For how long central keeps a box waiting, less than routers keep a silent connection. */
export const remote_hold_ms = 230_000;
/** Requests of one answer. */
export const remote_orders_max = 10;
/** Characters that a box sends with an answer: a fault report has some hundred thousand. */
export const remote_answer_length_max = 1_500_000;

/** Requests and pauses that wait for a box. Central has signed none of it, and what it says of pauses is as in the home's records. */
export const RemoteOrders = Type.Object({
  requests: Type.Array(SignedRequest, { maxItems: remote_orders_max }),
  /** Pauses of the home that are not long over, where these are others than the box was told last, and the name by which it says so. */
  pauses: Type.Optional(Type.Array(PausedSpan, { maxItems: pauses_reported_max })),
  pauses_tag: Type.Optional(Word),
});
export type RemoteOrders = Static<typeof RemoteOrders>;

/** `working`: numbers of requests that the box is working on, with commas between. */
export const RemoteQuery = Type.Object({
  working: Type.Optional(Type.String({ pattern: "^\\d{1,16}(,\\d{1,16}){0,99}$" })),
  pauses_tag: Type.Optional(Word),
});

export const RemoteAnswerBody = Type.Object(
  {
    number,
    outcome: Type.Union(remoteOutcomes.map((outcome) => Type.Literal(outcome))),
    words: Word,
    answer: Type.Optional(Type.String({ maxLength: remote_answer_length_max })),
  },
  closed,
);
export type RemoteAnswerBody = Static<typeof RemoteAnswerBody>;

/** Answers the number up to which central holds every reading of an epoch. */
export const HeldAnswer = Type.Object({ epoch: EpochName, held_seq: seq });
export type HeldAnswer = Static<typeof HeldAnswer>;

/** Queries, as strings of the URL. */
export const HeldQuery = Type.Object({ epoch: EpochName });
export const BatchQuery = Type.Object({ epoch: EpochName, after: seq });
export const ReportQuery = Type.Object({ after_note: seq, after_device: Type.Optional(number) });
export const DigestQuery = Type.Object({
  epoch: EpochName,
  through: seq,
  from: time_ms,
  before: time_ms,
});
export const DayQuery = Type.Object({
  epoch: EpochName,
  through: seq,
  series: Series,
  kind: Kind,
  address: Type.String({ maxLength: 64 }),
  itemid: Type.Optional(number),
  day: Type.Integer({ minimum: 0, maximum: day_max }),
  after: seq,
});
/** The day that a query names. */
export function dayReadingsOf(query: Static<typeof DayQuery>): DayReadings {
  const { epoch, through, series, kind, address, itemid, day, after } = query;
  return { epoch, through_seq: through, series, kind, address, itemid, day, after_seq: after };
}

/** The query that names a day. */
export function dayQueryOf({ through_seq, after_seq, ...of }: DayReadings): Static<typeof DayQuery> {
  return { ...of, through: through_seq, after: after_seq };
}

/** `at` and `seq` are the position that the answer before named in its `Lintel-Position` header. */
export const HistoryQuery = Type.Object({
  from: time_ms,
  seq: Type.Optional(seq),
  at: Type.Optional(Type.String({ maxLength: 200 })),
});
