import { consentAgrees } from "../consent-conformance.ts";
import { pausesAgree } from "../pause-conformance.ts";
import { restrictionsAgree } from "../restriction-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

pausesAgree("central on PostgreSQL", temporaryCentral);
consentAgrees("consent at central on PostgreSQL", temporaryCentral);
restrictionsAgree("restrictions at central on PostgreSQL", temporaryCentral);
