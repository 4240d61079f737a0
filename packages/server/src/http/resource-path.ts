import { type ErrorCode, readId } from "@bursar/protocol";
import { Refusal } from "./refusal.js";

/** The ids of a path. A string that is not an id names a resource that does not exist, like any unknown id. */
type Params<Name extends string = "id"> = Readonly<Record<Name, string>>;

export const transactionIdOf = ({ id }: Params) => idOf("tx", id, "TRANSACTION_NOT_FOUND");
export const walletIdOf = ({ id }: Params) => idOf("wlt", id, "WALLET_NOT_FOUND");
export const orderIdOf = ({ id }: Params) => idOf("ord", id, "ORDER_NOT_FOUND");
export const destinationIdOf = ({ id }: Params) => idOf("dst", id, "DESTINATION_NOT_FOUND");
export const personIdOf = ({ id }: Params) => idOf("cli", id, "PERSON_NOT_FOUND");
export const sessionIdOf = ({ id }: Params) => idOf("ses", id, "SESSION_NOT_FOUND");
export const passkeyIdOf = ({ id }: Params) => idOf("key", id, "CREDENTIAL_NOT_FOUND");
export const changeRequestIdOf = ({ id }: Params) => idOf("chr", id, "CHANGE_REQUEST_NOT_FOUND");
export const endpointIdOf = ({ id }: Params) => idOf("whe", id, "WEBHOOK_ENDPOINT_NOT_FOUND");
export const deliveryIdOf = ({ id }: Params) => idOf("dlv", id, "WEBHOOK_DELIVERY_NOT_FOUND");
export const clientIdOf = (params: Params<"client_id">) => idOf("cli", params.client_id, "CLIENT_NOT_FOUND");
export const secretIdOf = (params: Params<"secret_id">) =>
  idOf("sec", params.secret_id, "CREDENTIAL_NOT_FOUND");
export const keyIdOf = (params: Params<"key_id">) => idOf("key", params.key_id, "CREDENTIAL_NOT_FOUND");

/** The id in a filter of a list. */
export function readQueryId(prefix: "wlt" | "cli", name: string, given: string): string {
  const id = readId(prefix, given);
  if (id !== undefined) return id;
  const reason = prefix === "wlt" ? "is not a wallet id" : "is not a client id";
  throw new Refusal("INVALID_REQUEST", { details: [{ path: `query.${name}`, reason }] });
}

/** The prefixes of what events are about. */
const subjectPrefixes = ["tx", "wlt", "ord", "whe", "chr"] as const;

export function readSubjectId(given: string): string {
  for (const prefix of subjectPrefixes) {
    const id = readId(prefix, given);
    if (id !== undefined) return id;
  }
  const reason = "is not the id of a transaction, wallet, order, webhook endpoint or change request";
  throw new Refusal("INVALID_REQUEST", { details: [{ path: "query.subject_id", reason }] });
}

function idOf(prefix: Parameters<typeof readId>[0], given: string, missing: ErrorCode): string {
  const id = readId(prefix, given);
  if (id === undefined) throw new Refusal(missing);
  return id;
}
