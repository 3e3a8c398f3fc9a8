import { Zcl } from "zigbee-herdsman";
import type { Definition, Fingerprint } from "zigbee-herdsman-converters/lib/types";

type Cluster = (typeof Zcl.Clusters)[keyof typeof Zcl.Clusters];
/** A cluster as far as messages are made of it. */
export interface ClusterShape {
  readonly attributes: Readonly<Record<string, { readonly name: string; readonly type: number }>>;
  readonly commands: Readonly<Record<string, CommandShape>>;
  readonly commandsResponse: Readonly<Record<string, CommandShape>>;
}
interface CommandShape {
  readonly parameters?: readonly { readonly name: string; readonly type: number }[];
}

/** In the place of zigbee-herdsman's device: has the fields that converters read, and answers whatever they ask with nothing. */
export class StandInDevice {
  readonly type: string;
  readonly interviewState = "SUCCESSFUL";
  readonly meta: Record<string, unknown> = { configured: true };
  readonly genBasic: Record<string, unknown> = {};
  readonly customClusters: Record<string, ClusterShape> = {};
  readonly endpoints: StandInEndpoint[];
  readonly networkAddress = 1;
  readonly linkquality = 100;
  readonly lastSeen = 0;
  customReadResponse: unknown;
  skipDefaultResponse = false;
  checkinInterval: unknown;
  pendingRequestTimeout = 0;
  readonly modelID: string | undefined;
  readonly manufacturerName: string | undefined;
  readonly manufacturerID: number | undefined;
  readonly applicationVersion: number | undefined;
  readonly hardwareVersion: number | undefined;
  readonly softwareBuildID: string | undefined;
  readonly stackVersion: number | undefined;
  readonly zclVersion: number | undefined;
  readonly dateCode: string | undefined;
  readonly powerSource: string;

  /** @param print how the device is told from others of its model's name */
  constructor(
    readonly ieeeAddr: string,
    print: Fingerprint,
  ) {
    this.type = print.type ?? "EndDevice";
    this.modelID = print.modelID;
    this.manufacturerName = print.manufacturerName;
    this.manufacturerID = print.manufacturerID;
    this.applicationVersion = print.applicationVersion;
    this.hardwareVersion = print.hardwareVersion;
    this.softwareBuildID = print.softwareBuildID;
    this.stackVersion = print.stackVersion;
    this.zclVersion = print.zclVersion;
    this.dateCode = print.dateCode;
    this.powerSource = print.powerSource ?? "Battery";
    const endpoints = print.endpoints ?? [{ ID: 1 }];
    this.endpoints = endpoints.map((one) => new StandInEndpoint(this, one));
  }

  getEndpoint(id: number): StandInEndpoint {
    const known = this.endpoints.find(({ ID }) => ID === id);
    if (known !== undefined) return known;
    const made = new StandInEndpoint(this, { ID: id });
    this.endpoints.push(made);
    return made;
  }

  getEndpointByDeviceType(): StandInEndpoint | undefined {
    return this.endpoints[0];
  }

  addCustomCluster(name: string, cluster: ClusterShape): void {
    const known = this.clusterOf(name);
    this.customClusters[name] = {
      attributes: { ...known?.attributes, ...cluster.attributes },
      commands: { ...known?.commands, ...cluster.commands },
      commandsResponse: { ...known?.commandsResponse, ...cluster.commandsResponse },
    };
  }

  clusterOf(name: string): ClusterShape | undefined {
    return this.customClusters[name] ?? (Zcl.Clusters as Record<string, Cluster | undefined>)[name];
  }

  save(): void {}
}

export class StandInEndpoint {
  readonly ID: number;
  readonly deviceID: number | undefined;
  readonly profileID: number | undefined;
  readonly inputClusters: number[];
  readonly outputClusters: readonly number[];
  readonly deviceIeeeAddress: string;
  readonly meta: Record<string, unknown> = {};
  readonly binds: readonly unknown[] = [];
  readonly #device: StandInDevice;

  constructor(device: StandInDevice, print: NonNullable<Fingerprint["endpoints"]>[number]) {
    this.#device = device;
    this.ID = print.ID ?? 1;
    this.deviceID = print.deviceID;
    this.profileID = print.profileID;
    this.inputClusters = [...(print.inputClusters ?? [])];
    this.outputClusters = print.outputClusters ?? [];
    this.deviceIeeeAddress = device.ieeeAddr;
  }

  getDevice(): StandInDevice {
    return this.#device;
  }
  supportsInputCluster(): boolean {
    return true;
  }
  supportsOutputCluster(): boolean {
    return true;
  }
  getInputClusters(): readonly unknown[] {
    return [];
  }
  getOutputClusters(): readonly unknown[] {
    return [];
  }
  getClusterAttributeValue(): undefined {
    return undefined;
  }
  saveClusterAttributeKeyValue(): void {}
  hasPendingRequests(): boolean {
    return false;
  }
  async read(): Promise<object> {
    return {};
  }
  async readResponse(): Promise<void> {}
  async write(): Promise<void> {}
  async writeResponse(): Promise<void> {}
  async command(): Promise<object> {
    return {};
  }
  async commandResponse(): Promise<void> {}
  async defaultResponse(): Promise<void> {}
  async bind(): Promise<void> {}
  async unbind(): Promise<void> {}
  async configureReporting(): Promise<void> {}
}

// Converters know an endpoint and a device by the names of their classes.
Object.defineProperty(StandInEndpoint, "name", { value: "Endpoint" });
Object.defineProperty(StandInDevice, "name", { value: "Device" });

/** The first thing by which a device is known to be of a definition. */
export function printOf(definition: Definition): Fingerprint {
  const [model] = definition.zigbeeModel ?? [];
  return model === undefined ? (definition.fingerprint?.[0] ?? {}) : { modelID: model };
}
