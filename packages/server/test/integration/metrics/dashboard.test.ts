import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readMetrics } from "../../harness/metrics.js";
import { sharedService } from "../../harness/service/shared-service.js";

const folder = new URL("../../../../../docs/operating/", import.meta.url);
const read = (name: string) => readFileSync(new URL(name, folder), "utf8");

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; description: string; runbook: string };
}

const rules = (parse(read("bursar-alerts.yaml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("bursar-dashboard.json")) as {
  panels: { id: number; title: string; targets?: { expr: string }[] }[];
};
const queries = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

/** The metrics that a query names, with the labels of its selectors and groupings. */
function selectorsOf(query: string): { metric: string; labels: string[] }[] {
  return [...query.matchAll(/\b((?:bursar|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, metric = "", selector = ""]) => ({
      metric,
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = ""]) => label),
    }),
  );
}

describe("the dashboard and the alert rules", () => {
  it("use only metrics that a service has, with labels that they have", async () => {
    const service = await sharedService();
    // Something was answered with an error, so that every kind of response has a sample.
    await service.call("GET", "/v1/transactions", undefined);
    const { types, samples } = await readMetrics(service);
    const has = (metric: string) =>
      types.has(metric) || types.get(metric.replace(/_(bucket|count|sum)$/, "")) === "histogram";
    const faults = [...queries, ...rules.map(({ expr }) => expr)]
      .flatMap(selectorsOf)
      .flatMap(({ metric, labels }) => {
        if (!has(metric)) return [`${metric} does not exist`];
        const seen = samples.filter(({ name }) => name === metric);
        const missing = labels.filter((label) => seen.length > 0 && !(label in (seen[0]?.labels ?? {})));
        return missing.map((label) => `${metric} has no label ${label}`);
      });
    expect(faults).toEqual([]);
    expect(queries.length).toBeGreaterThan(30);
  });

  it("leave out none of the service's own metrics", async () => {
    const { types } = await readMetrics(await sharedService());
    const used = new Set(
      [...queries, ...rules.map(({ expr }) => expr)]
        .flatMap(selectorsOf)
        .map(({ metric }) => metric.replace(/_(bucket|count|sum)$/, "")),
    );
    const own = [...types.keys()].filter((name) => name.startsWith("bursar_"));
    expect(own.filter((name) => !used.has(name))).toEqual([]);
  });

  it("have panels with ids of their own", () => {
    const ids = dashboard.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("have a runbook entry for each alert, and an alert for each entry", () => {
    const headings = [...read("alerts.md").matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
    expect(headings).toEqual(rules.map(({ alert }) => alert));
    for (const { alert, labels, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/operating/alerts.md#${alert.toLowerCase()}`);
      expect(["critical", "warning", "info"]).toContain(labels.severity);
      expect(annotations.summary).toMatch(/\.$/);
    }
  });
});
