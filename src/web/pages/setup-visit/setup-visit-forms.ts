import type { Kind } from "../../../domain/kinds.ts";
import { HttpError } from "../../server/http-errors.ts";
import { type AcceptanceVisit, type Asked, askerName } from "../site.ts";
import { failed, walkOf } from "./setup-visit-data.ts";
import { nameInRoom } from "./setup-visit-words.ts";

/** Opens or closes joining; answers where to go on. */
export async function joiningForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const walk = walkOf(asked);
  if (form.get("do") === "open") walk.open();
  else await walk.close();
  return "/walk";
}

/** Gives a device a name and a room; answers where to go on: to the next one, or back to the form with what was wrong with it. */
export async function nameForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const walk = walkOf(asked);
  const text = (field: string) => form.get(field)?.trim() ?? "";
  const address = text("device");
  const room = text("other") || text("room");
  const overviews = await asked.store.itemOverviews();
  const record = overviews.find((one) => one.record.macaddress === address)?.record;
  const kind = { kind: record?.typename as Kind, subtype: record?.subtypename ?? "" };
  const isNamed = await walk.name(address, { name: text("name") || (room && nameInRoom(room, kind)), room });
  return isNamed ? "/walk?step=name" : naming(address);
}

/** Keeps the distances of curtain sensors, each in a field of its address; answers where to go on. */
export async function lineForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const walk = walkOf(asked);
  for (const [address, metres] of form)
    if (metres.trim() !== "" && !(await walk.measure(address, metres))) return `/walk?step=line&${failed}`;
  return "/walk?step=line";
}

/** Gives a new device the name and place of a broken one; answers where to go on. */
export async function replaceForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const device = form.get("device") ?? "";
  const isDone = await walkOf(asked).replace(form.get("old") ?? "", device);
  return isDone ? "/walk?step=name" : naming(device);
}

/** The technician tries a device, or walks along a line, from now on; answers where to go on. */
export async function tryForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const of = form.get("of") ?? "";
  visitOf(asked).ask(of);
  return of.startsWith("order ") ? "/walk?step=line" : "/walk?step=test";
}

/** Begins to make the record of the visit; answers where to go on. */
export async function finishForm(asked: Asked, form: URLSearchParams): Promise<string> {
  visitOf(asked).begin(form.get("tester") ?? "");
  return "/walk?step=finish";
}

/** @throws HttpError as `walkOf` does */
function visitOf(asked: Asked): AcceptanceVisit {
  walkOf(asked);
  if (asked.site.acceptance === undefined) throw new HttpError("path_unknown", {});
  return asked.site.acceptance;
}

/** Back to the form of a device, with the reason why it failed. */
function naming(device: string): string {
  return `/walk?${new URLSearchParams({ step: "name", device, [failed]: "" })}`;
}

/** Takes the device that claims to be a known one in its place, or refuses it; answers where to go on: back to the page of the form. */
export async function conflictForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const walk = walkOf(asked);
  const seen = { address: form.get("device") ?? "", first_ms: Number(form.get("seen")) };
  const answer = { accept: "accepted", refuse: "refused" } as const;
  const given = form.get("do");
  if (given === "accept" || given === "refuse") await walk.settle(seen, answer[given], askerName(asked));
  return form.get("from") === "home" ? "/" : "/walk";
}
