import type { HeldKey } from "@bursar/domain";
import type { FoundProof } from "./proven-links.js";

type FindProof = (clientId: string) => FoundProof | undefined;

/** The keys of the other clients in the lineage of a client, as far as it is known. One that is not known is independent of nobody. */
export function keysBehind(clientId: string, findProof: FindProof): readonly HeldKey[] {
  const keys: HeldKey[] = [];
  const followed = new Set([clientId]);
  for (const id of followed) {
    const proof = findProof(id);
    if (proof === undefined || proof === "tampered") continue;
    if (id !== clientId) keys.push(...proof.publicKeys);
    for (const controller of proof.controllers) followed.add(controller);
  }
  return keys;
}

/**
 * Whether a program could act as this client: it has made it, or one that has, or has had a credential of one of them. Who has written a
 * role, or requested a change that others have approved, could not. One that is not known counts as a program.
 */
export function isActedByProgram(clientId: string, findProof: FindProof): boolean {
  const followed = new Set([clientId]);
  for (const id of followed) {
    const proof = findProof(id);
    if (proof === undefined || proof === "tampered" || !proof.isPerson) return true;
    for (const actor of proof.actors) followed.add(actor);
  }
  return false;
}
