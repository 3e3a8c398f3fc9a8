declare module "*.css" {
  const text: string;
  export default text;
}

declare module "*.toml" {
  const text: string;
  export default text;
}

declare module "*.md" {
  const text: string;
  export default text;
}
