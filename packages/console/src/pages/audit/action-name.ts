/**
 * The requests whose acts the log names, each with the act that it would have been, or with several if its body decides; a path without
 * a name of its own stays as it is.
 */
export const actionNames: Readonly<Record<string, readonly [string, ...string[]]>> = {
  "POST /v1/transactions": ["transaction.create"],
  "POST /v1/transactions/batch": ["transaction.create"],
  "POST /v1/transactions/:id/approvals": ["transaction.approve", "transaction.reject"],
  "POST /v1/transactions/:id/cancel": ["transaction.cancel"],
  "POST /v1/transactions/:id/speed-up": ["transaction.speed_up"],
  "POST /v1/deposits": ["deposit.create"],
  "POST /v1/wallets": ["wallet.create"],
  "POST /v1/wallets/:id/freeze": ["wallet.freeze"],
  "POST /v1/wallets/:id/unfreeze": ["wallet.unfreeze"],
  "POST /v1/orders": ["order.place"],
  "PATCH /v1/orders/:id": ["order.amend"],
  "DELETE /v1/orders/:id": ["order.cancel"],
  "PUT /v1/policy": ["policy.replace"],
  "POST /v1/destinations": ["destination.create"],
  "DELETE /v1/destinations/:id": ["destination.remove"],
  "POST /v1/change-requests": ["change_request.create"],
  "POST /v1/change-requests/:id/approve": ["change_request.approve"],
  "POST /v1/change-requests/:id/reject": ["change_request.reject"],
  "POST /v1/change-requests/:id/cancel": ["change_request.cancel"],
  "POST /v1/people": ["person.invite"],
  "PATCH /v1/people/:id": ["person.change"],
  "POST /v1/roles": ["role.create"],
  "DELETE /v1/roles/:name": ["role.delete"],
  "POST /v1/clients": ["client.create"],
  "PATCH /v1/clients/:client_id": ["client.change"],
  "POST /v1/webhook-endpoints": ["webhook_endpoint.create"],
};

/** Acts that no request above stands for, and which people look for. */
const otherActs = [
  "invitation.open",
  "invitation.use",
  "passkey.register",
  "passkey.use",
  "session.end",
  "session.open",
  "tenant.create",
  "token.issue",
  "transaction.stop",
  "wallet.fund",
  "webhook_endpoint.rotate_secret",
  "webhook_endpoint.test",
  "webhook_endpoint.verify",
];

/** What the filter offers, each after its subject, which stands for all of them. The log has others, which can be typed. */
export const knownActions: readonly string[] = [
  ...new Set(
    [...Object.values(actionNames).flat(), ...otherActs].flatMap((act) => [act.split(".")[0] ?? act, act]),
  ),
].sort();

/**
 * A refused request is recorded with its method and path. It has the name of the act that it would have been. If that is not recorded, the
 * name says no more than is known: nobody is shown to have approved what they rejected.
 */
export function actionName(action: string): string {
  const acts = Object.hasOwn(actionNames, action) ? actionNames[action] : undefined;
  return acts?.join(" or ") ?? action;
}

/** The requests that would have been an act, by its name or the beginning of it. */
export function requestsFor(act: string, isWhole: boolean): string[] {
  return Object.entries(actionNames)
    .filter(([, acts]) => acts.some((one) => (isWhole ? one === act : one.startsWith(act))))
    .map(([request]) => request);
}
