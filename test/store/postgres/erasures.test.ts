import type { MakeCentral } from "../central-sample.ts";
import { erasuresAgree } from "../erasure-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

const make: MakeCentral = async () => {
  const central = await temporaryCentral();
  const damage = async () => {};
  return { store: central.store, damage, [Symbol.asyncDispose]: () => central[Symbol.asyncDispose]() };
};

erasuresAgree("central on PostgreSQL", make);
