/**
 * The interface between serialport and a binding, as types: the shapes of `@serialport/bindings-interface` 1.2, whose
 * declarations a strict module resolution can't find.
 */

export interface OpenOptions {
  /** `/dev/…`, or `tcp://host:port`. */
  path: string;
  /** Bits per second. */
  baudRate: number;
  dataBits?: 5 | 6 | 7 | 8;
  /** Keep everyone else out while the port is open. */
  lock?: boolean;
  /** 1.5 goes with 5 data bits only. */
  stopBits?: 1 | 1.5 | 2;
  /** `none`, `even`, `odd`, `mark` or `space`. */
  parity?: string;
  /** Hardware flow control. */
  rtscts?: boolean;
  /** Software flow control: obey the other side's, send our own, go on at any character. */
  xon?: boolean;
  xoff?: boolean;
  xany?: boolean;
  /** Drop DTR when the port closes. */
  hupcl?: boolean;
}

/** One port of this machine. */
export interface PortInfo {
  path: string;
  manufacturer: string | undefined;
  serialNumber: string | undefined;
  pnpId: string | undefined;
  locationId: string | undefined;
  productId: string | undefined;
  vendorId: string | undefined;
}

/** The control lines that a port hears. */
export interface PortStatus {
  cts: boolean;
  dsr: boolean;
  dcd: boolean;
}

/** The control lines that a port drives (`cts` and `dsr` are inputs: accepted and ignored). */
export interface SetOptions {
  brk?: boolean;
  cts?: boolean;
  dsr?: boolean;
  dtr?: boolean;
  rts?: boolean;
}

export interface UpdateOptions {
  baudRate: number;
}

export interface BindingsErrorInterface extends Error {
  canceled?: boolean;
}

export interface BindingPortInterface {
  readonly openOptions: Required<OpenOptions>;
  isOpen: boolean;
  close(): Promise<void>;
  read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }>;
  write(buffer: Buffer): Promise<void>;
  update(options: UpdateOptions): Promise<void>;
  set(options: SetOptions): Promise<void>;
  get(): Promise<PortStatus>;
  getBaudRate(): Promise<{ baudRate: number }>;
  flush(): Promise<void>;
  drain(): Promise<void>;
}

export interface BindingInterface<
  Port extends BindingPortInterface = BindingPortInterface,
  Options extends OpenOptions = OpenOptions,
  Info extends PortInfo = PortInfo,
> {
  list(): Promise<Info[]>;
  open(options: Options): Promise<Port>;
}

export type OpenOptionsFromBinding<Binding> =
  Binding extends BindingInterface<BindingPortInterface, infer Options> ? Options : never;
export type PortInterfaceFromBinding<Binding> =
  Binding extends BindingInterface<infer Port, OpenOptions> ? Port : never;
export type PortInfoFromBinding<Binding> =
  Binding extends BindingInterface<BindingPortInterface, OpenOptions, infer Info> ? Info : never;
