import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

describe.runIf(hasBrowser)("a person who logs out", () => {
  const running = useConsole();
  const stored = "JSON.stringify({ ...sessionStorage })";

  it("is logged out in the browser and told that the session may be open, if it could not be ended", async () => {
    const { service, join } = running();
    const bob = await join(await service.createTenant("100"), "operator", { name: "Bob" });
    const { page } = bob;
    await bob.open("/transactions/new");
    await page.getByLabel("Reference").fill("secret plan");
    await page.route("**/console/session", (route) =>
      route.request().method() === "DELETE" ? route.abort() : route.continue(),
    );
    await page.getByRole("button", { name: "Log out" }).click();
    const notice = page.getByRole("heading", { name: "Your session may still be open" });
    await notice.waitFor();
    await page.getByRole("alert").waitFor();
    expect(await page.getByLabel("Reference").count()).toBe(0);
    expect(await page.evaluate(stored)).not.toContain("secret plan");
    // The cookie is still that of an open session, and does not bring it back.
    await page.reload();
    await notice.waitFor();
    await page.unroute("**/console/session");
    await page.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Log in with a passkey" }).waitFor();
    expect(await bob.context.cookies()).toEqual([]);
    await bob.logIn();
    expect(await page.getByLabel("Reference").inputValue()).toBe("");
    await bob.close();
  });

  it("after the session has ended is logged out, and what was typed is forgotten", async () => {
    const { service, join } = running();
    const bob = await join(await service.createTenant("100"), "operator", { name: "Bob" });
    const { page } = bob;
    await bob.open("/transactions/new");
    await page.getByLabel("Reference").fill("secret plan");
    await bob.context.clearCookies();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByText("No passkey yet?").waitFor();
    expect(await page.evaluate(stored)).not.toContain("secret plan");
    await bob.close();
  });
});
