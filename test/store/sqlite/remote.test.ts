import { remoteAgrees } from "../remote-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";

remoteAgrees("central on SQLite", temporaryCentral);
