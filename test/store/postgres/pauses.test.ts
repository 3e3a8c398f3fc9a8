import { consentAgrees } from "../consent-conformance.ts";
import { pausesAgree } from "../pause-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

pausesAgree("central on PostgreSQL", temporaryCentral);
consentAgrees("consent at central on PostgreSQL", temporaryCentral);
