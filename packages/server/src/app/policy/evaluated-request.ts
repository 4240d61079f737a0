import type { DestinationKind } from "@bursar/domain";
import type { EvaluatePolicyBody } from "@bursar/protocol";
import { type NetworkAddress, readAddress } from "../destinations/destination.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type Payment,
  type ReadRequestDeps,
  readPayment,
  readTransactionRequest,
} from "../transactions/read-request.js";
import { type AllowList, kindOfAddress } from "./allow-list.js";

export interface EvaluatedRequestDeps extends ReadRequestDeps {
  allowList: AllowList;
}

/** The fields of a transaction that policy rules test. */
interface EvaluatedRequest extends Payment {
  destinationKind: DestinationKind;
}

export type ReadEvaluatedRequest = (
  tenantId: string,
  transaction: EvaluatePolicyBody["transaction"],
  at: Date,
) => Promise<EvaluatedRequest | Refused>;

/** Makes the checks of `POST /v1/transactions`, except that an address may belong to any chain, even one without a rail. */
export function createEvaluatedRequestReader(deps: EvaluatedRequestDeps): ReadEvaluatedRequest {
  return async (tenantId, { destination, ...rest }, at) => {
    if (destination !== undefined && "address" in destination) {
      const payment = await readPayment(deps, tenantId, rest);
      if (isRefused(payment)) return within("transaction", payment);
      const destinationKind = await judgeAddress(deps, tenantId, destination, at);
      return isRefused(destinationKind) ? destinationKind : { ...payment, destinationKind };
    }
    const named = destination === undefined ? {} : { destination };
    const request = await readTransactionRequest(deps, tenantId, { ...rest, ...named });
    return isRefused(request)
      ? within("transaction", request)
      : { ...request, destinationKind: "own_wallet" };
  };
}

async function judgeAddress(
  { allowList, rails }: EvaluatedRequestDeps,
  tenantId: string,
  given: NetworkAddress,
  at: Date,
): Promise<DestinationKind | Refused> {
  const where = readAddress(rails, given, "body.transaction.destination");
  return isRefused(where) ? where : await kindOfAddress(allowList, tenantId, where, at);
}

/** In this body the transaction is nested one level deeper than in `POST /v1/transactions`. */
function within(member: string, refused: Refused): Refused {
  const details = refused.details?.map((detail) => ({
    ...detail,
    path: detail.path.replace(/^body\b/, `body.${member}`),
  }));
  return { ...refused, ...(details === undefined ? {} : { details }) };
}
