import { grantableScopes } from "@bursar/protocol";
import { beforeAll, describe, expect, it } from "vitest";
import { listRoutes } from "../../../../src/http/api.js";
import { bodyOf, pathOf, unknownIds } from "../../../harness/http/route-requests.js";
import { registerWith, tokenOf } from "../../../harness/people/log-in.js";
import { sharedService } from "../../../harness/service/shared-service.js";

const service = await sharedService();

/** What a stolen access token of a person must not be enough for. */
const confirmed = {
  approving: ["decideApproval", "approveChangeRequest", "rejectChangeRequest"],
  policy: ["replacePolicy", "createDestination", "removeDestination", "createChangeRequest"],
  roles: ["createRole", "deleteRole"],
  people: ["invitePerson", "changePerson", "recoverPerson"],
  passkeys: ["addOwnPasskey", "renameOwnPasskey", "removeOwnPasskey"],
  clients: ["createClient", "changeClient"],
  secrets: ["rotateSecret", "removeSecret", "addKey", "removeKey"],
  endpoints: [
    "createWebhookEndpoint",
    "changeWebhookEndpoint",
    "deleteWebhookEndpoint",
    "enableWebhookEndpoint",
    "disableWebhookEndpoint",
    "rotateWebhookSecret",
  ],
  wallets: ["unfreezeWallet"],
};

/** Other writes: they move money within the policy, stop something, or change nothing that lasts. */
const unconfirmed = [
  "createTransaction",
  "createTransactions",
  "createDeposit",
  "cancelTransaction",
  "speedUpTransaction",
  "createWallet",
  "freezeWallet",
  "placeOrder",
  "amendOrder",
  "cancelOrder",
  "cancelChangeRequest",
  "evaluatePolicy",
  "issueStreamTicket",
  // Only programs have a secret of their own, and it proves itself with that.
  "rotateOwnSecret",
  "prepareOwnPasskey",
  "endOwnSession",
  "endSessionsOfPerson",
  "verifyWebhookEndpoint",
  "testWebhookEndpoint",
  "resendWebhookDelivery",
  "resendFailedWebhooks",
  "replayWebhooks",
  "retryFailure",
];

const writes = listRoutes({} as never, "").filter(
  ({ method, path }) => method !== "GET" && path.startsWith("/v1/"),
);
const named = Object.entries(confirmed).flatMap(([about, ids]) => ids.map((id) => [about, id] as const));

describe("the passkey", () => {
  let token: string;
  beforeAll(async () => {
    const owner = await service.createTenant();
    const role = { name: "everything", scopes: grantableScopes };
    const created = await service.call("POST", "/v1/roles", await service.token(owner), role);
    expect(created.status).toBe(201);
    const invited = await service.inviteAsOperator(owner, {
      ...{ email: "ada@treasury.example", name: "Ada", role: role.name },
    });
    token = await tokenOf(service, (await registerWith(service, invited)).cookie);
  });

  it.each(named)("is asked for again (%s: %s)", async (_about, id) => {
    const route = writes.find(({ operationId }) => operationId === id);
    if (route === undefined) throw new Error(`no route is named ${id}`);
    const headers: Record<string, string> = route.ifMatch === undefined ? {} : { "if-match": '"0"' };
    const path = pathOf(route, unknownIds);
    const answer = await service.call(route.method, path, token, bodyOf(route), headers);
    const { error } = (await answer.json()) as { error?: { code: string } };
    expect([answer.status, error?.code]).toEqual([403, "PASSKEY_REQUIRED"]);
  });

  it("is asked for, or not, at every route that writes: a new one is in one of the lists", () => {
    const idsOf = (isAsked: boolean) =>
      writes.filter(({ passkey }) => (passkey !== undefined) === isAsked).map((route) => route.operationId);
    expect(idsOf(true).sort()).toEqual(Object.values(confirmed).flat().sort());
    expect(idsOf(false).sort()).toEqual([...unconfirmed].sort());
  });
});
