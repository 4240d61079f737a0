import { type ErrorCode, errorCatalog, showId } from "@bursar/protocol";
import type { OperatorOrigin } from "../../app/audit/audit-entry.js";
import { isRefused, type Refused } from "../../app/requests/refused.js";
import { OperatorError } from "../../operator-error.js";
import { createClientStore } from "../../store/access/clients.js";
import type { Database } from "../../store/core/database.js";

/** The operator, acting in the tenant of a client. */
export async function operatorOf(database: Database, clientId: string): Promise<OperatorOrigin> {
  const client = await createClientStore(database).findClient(clientId);
  if (client === undefined) throw new OperatorError(`Client ${showId("cli", clientId)} does not exist.`);
  return { by: "operator", tenantId: client.tenantId };
}

/** The result of a use case; a refusal becomes a message for the operator. */
export function orThrow<T>(result: T | Refused): T {
  if (isRefused(result)) throw new OperatorError(result.message ?? describeRefusal(result.refused));
  return result;
}

function describeRefusal(code: ErrorCode): string {
  const { message } = errorCatalog[code];
  return code === "CLIENT_TAMPERED" ? `${message} Examine it, then run \`bursar client restore\`.` : message;
}
