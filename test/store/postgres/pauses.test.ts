import { pausesAgree } from "../pause-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

pausesAgree("central on PostgreSQL", temporaryCentral);
