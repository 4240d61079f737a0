import { EventEmitter } from "node:events";
import type { FastifyReply, FastifyRequest } from "fastify";
import { expect, it } from "vitest";
import type { ApiClient } from "../../app/clients/client.js";
import type { ClientTraffic } from "../../app/quotas/traffic.js";
import { Refusal } from "../refusal.js";
import { createAdmission } from "./admission.js";
import { createHeavyGates } from "./heavy-gate.js";

it("names the missing scope, so that it is recorded, although the client has reset its connection", () => {
  const allowance = { take: () => 0, remaining: () => 1, policy: () => "", state: () => "" };
  const allowances = { read: allowance };
  const traffic = { allowances, tenant: { allowances } } as unknown as ClientTraffic;
  const { admit } = createAdmission(
    {
      quotaClass: "read",
      takesLargeBodies: false,
      canStop: false,
      limits: { requestsPerClient: 1, connectionsPerClient: 1 },
      heavyGates: createHeavyGates(1),
    },
    { quotas: { of: () => traffic }, shedder: { sheds: () => false, count: () => undefined } },
  );
  const socket = Object.assign(new EventEmitter(), { destroyed: true });
  const request = { raw: { socket }, headers: {}, method: "GET" } as unknown as FastifyRequest;
  const reply = { header: () => reply, raw: new EventEmitter() } as unknown as FastifyReply;
  const answers: unknown[] = [];
  const attempt = (missing: Refusal | undefined) =>
    admit(
      {} as ApiClient,
      request,
      reply,
      () => missing,
      (refusal) => {
        answers.push(refusal instanceof Refusal ? refusal.code : refusal);
      },
    );
  attempt(new Refusal("INSUFFICIENT_SCOPE"));
  attempt(undefined);
  expect(answers).toEqual(["INSUFFICIENT_SCOPE", "MALFORMED_REQUEST"]);
});
