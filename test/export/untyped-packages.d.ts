/** The parts that tests use of packages that bring no types, or none of these. */
declare module "datapackage" {
  interface Resource {
    readonly name: string;
    readonly descriptor: Readonly<Record<string, unknown>>;
    read(options: { keyed: true }): Promise<Record<string, unknown>[]>;
  }
  interface Loaded {
    readonly valid: boolean;
    readonly errors: readonly Error[];
    readonly resourceNames: readonly string[];
    readonly resources: readonly Resource[];
  }
  export const Package: { load(descriptor: string, options: { basePath: string }): Promise<Loaded> };
}
