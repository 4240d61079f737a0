import { expect, it } from "vitest";
import { createBoundedGate } from "../../runtime/concurrency/bounded-gate.js";
import type { ApiClient } from "../clients/client.js";
import { writePasskey } from "./passkey.js";
import { createStepUp, type StepUpDeps } from "./step-up.js";

const key = {
  ...{ id: "k", algorithm: "passkey" },
  material: writePasskey({ credentialId: "AAAA", publicKey: "", counter: 0, name: "Key" }),
};
const act = { act: "renameOwnPasskey", target: "/v1/me", digest: "00" };
const from = { requestId: "req", address: "192.0.2.7" };

it("the confirmations of one tenant do not use all threads, and too many are refused", async () => {
  const verifying: string[] = [];
  const checks = createBoundedGate({
    ...{ concurrentMax: 2, concurrentOfKeyMax: 1 },
    ...{ waitingMax: 3, waitingOfKeyMax: 2 },
  });
  const step = createStepUp({
    now: () => 0,
    checks,
    passkeys: {
      verifyAssertion: (assertion: { signature: string }) => {
        verifying.push(assertion.signature);
        return new Promise(() => undefined);
      },
    },
  } as unknown as StepUpDeps);
  const confirm = (tenantId: string, signature: string) => {
    const header = JSON.stringify({
      ...{ id: "AAAA", at: "1970-01-01T00:00:00.000Z" },
      ...{ client_data: "AAAA", authenticator_data: "AAAA", signature },
    });
    const client = {
      ...{ tenantId: "01890a5d-ac96-774b-bcce-b302099a8057", id: "01890a5d-ac96-774b-bcce-b302099a8057" },
      ...{ keys: [key] },
    } as unknown as ApiClient;
    return step(
      Buffer.from(header).toString("base64url"),
      act,
      { ...client, tenantId: client.tenantId.replace(/^0/, tenantId) },
      from,
    );
  };
  void confirm("1", "AAAA");
  void confirm("1", "BBBB");
  void confirm("1", "CCCC");
  expect(await confirm("1", "DDDD")).toEqual({ refused: "RATE_LIMITED", retryAfterSeconds: 1 });
  void confirm("2", "EEEE");
  await new Promise(setImmediate);
  expect(verifying).toEqual(["AAAA", "EEEE"]);
});
