import { describe, expect, it } from "vitest";
import { hasBrowser } from "../harness/browser.js";
import { useConsole } from "../harness/console/test-console.js";

const versionsMade = 52;

describe.runIf(hasBrowser)("the versions of a policy", () => {
  const running = useConsole();

  it("are shown a page at a time down to the first, which can be made the draft", async () => {
    const { service } = running();
    const tenant = await service.createTenant("100");
    const token = await service.token(tenant);
    for (let version = 1; version <= versionsMade; version += 1) {
      const rule = { name: `rule-of-${version}`, when: { kind: "transaction" }, action: "allow" };
      const document = { rules: [rule], default: { action: "allow" } };
      const replaced = await service.call("PUT", "/v1/policy", token, document, {
        "if-match": `"${version - 1}"`,
      });
      expect([version, replaced.status]).toEqual([version, 200]);
    }
    const ada = await running().join(tenant, "admin");
    const { page } = ada;
    await ada.open("/policy");
    const table = page.getByRole("table", { name: "Versions" });
    await table.getByRole("button", { name: "Compare version 3", exact: true }).waitFor();
    expect(await table.getByRole("button", { name: "Compare version 1", exact: true }).count()).toBe(0);
    await page.getByRole("button", { name: "Load more" }).click();
    await table.getByRole("button", { name: "Compare version 1", exact: true }).click();
    // Every version once: the one in force cannot be compared with itself.
    expect(await table.getByRole("button", { name: /^Compare version/ }).count()).toBe(versionsMade - 1);
    expect(await page.getByRole("button", { name: "Load more" }).count()).toBe(0);
    await page.getByRole("button", { name: "Make version 1 the draft" }).click();
    expect(await page.getByLabel("JSON", { exact: true }).inputValue()).toContain("rule-of-1");
    await page.getByRole("button", { name: "Put in force with the passkey" }).click();
    await page.getByText(`Version ${versionsMade + 1} is now in force`).waitFor();
    expect(ada.faults).toEqual([]);
    await ada.close();
  });

  it("lead on after somebody else was first, with what is to be done in sight", async () => {
    const { service } = running();
    const tenant = await service.createTenant("100");
    const token = await service.token(tenant);
    const put = async (name: string, version: number) => {
      const rules = Array.from({ length: 8 }, (_, index) => ({
        ...{ name: `${name}-${index}`, when: { kind: "transaction" }, action: "allow" },
      }));
      const document = { rules, default: { action: "allow" } };
      await service.call("PUT", "/v1/policy", token, document, { "if-match": `"${version}"` });
      return JSON.stringify(document, null, 2).replace(`${name}-0`, `${name}-changed`);
    };
    const text = await put("first", 0);
    const amy = await running().join(tenant, "admin");
    const { page } = amy;
    await amy.open("/policy");
    await page.getByText("Version 1 is in force").waitFor();
    await page.getByLabel("JSON", { exact: true }).fill(text);
    await put("second", 1);
    await page.getByRole("button", { name: "Put in force with the passkey" }).click();
    const goOn = page.getByRole("button", { name: "Go on with my draft, against version 2" });
    await goOn.waitFor();
    await expect
      .poll(() => page.evaluate("document.activeElement.getAttribute('aria-labelledby')"))
      .toBe("others");
    const { y, height } = (await goOn.boundingBox()) ?? { y: -1, height: 0 };
    expect(y).toBeGreaterThan(0);
    expect(y + height).toBeLessThan(page.viewportSize()?.height ?? 0);
    await goOn.click();
    await page.getByRole("button", { name: "Put in force with the passkey" }).click();
    await page.getByText("Version 3 is now in force").waitFor();
    await amy.close();
  });
});
