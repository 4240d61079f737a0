import { readId } from "@bursar/protocol";
import type { FastifyRequest } from "fastify";
import type { ClientProof } from "../../app/access/authenticate-client.js";
import { OAuthRefusal } from "./oauth-context.js";

const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

export interface ClientAuthenticationForm {
  client_id?: string;
  client_secret?: string;
  client_assertion_type?: string;
  client_assertion?: string;
}

/** An id that no client has. It replaces malformed ids, so that they take as long as an unknown client. */
const unknownClientId = "00000000-0000-0000-0000-000000000000";

/** Reads how a request to an OAuth endpoint authenticates its client: Basic, form fields or an assertion, exactly one of them. */
export function readClientProof(request: FastifyRequest, form: ClientAuthenticationForm): ClientProof {
  const basic = request.headers.authorization;
  const ways = [basic, form.client_secret, form.client_assertion].filter((way) => way !== undefined).length;
  if (ways > 1) throw invalidRequest("A client must use exactly one authentication method.");
  if (form.client_assertion !== undefined) return readAssertion(form);
  if (basic !== undefined) return readBasic(basic, form);
  if (form.client_id === undefined || form.client_secret === undefined) {
    throw new OAuthRefusal({ fault: "invalid_client", description: "The client must authenticate." });
  }
  return { method: "secret", clientId: clientIdOf(form.client_id), secret: form.client_secret };
}

function readAssertion({
  client_id,
  client_assertion_type,
  client_assertion = "",
}: ClientAuthenticationForm): ClientProof {
  if (client_assertion_type !== assertionType)
    throw invalidRequest(`client_assertion_type must be ${assertionType}.`);
  return {
    method: "assertion",
    clientId: client_id === undefined ? undefined : clientIdOf(client_id),
    assertion: client_assertion,
  };
}

/** Both parts are form-encoded before they are joined (RFC 6749, section 2.3.1). */
function readBasic(header: string, form: ClientAuthenticationForm): ClientProof {
  const encoded = /^Basic ([A-Za-z0-9+/]{1,1024}={0,2})$/i.exec(header)?.[1];
  const decoded = encoded === undefined ? "" : Buffer.from(encoded, "base64").toString("utf8");
  const separator = decoded.indexOf(":");
  if (separator < 0)
    throw new OAuthRefusal({
      fault: "invalid_client",
      description: "The Authorization header is malformed.",
    });
  const id = formDecode(decoded.slice(0, separator));
  if (form.client_id !== undefined && form.client_id !== id)
    throw invalidRequest("client_id differs from the Authorization header.");
  return { method: "secret", clientId: clientIdOf(id), secret: formDecode(decoded.slice(separator + 1)) };
}

function clientIdOf(text: string): string {
  return readId("cli", text) ?? unknownClientId;
}

function formDecode(text: string): string {
  return new URLSearchParams(`value=${text}`).get("value") ?? "";
}

function invalidRequest(description: string): OAuthRefusal {
  return new OAuthRefusal({ fault: "invalid_request", description });
}
