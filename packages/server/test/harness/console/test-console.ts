import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { launchBrowser } from "../browser.js";
import { consoleOriginOf } from "../people/log-in.js";
import { startTestService, type TestClient, type TestService } from "../service/test-service.js";
import { buildConsole } from "./build-console.js";
import { openVisitor, type Visitor, type VisitorOptions } from "./visitor.js";

/** Everybody in a file has one address. */
const settings = { "quotas.address_per_second": "100000", "quotas.address_burst": "100000" };

export interface TestConsole {
  service: TestService;
  browser: Browser;
  /** Where browsers find the console. */
  origin: string;
  /** A person with a browser of their own, which is not logged in. */
  visit: (options?: VisitorOptions) => Promise<Visitor>;
  /** A person of the tenant, invited, registered and logged in by the page. */
  join: (tenant: Pick<TestClient, "tenantId">, role: string, options?: VisitorOptions) => Promise<Visitor>;
  /** The address of an invitation. */
  invite: (tenant: Pick<TestClient, "tenantId">, role: string, name?: string) => Promise<string>;
}

/** One service and one browser for all tests of a file; each person has a context with its own cookies and passkeys. */
export function useConsole(own: () => Promise<Record<string, string>> = async () => ({})): () => TestConsole {
  let running: TestConsole | undefined;
  beforeAll(async () => {
    buildConsole();
    const given = await own();
    const service = await startTestService({ ...settings, ...given });
    running = consoleOf(service, await launchBrowser(), given["BURSAR_PUBLIC_URL"] ?? service.url);
  });
  afterAll(async () => {
    await running?.browser.close();
    await running?.service.stop();
  });
  return () => {
    if (running === undefined) throw new Error("the console is not running");
    return running;
  };
}

function consoleOf(service: TestService, browser: Browser, url: string): TestConsole {
  const origin = consoleOriginOf({ url });
  let people = 0;
  const visit: TestConsole["visit"] = (options) => openVisitor(browser, origin, options);
  const invite: TestConsole["invite"] = async (tenant, role, name = "Ada") => {
    people += 1;
    const link = await service.inviteAsOperator(tenant, {
      email: `${role}-${people}@treasury.example`,
      name,
      role,
    });
    return `${origin}/console${new URL(link).hash}`;
  };
  return {
    service,
    browser,
    origin,
    visit,
    invite,
    join: async (tenant, role, options) => {
      const visitor = await visit(options);
      await visitor.accept(await invite(tenant, role, options?.name));
      return visitor;
    },
  };
}
