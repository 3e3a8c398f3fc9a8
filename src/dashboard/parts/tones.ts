import { createContext } from "preact";

/** Sounds of a browser. Browsers play none before somebody has tapped something. */
export interface Tones {
  /** To be called from a tap. */
  allow(): void;
  play(): void;
}

export const TonesContext = createContext<Tones | undefined>(undefined);
