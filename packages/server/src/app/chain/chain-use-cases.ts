import type { Network as NetworkBody } from "@bursar/protocol";
import type { SpeedUpTransaction } from "./speed-up.js";

/** What can be asked about chains. */
export interface ChainUseCases {
  listNetworks: () => Promise<NetworkBody[]>;
  speedUpTransaction: SpeedUpTransaction;
}
