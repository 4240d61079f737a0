import { expect, it } from "vitest";
import { refreshFirstPage } from "./refresh-first-page";

it("reads a list again by itself only while one page is loaded", () => {
  const { refetchInterval, refetchOnWindowFocus, refetchOnReconnect } = refreshFirstPage(10_000);
  const of = (count: number) => ({ state: { data: { pages: Array.from({ length: count }) } } });
  expect(refetchInterval(of(1))).toBe(10_000);
  expect(refetchOnWindowFocus(of(1))).toBe(true);
  expect(refetchInterval(of(2))).toBe(false);
  expect(refetchOnWindowFocus(of(2))).toBe(false);
  expect(refetchOnReconnect(of(2))).toBe(false);
  expect(refetchInterval({ state: {} })).toBe(10_000);
  expect(refreshFirstPage().refetchInterval(of(1))).toBe(false);
});
