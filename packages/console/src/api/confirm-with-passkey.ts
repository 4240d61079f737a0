import { passkeyOperations, type RequestToConfirm } from "@bursar/client";
import { explained, signChallenge, toBase64url } from "../session/passkeys";
import { serviceClock } from "./service-clock";

/** What a person confirms: what is done to what, with which content. */
interface ConfirmedAct {
  act: string;
  target: string;
  /** In hex. */
  digest: string;
}

/** The person who confirms, and their tenant, by their ids. */
export interface Confirming {
  tenantId: string;
  personId: string;
}

const utf8 = new TextEncoder();

/**
 * Asks for the passkey if the operation needs it, and returns the value of `Bursar-Passkey`. The challenge is computed from the request, so
 * the assertion is worth nothing for another one. Fails with a sentence for the page if the person cancels.
 */
export async function confirmWithPasskey(
  request: RequestToConfirm,
  whoConfirms: () => Promise<Confirming>,
): Promise<string | undefined> {
  const act = await actOf(request);
  if (act === undefined) return undefined;
  const at = new Date(serviceClock.nowMs()).toISOString();
  const challenge = await sha256(challengeContent(await whoConfirms(), act, at));
  const { userHandle: _, ...assertion } = await explained(() => signChallenge(challenge))();
  return toBase64url(utf8.encode(JSON.stringify({ ...assertion, at })).buffer);
}

export function challengeContent(
  { tenantId, personId }: Confirming,
  { act, target, digest }: ConfirmedAct,
  at: string,
): string {
  return ["bursar-passkey-v2", tenantId, personId, act, target, digest, at].join("\n");
}

/** A decision names what is decided and its digest; any other operation its path and the digest of its body. */
export async function actOf({
  operation,
  target,
  body = "",
}: RequestToConfirm): Promise<ConfirmedAct | undefined> {
  const operationId = passkeyOperations[operation];
  if (operationId === undefined) return undefined;
  const decided = /^\/v1\/(transactions|change-requests)\/([^/]+)\/(approvals|approve|reject)$/.exec(target);
  if (decided === null) return { act: operationId, target, digest: toHex(await sha256(body)) };
  const [, subject, id = "", verb] = decided;
  const { decision, digest } = JSON.parse(body) as { decision?: string; digest: string };
  const act = subject === "transactions" ? `transaction.${decision}` : `change_request.${verb}`;
  return { act, target: decodeURIComponent(id), digest };
}

async function sha256(content: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", utf8.encode(content)));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
