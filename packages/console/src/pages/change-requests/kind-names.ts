import type { ChangeRequest } from "@bursar/client";

/** What each kind of change does, for people. */
export const kindNames: Readonly<Record<ChangeRequest["kind"], string>> = {
  "client.change": "Change a client or person",
  "client.key.add": "Add a key to a client",
  "client.key.remove": "Remove a key of a client",
  "client.secret.remove": "Remove a secret of a client",
  "person.recover": "Recover a person",
  "policy.replace": "Replace the policy",
  "destination.create": "List a destination",
  "destination.remove": "Remove a destination",
};
