/**
 * Door and window sensors by the local name that they broadcast. Source: https://shelly-api-docs.shelly.cloud,
 * "Shelly BLU Door/Window".
 */
export const models: Readonly<Record<string, { readonly model: string; readonly vendor: string }>> = {
  "SBDW-002C": { model: "SBDW-002C", vendor: "Shelly" },
};
