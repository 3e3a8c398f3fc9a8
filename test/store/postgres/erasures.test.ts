import { erasuresAgree } from "../erasure-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

erasuresAgree("central on PostgreSQL", temporaryCentral);
