import type { DestinationKind, PolicyRequest } from "@bursar/domain";
import type { EvaluatePolicyBody } from "@bursar/protocol";
import type { Principal } from "../access/authenticate-request.js";
import { type NetworkAddress, readAddress } from "../destinations/destination.js";
import { toPolicyRequest as orderToPolicyRequest } from "../markets/order-policy.js";
import { type ReadOrderDeps, readOrder } from "../markets/read-order-request.js";
import { isRefused, type Refused } from "../requests/refused.js";
import {
  type Payment,
  type ReadRequestDeps,
  readPayment,
  readTransactionRequest,
  toPolicyRequest,
} from "../transactions/read-request.js";
import { type AllowList, kindOfAddress } from "./allow-list.js";

export interface EvaluatedRequestDeps extends ReadRequestDeps, ReadOrderDeps {
  allowList: AllowList;
}

/** Reads the transaction or the order of a request, as policy would judge it at that time. */
export type ReadEvaluatedRequest = (
  initiator: Pick<Principal, "tenantId" | "clientId">,
  body: Pick<EvaluatePolicyBody, "transaction" | "order">,
  at: Date,
) => Promise<PolicyRequest | Refused>;

export function createEvaluatedRequestReader(deps: EvaluatedRequestDeps): ReadEvaluatedRequest {
  return async (initiator, { transaction, order }, at) => {
    if (transaction !== undefined && order === undefined) {
      const asked = await readTransaction(deps, initiator.tenantId, transaction, at);
      if (isRefused(asked)) return asked;
      return toPolicyRequest(initiator, asked, asked.destinationKind, at.getTime());
    }
    if (order !== undefined && transaction === undefined)
      return await readEvaluatedOrder(deps, initiator, order, at);
    const reason = "must have either transaction or order";
    return { refused: "INVALID_REQUEST", details: [{ path: "body", reason }] };
  };
}

/** Makes the checks of `POST /v1/transactions`, except that an address may belong to any chain, even one without a rail. */
async function readTransaction(
  deps: EvaluatedRequestDeps,
  tenantId: string,
  { destination, ...rest }: NonNullable<EvaluatePolicyBody["transaction"]>,
  at: Date,
): Promise<(Payment & { destinationKind: DestinationKind }) | Refused> {
  if (destination !== undefined && "address" in destination) {
    const payment = await readPayment(deps, tenantId, rest);
    if (isRefused(payment)) return within("transaction", payment);
    const destinationKind = await judgeAddress(deps, tenantId, destination, at);
    return isRefused(destinationKind) ? destinationKind : { ...payment, destinationKind };
  }
  const named = destination === undefined ? {} : { destination };
  const request = await readTransactionRequest(deps, tenantId, { ...rest, ...named });
  return isRefused(request) ? within("transaction", request) : { ...request, destinationKind: "own_wallet" };
}

/** Makes the checks of `POST /v1/orders` that do not depend on the state of the market. */
async function readEvaluatedOrder(
  deps: EvaluatedRequestDeps,
  { tenantId, clientId }: Pick<Principal, "tenantId" | "clientId">,
  order: NonNullable<EvaluatePolicyBody["order"]>,
  at: Date,
): Promise<PolicyRequest | Refused> {
  const read = await readOrder(deps, tenantId, order);
  if (isRefused(read)) return within("order", read);
  const { request, wallet } = read;
  return orderToPolicyRequest(request.market, { ...request, tenantId, clientId, createdAt: at }, wallet);
}

async function judgeAddress(
  { allowList, rails, wallets }: EvaluatedRequestDeps,
  tenantId: string,
  given: NetworkAddress,
  at: Date,
): Promise<DestinationKind | Refused> {
  const where = readAddress(rails, given, "body.transaction.destination");
  if (isRefused(where)) return where;
  const own = await wallets.findByAddress(tenantId, where.network, where.address);
  return own === undefined ? await kindOfAddress(allowList, tenantId, where, at) : "own_wallet";
}

/** In this body the transaction or order is nested one level deeper than in the request that creates it. */
function within(member: "transaction" | "order", refused: Refused): Refused {
  const details = refused.details?.map((detail) => ({
    ...detail,
    path: detail.path.replace(/^body\b/, `body.${member}`),
  }));
  return { ...refused, ...(details === undefined ? {} : { details }) };
}
