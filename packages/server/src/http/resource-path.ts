import { readId } from "@bursar/protocol";
import { Refusal } from "./refusal.js";

/** The resource of a path. A text that is no identifier names one that does not exist, as any unknown identifier does. */
export function transactionIdOf(params: { id: string }): string {
  const id = readId("tx", params.id);
  if (id === undefined) throw new Refusal("TRANSACTION_NOT_FOUND");
  return id;
}

export function destinationIdOf(params: { id: string }): string {
  const id = readId("dst", params.id);
  if (id === undefined) throw new Refusal("DESTINATION_NOT_FOUND");
  return id;
}

export function walletIdOf(params: { id: string }): string {
  const id = readId("wlt", params.id);
  if (id === undefined) throw new Refusal("WALLET_NOT_FOUND");
  return id;
}

export function orderIdOf(params: { id: string }): string {
  const id = readId("ord", params.id);
  if (id === undefined) throw new Refusal("ORDER_NOT_FOUND");
  return id;
}

export function endpointIdOf(params: { id: string }): string {
  const id = readId("whe", params.id);
  if (id === undefined) throw new Refusal("WEBHOOK_ENDPOINT_NOT_FOUND");
  return id;
}

export function deliveryIdOf(params: { id: string }): string {
  const id = readId("dlv", params.id);
  if (id === undefined) throw new Refusal("WEBHOOK_DELIVERY_NOT_FOUND");
  return id;
}
