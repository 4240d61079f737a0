import { createElement, type FunctionComponent } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { Holder, NotReady, processState } from "./process-state";

function textOf<Props extends object>(component: FunctionComponent<Props>, props: Props): string {
  return renderToStaticMarkup(createElement(component, props)).replaceAll(/<[^>]*>/g, "");
}

it("a process that is not ready says so first, and why", () => {
  expect(processState({ ready: true, overloaded: false })).toBe("ready");
  expect(processState({ ready: true, overloaded: true })).toBe("overloaded");
  expect(processState({ ready: false, overloaded: true })).toBe("not_ready");
  const process = { not_ready: [{ path: "clock", reason: "differs by 7 s" }] };
  expect(textOf(NotReady, { process })).toContain("clock differs by 7 s");
  expect(textOf(NotReady, { process: { not_ready: [] } })).toBe("");
});

it("a market names the process that runs it, and since when", () => {
  const holder = { process_id: "p1", since: "2026-01-01T12:00:00.000Z" };
  expect(textOf(Holder, { holder, own: "p1" })).toMatch(/^this process since .*Jan.*1/);
  expect(textOf(Holder, { holder: { ...holder, since: null }, own: "p2" })).toBe("p1");
  expect(textOf(Holder, { holder: null, own: "p1" })).toBe("no process");
  // A network or the signer.
  expect(textOf(Holder, { holder: undefined, own: "p1" })).toBe("");
});
