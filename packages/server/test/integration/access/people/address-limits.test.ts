import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callConsole, cookieOf, logInWith, registerWith } from "../../../harness/people/log-in.js";
import { startProviderService } from "../../../harness/people/provider-service.js";
import {
  startTestService,
  type TestClient,
  type TestService,
} from "../../../harness/service/test-service.js";

const quotas = { "quotas.address_per_second": "0.01", "quotas.address_burst": "3" };

describe("an address that has sent too many invalid proofs", () => {
  let service: TestService;
  let owner: TestClient;
  beforeAll(async () => {
    service = await startTestService(quotas);
    owner = await service.createTenant();
  });
  afterAll(() => service.stop());

  const invite = (email: string) => service.inviteAsOperator(owner, { email, name: "Ada", role: "viewer" });
  const guess = () =>
    callConsole(service, "POST", "/token", undefined, { cookie: "__Host-bursar-session=x.y" });

  it("has its failures delayed, and nobody with a valid link, passkey or cookie", async () => {
    const { authenticator, cookie } = await registerWith(service, await invite("ada@treasury.example"));
    const link = await invite("grace@treasury.example");
    const codes: (string | undefined)[] = [];
    for (let count = 0; count < 6; count++) codes.push((await guess()).code);
    expect(codes.slice(0, 3)).toEqual(Array(3).fill("SESSION_REQUIRED"));
    expect(codes.slice(3)).toEqual(Array(3).fill("RATE_LIMITED"));
    const own = cookieOf(cookie);
    expect((await callConsole(service, "POST", "/token", undefined, own)).status).toBe(200);
    expect((await logInWith(service, authenticator)).status).toBe(201);
    expect((await registerWith(service, link)).status).toBe(201);
    expect((await callConsole(service, "DELETE", "", undefined, own)).status).toBe(204);
    expect((await logInWith(service, authenticator, { isUserVerified: false })).code).toBe("RATE_LIMITED");
  });

  it("makes no more requests to the OpenID provider", async () => {
    const { provider, begin, finish, stop } = await startProviderService({ treasury: "operator" }, quotas);
    try {
      const { url, cookie } = await begin();
      const state = new URL(url).searchParams.get("state") ?? "";
      const invented = new URLSearchParams({ code: "x", state, iss: provider.url });
      const codes: (string | undefined)[] = [];
      for (let count = 0; count < 6; count++) codes.push((await finish(invented, cookie)).code);
      expect(codes).toEqual([...Array(3).fill("OIDC_REFUSED"), ...Array(3).fill("RATE_LIMITED")]);
      expect(provider.refusals).toHaveLength(3);
      expect((await begin()).code).toBe("RATE_LIMITED");
    } finally {
      await stop();
    }
  });
});
