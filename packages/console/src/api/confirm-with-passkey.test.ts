import { describe, expect, it } from "vitest";
import { toBase64url } from "../session/passkeys";
import { actOf, challengeContent } from "./confirm-with-passkey";

const digest = "ab".repeat(32);
/** SHA-256 of `{"a":"ü"}` in UTF-8, and of nothing. */
const digestOfBody = "fd621823002706e24604cb868a9f4f8850d6f01fb5040d49ba050482e1472437";
const digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

describe("what a person confirms", () => {
  it.each(["approve", "reject"])("is the decision %s and the digest of a transaction", async (decision) => {
    const body = JSON.stringify({ decision, digest });
    const request = {
      operation: "POST /v1/transactions/{id}/approvals",
      target: "/v1/transactions/tx_1/approvals",
      body,
    };
    expect(await actOf(request)).toEqual({ act: `transaction.${decision}`, target: "tx_1", digest });
  });

  it.each(["approve", "reject"])("is the decision %s and the digest of a change", async (verb) => {
    const request = {
      operation: `POST /v1/change-requests/{id}/${verb}`,
      target: `/v1/change-requests/chg_1/${verb}`,
      body: JSON.stringify({ digest }),
    };
    expect(await actOf(request)).toEqual({ act: `change_request.${verb}`, target: "chg_1", digest });
  });

  it("is the operation, the path and the body of everything else", async () => {
    expect(await actOf({ operation: "PUT /v1/policy", target: "/v1/policy", body: '{"a":"ü"}' })).toEqual({
      act: "replacePolicy",
      target: "/v1/policy",
      digest: digestOfBody,
    });
    const removal = { operation: "DELETE /v1/roles/{name}", target: "/v1/roles/a%20b", body: undefined };
    expect(await actOf(removal)).toEqual({
      act: "deleteRole",
      target: "/v1/roles/a%20b",
      digest: digestOfNothing,
    });
  });

  it("is nothing if the service does not ask for it", async () => {
    const freeze = {
      operation: "POST /v1/wallets/{id}/freeze",
      target: "/v1/wallets/w/freeze",
      body: undefined,
    };
    expect(await actOf(freeze)).toBeUndefined();
  });

  it("has the challenge of the guide", async () => {
    const act = { act: "transaction.approve", target: "tx_01m7hv29e0ft9aa6d3rfpaz6r9", digest };
    const ada = {
      tenantId: "tnt_01m4av5he0f7d8dmthsyd7cgpr",
      personId: "cli_01m5yb40c8e0nr4ym1c81ay6pb",
    };
    const content = challengeContent(ada, act, "2026-01-01T12:00:00.000Z");
    const challenge = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
    expect(toBase64url(challenge)).toBe("wbDCndW6d5uBuSL-PhLNjZEhHtvfvyFUs3qwmt0AVnQ");
  });
});
