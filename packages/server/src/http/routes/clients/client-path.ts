import { readId } from "@bursar/protocol";
import { Refusal } from "../../refusal.js";

/** The client of a path. A text that is no identifier names a client that does not exist, as any unknown identifier does. */
export function clientIdOf(params: { client_id: string }): string {
  return readId("cli", params.client_id) ?? missing("CLIENT_NOT_FOUND");
}

export function secretIdOf(params: { secret_id: string }): string {
  return readId("sec", params.secret_id) ?? missing("CREDENTIAL_NOT_FOUND");
}

export function keyIdOf(params: { key_id: string }): string {
  return readId("key", params.key_id) ?? missing("CREDENTIAL_NOT_FOUND");
}

function missing(code: "CLIENT_NOT_FOUND" | "CREDENTIAL_NOT_FOUND"): never {
  throw new Refusal(code);
}
