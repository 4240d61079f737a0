import type { CreateDepositBody } from "../generated/schemas.js";
import type { CreateOptions } from "../transport/options.js";
import type { Transport } from "../transport/transport.js";

export function createDeposits(transport: Transport) {
  return {
    /** Credits a wallet with money that has arrived outside. Take the key from the source of the money. */
    create: (body: CreateDepositBody, options?: CreateOptions) =>
      transport.call("POST /v1/deposits", { body, keyed: true }, options),
  };
}
