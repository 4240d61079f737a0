import { expect, it } from "vitest";
import { sharedService } from "../../harness/service/shared-service.js";

const service = await sharedService();
const token = await service.token(await service.createTenant());

const digest = "0".repeat(64);
const destination = { network: "eip155:1", address: `0x${"1".repeat(40)}` };
const clientId = "cli_01h455vb4pex5vsknk084sn02q";
const change = { kind: "client.key.remove", change: { client_id: clientId, key_id: "key" } };
const approval = "/v1/transactions/txn_01h455vb4pex5vsknk084sn02q/approvals";
const decision = "/v1/change-requests/chr_01h455vb4pex5vsknk084sn02q/approve";

/** What an approver or an auditor reads; and whether it can have several lines. */
const shown = [
  { path: "/v1/wallets", field: "name", hasLines: false, body: { purpose: "treasury" } },
  { path: "/v1/destinations", field: "label", hasLines: false, body: destination },
  { path: "/v1/destinations", field: "note", hasLines: true, body: { ...destination, label: "supplier" } },
  { path: "/v1/change-requests", field: "comment", hasLines: true, body: change },
  { path: decision, field: "comment", hasLines: true, body: { digest } },
  { path: approval, field: "comment", hasLines: true, body: { digest, decision: "approve" } },
];

const faultsOf = async (path: string, body: unknown) => {
  const response = await service.call("POST", path, token, body);
  const { error } = (await response.json()) as { error?: { details?: { path: string; reason: string }[] } };
  return { status: response.status, details: error?.details ?? [] };
};

it.each(shown)(
  "$path refuses a $field that hides a part of itself",
  async ({ path, field, body, hasLines }) => {
    const lines = hasLines ? " except line feeds" : "";
    for (const text of ["Acme\u202e", "Ac\u200bme", "Ac\u3164me", "Acme\ufe0f", "Ac\u0007me"]) {
      expect(await faultsOf(path, { ...body, [field]: text })).toEqual({
        status: 400,
        details: [
          {
            path: `body.${field}`,
            reason: `must not have control characters${lines}, invisible characters or marks of direction`,
          },
        ],
      });
    }
    const { details } = await faultsOf(path, { ...body, [field]: "Acme\n👩\u200d💻" });
    expect(details.map((detail) => detail.path)).toEqual(hasLines ? [] : [`body.${field}`]);
  },
);

it("accepts any reference, which belongs to the client", async () => {
  const reference = "ref \u202e\u200b\u3164";
  const response = await service.call(
    "POST",
    "/v1/transactions",
    token,
    { reference, asset: "USD", amount: "1" },
    { "Idempotency-Key": "opaque-reference" },
  );
  expect(response.status).toBe(202);
  expect(await response.json()).toMatchObject({ reference });
});
