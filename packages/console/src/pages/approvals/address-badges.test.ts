import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { AddressBadges, findPaid } from "./address-badges";

const address = `0x${"aB".repeat(20)}`;
const inLowerCase = address.toLowerCase();
const other = `0x${"1".repeat(40)}`;

async function* repeat<Item>(item: Item, count: number, last?: Item): AsyncGenerator<Item> {
  for (let number = 0; number < count; number += 1) yield item;
  if (last !== undefined) yield last;
}
const listedAs = (at: string) => ({ address: at, label: "treasury", state: "active" }) as const;
const paidTo = (at: string) => ({ destination: { address: at } });

type Listed = Parameters<typeof AddressBadges>[0]["listed"];
type Earlier = Parameters<typeof AddressBadges>[0]["earlier"];

function badges(listed: Listed, earlier: Earlier): string[] {
  const html = renderToStaticMarkup(createElement(AddressBadges, { listed, earlier }));
  return html
    .split('<span class="badge"')
    .slice(1)
    .map((badge) => badge.slice(badge.indexOf(">") + 1).replaceAll(/<[^>]*>/g, ""));
}

describe("an address that is paid", () => {
  it("has the label of the allow-list", () => {
    expect(badges(listedAs(address), undefined)).toEqual(["on the allow-list: treasury"]);
    expect(badges({ ...listedAs(address), state: "waiting" }, undefined)).toEqual([
      "waits on the allow-list: treasury",
    ]);
    expect(badges(null, undefined)).toEqual(["not on the allow-list"]);
  });

  it("was paid before, or is paid for the first time", async () => {
    expect(badges(undefined, await findPaid(repeat(paidTo(other), 2, paidTo(inLowerCase)), address))).toEqual(
      ["paid before"],
    );
    expect(badges(undefined, await findPaid(repeat(paidTo(other), 999), address))).toEqual(["first time"]);
    expect(badges(undefined, await findPaid(repeat(paidTo(other), 0), address))).toEqual(["first time"]);
  });

  it("is not said to be new if not all payouts were read", async () => {
    const earlier = await findPaid(repeat(paidTo(other), 1000, paidTo(address)), address);
    expect(badges(undefined, earlier)).toEqual(["not among the last 1000 payouts"]);
  });

  it("has no badge for what is not known", () => {
    expect(badges(undefined, undefined)).toEqual([]);
  });
});
