/** Bun imports these files as text. */
declare module "*.sql" {
  const text: string;
  export default text;
}
