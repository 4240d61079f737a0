import type { CheckResult } from "../src/engine/run-checks.js";

/**
 * What the report of a failure says and does not show: the exchange that is judged, those that are named by their number, and the request that
 * has created the transaction whose id is named.
 */
export function missingExchanges(results: readonly CheckResult[]): string[] {
  const all = new Map(results.flatMap(({ exchanges }) => exchanges).map((one) => [one.index, one]));
  return results.flatMap(({ check, outcome, judged, exchanges }) => {
    if (outcome.result !== "failed") return [];
    const said = `${outcome.expected}; ${outcome.seen}`;
    const isShown = (index: number) => exchanges.some((one) => one.index === index);
    const numbers = [...said.matchAll(/exchange (\d+)/g)].map(([, number]) => Number(number));
    const named = judged === undefined ? numbers : [judged, ...numbers];
    const ids = new Set(said.match(/tx_[0-9a-f]{32}/g) ?? []);
    const creations = [...ids].flatMap((id) => {
      const creation = [...all.values()].find(
        ({ request, response }) =>
          request.method === "POST" && response?.status === 202 && response.body.includes(`"${id}"`),
      );
      return creation === undefined ? [] : [creation.index];
    });
    return [...named, ...creations]
      .filter((index) => !isShown(index))
      .map((index) => `${check.id}: ${index}`);
  });
}
